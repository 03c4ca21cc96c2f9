"""Turkle as its own documentation sets it up ("Installing" under "App"), for a server that others can reach."""

import json
import os

DEBUG = False
SECRET_KEY = "only for a benchmark on this machine"
ALLOWED_HOSTS = ["127.0.0.1"]
DATABASES = {"default": json.loads(os.environ["TURKLE_DATABASE"])}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
ROOT_URLCONF = "benchmarks.third_party.turkle_urls"
STATIC_URL = "/static/"
USE_TZ = True
X_FRAME_OPTIONS = "SAMEORIGIN"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = "index"
TURKLE_AUTO_ACCEPT_DEFAULT = False

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "turkle",
    "django.contrib.admin",
    "rest_framework",
    "rest_framework.authtoken",
    "guardian",
    "djaa_list_filter2",
]
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "guardian.backends.ObjectPermissionBackend",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "turkle.utils.turkle_vars",
            ],
        },
    }
]
