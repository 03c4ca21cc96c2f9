"""Turn the environment into settings of Django and Celery, with the schedule of background tasks.

Bad values stop the start in one line.
"""

import contextlib
import os
import secrets
import tempfile

from kombu import Exchange, Queue

from evalplatform import __version__
from evalplatform.environment import BASE_DIR, postgresql_from_url, read_environment, sqlite_in_file
from evalplatform.logs import logging_config

env = read_environment()

# The statistics' arrays are small: with threads, numpy only waits for itself. On a busy machine with two cores, results
# of a million ratings took 27.6 CPU seconds instead of 5.9. numpy reads this when it is imported, later than here.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

VAR_DIR = env.VAR_DIR
IS_PRODUCTION = env.SERVER_MODE == "production"
DEBUG = env.DEBUG


def _secret_key() -> str:
    if env.SECRET_KEY:
        return env.SECRET_KEY
    file = VAR_DIR / "secret_key"
    if not file.exists():
        # Of several processes that start at once, one links its key into place whole; the others read that one.
        with tempfile.NamedTemporaryFile("w", dir=VAR_DIR) as draft:
            draft.write(secrets.token_urlsafe(64))
            draft.flush()
            with contextlib.suppress(FileExistsError):
                os.link(draft.name, file)
    return file.read_text()


SECRET_KEY = _secret_key()
# Keys of earlier days: what was signed with them is still believed, and nothing new is.
SECRET_KEY_FALLBACKS = env.SECRET_KEY_FALLBACKS

ALLOWED_HOSTS = env.ALLOWED_HOSTS
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS] if IS_PRODUCTION else []

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "drf_spectacular",
    "evalplatform",
    "generation",
    "hits",
    "localturk",
    "localprolific",
    "simulated_crowd",
]

MIDDLEWARE = [
    "evalplatform.middleware.log_requests",
    "django.middleware.security.SecurityMiddleware",
    "evalplatform.middleware.content_security_policy",
    "evalplatform.middleware.refuse_nul",
    "evalplatform.middleware.skip_sessions",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "evalplatform.middleware.limit_uploads",
    "evalplatform.middleware.LogInRequired",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "evalplatform.middleware.TellRefusals",
]

ROOT_URLCONF = "evalplatform.urls"
WSGI_APPLICATION = "evalplatform.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "frontend" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "hits.views.navigation.surroundings",
                "localturk.openness.surroundings",
            ],
        },
    }
]

# --- Database: SQLite in var/ unless DATABASE_URL names a PostgreSQL -------------------------------------------------

DATABASES = {
    "default": postgresql_from_url(env.DATABASE_URL, env.DATABASE_POOL_SIZE)
    if env.DATABASE_URL.startswith("postgres")
    else sqlite_in_file(env.DATABASE_URL.removeprefix("sqlite://") or str(VAR_DIR / "evalplatform.sqlite3"))
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Celery: files in var/broker unless BROKER_URL names a Redis or RabbitMQ -----------------------------------------

CELERY_BROKER_URL = env.BROKER_URL or "files://localhost"
HAS_EMBEDDED_BROKER = CELERY_BROKER_URL.startswith("files:")
EMBEDDED_BROKER_DIR = VAR_DIR / "broker"
# Redis gives the task of a vanished process to another after this time, so no task may run longer. (RabbitMQ notices at
# once.) Left to kombu, such tasks are looked for every 100 seconds only, and not at all for 5 minutes after a process
# was killed while it looked.
_lost_after = env.BROKER_LOST_TASK_SECONDS
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {}
if HAS_EMBEDDED_BROKER:
    CELERY_BROKER_TRANSPORT_OPTIONS = {"folder": str(EMBEDDED_BROKER_DIR)}
elif CELERY_BROKER_URL.startswith("redis"):
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": _lost_after,
        "unacked_restore_interval": min(10, _lost_after),
        "unacked_restore_throttle": 1,
        "unacked_mutex_expire": min(10, _lost_after),
    }
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_ENABLE_REMOTE_CONTROL = not HAS_EMBEDDED_BROKER
# An exchange and a key of its own for each: left to Celery, both would be bound to the same, and get every task twice.
CELERY_TASK_QUEUES = [Queue(name, Exchange(name), routing_key=name) for name in ("default", "gpu")]
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ROUTES = {"generation.tasks.answer_chunk_of_run": {"queue": "gpu"}}
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# `celery --app evalplatform beat`, or `worker --beat` where there is one background process only.
SYNC_MINUTES = env.SYNC_MINUTES
CELERY_BEAT_SCHEDULE = {
    "sync": {
        "task": "hits.tasks.sync_published_studies",
        "schedule": 60 * SYNC_MINUTES,
        "options": {"expires": 60},  # where nobody listens, messages must not pile up
    },
    "calls": {"task": "hits.tasks.make_server_calls", "schedule": 60, "options": {"expires": 60}},
    "letters": {"task": "hits.tasks.send_letters", "schedule": 60, "options": {"expires": 60}},
    "generation": {"task": "generation.tasks.send_lost_chunks", "schedule": 60, "options": {"expires": 60}},
    "beat": {"task": "hits.tasks.note_that_scheduler_runs", "schedule": 30, "options": {"expires": 60}},
}
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")

