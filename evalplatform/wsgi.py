"""The WSGI application, which gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalplatform.settings")
application = get_wsgi_application()

from evalplatform.secret_key import refuse_changed_key  # noqa: E402  # Django has to be set up first

refuse_changed_key()
