"""Tell Django about the app `evalplatform`, and check SECRET_KEY with the database's."""

from typing import Any

from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_migrate


class EvalPlatformConfig(AppConfig):
    name = "evalplatform"
    verbose_name = "Platform"

    def ready(self) -> None:
        from evalplatform import secret_key

        checks.register(secret_key.check_secret_key, checks.Tags.database)
        post_migrate.connect(_note_key, sender=self)


def _note_key(**_: Any) -> None:
    from evalplatform.secret_key import key_problem

    key_problem()  # it notes the key in a new database