# --- Generation: on the GPU that a process is pinned to, or on the CPU with all of its cores -------------------------

GENERATOR_DEVICE = env.GENERATOR_DEVICE
GENERATOR_THREADS = env.GENERATOR_THREADS  # of a process on a CPU; 0: one for each core

# --- Marketplace: one that runs here, unless MTURK_ENVIRONMENT says otherwise ----------------------------------------

MTURK_ENVIRONMENT = env.MTURK_ENVIRONMENT
MTURK_LOCAL_URL = env.MTURK_LOCAL_URL  # a `manage.py localturk` elsewhere; else it is in this process
# The marketplace that runs here, over HTTP: `/localturk/api/` for requesters and `/market/` for workers. In production
# both are closed unless they are switched on, and then API calls must be signed and workers must sign in.
LOCAL_MARKET = env.LOCAL_MARKET
LOCAL_MARKET_KEY_ID = env.LOCAL_MARKET_KEY_ID
LOCAL_MARKET_SECRET_KEY = env.LOCAL_MARKET_SECRET_KEY
MUST_WORKERS_SIGN_IN = IS_PRODUCTION  # elsewhere everyone may be any worker of the local marketplace: a rehearsal
MTURK_CALLS_PER_SECOND = env.MTURK_CALLS_PER_SECOND
PUBLIC_URL = env.PUBLIC_URL.rstrip("/")

# --- Prolific: the one that runs here, unless PROLIFIC_ENVIRONMENT says otherwise ------------------------------------

PROLIFIC_ENVIRONMENT = env.PROLIFIC_ENVIRONMENT
PROLIFIC_TOKEN = env.PROLIFIC_TOKEN  # never stored in the database, and never logged
PROLIFIC_WORKSPACE = env.PROLIFIC_WORKSPACE
PROLIFIC_PROJECT = env.PROLIFIC_PROJECT
PROLIFIC_FEE_PERCENT = env.PROLIFIC_FEE_PERCENT
PROLIFIC_VAT_PERCENT = env.PROLIFIC_VAT_PERCENT
PROLIFIC_HOOK_SECRET = env.PROLIFIC_HOOK_SECRET
PROLIFIC_LOCAL_URL = env.PROLIFIC_LOCAL_URL.rstrip("/")  # a local Prolific elsewhere; else it is in this process

# --- E-mail: letters to raters who were invited by name, if a mail server is set -------------------------------------

EMAIL_HOST = env.EMAIL_HOST
EMAIL_PORT = env.EMAIL_PORT
EMAIL_HOST_USER = env.EMAIL_HOST_USER
EMAIL_HOST_PASSWORD = env.EMAIL_HOST_PASSWORD  # never stored in the database, and never logged
EMAIL_USE_TLS = env.EMAIL_ENCRYPTION == "starttls"
EMAIL_USE_SSL = env.EMAIL_ENCRYPTION == "tls"
DEFAULT_FROM_EMAIL = env.EMAIL_FROM

# --- Logs: one line an event -----------------------------------------------------------------------------------------

LOGGING = logging_config(level=env.LOG_LEVEL, as_json=env.LOG_FORMAT == "json")

# --- Pages -----------------------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "frontend" / "dist"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if IS_PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = not IS_PRODUCTION
WHITENOISE_AUTOREFRESH = not IS_PRODUCTION

REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "UNAUTHENTICATED_USER": None,
}
UPLOAD_MB = env.UPLOAD_MB  # the largest file that a researcher may upload; more is not even written to disk
FILE_UPLOAD_HANDLERS = [
    "evalplatform.upload_limit.RefuseLarge",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
API_REQUESTS_PER_MINUTE = env.API_REQUESTS_PER_MINUTE  # of a researcher's programs
# 3.1, for pydantic says "null" and "prefixItems".
SPECTACULAR_SETTINGS = {
    "TITLE": "EvalPlatform",
    "VERSION": __version__,
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
}

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{validator}"}
    for validator in ("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
IS_BEHIND_PROXY = env.BEHIND_HTTPS_PROXY
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = IS_PRODUCTION
# How many proxies of ours add the address that they were asked from to X-Forwarded-For.
PROXY_COUNT = env.PROXY_COUNT
if IS_PRODUCTION:
    SECURE_HSTS_SECONDS = env.HSTS_SECONDS
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True
    SECURE_REDIRECT_EXEMPT = [r"^health/$"]
    if IS_BEHIND_PROXY:
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
