"""Fill Turkle for `benchmarks.serving` and read its answers, in Turkle's own environment, through its own models.

fill TASKS USERS     makes a project of ten ratings, a batch of it, and users who are logged in
answers              prints what was persisted: {assignment id: {question: rating}}

The last line that it prints is JSON.
"""

import io
import json
import sys
from typing import Any

import django

RATINGS = ("good", "okay", "bad")
QUESTIONS = 10  # ratings in a task; as benchmarks.serving_turkle has them
REPLY = "Well then, maybe tomorrow we could see whether the river has gone down."


def main() -> None:
    django.setup()
    step, *numbers = sys.argv[1:]
    result = fill(*(int(number) for number in numbers)) if step == "fill" else answers()
    print(json.dumps(result))


def fill(task_count: int, user_count: int) -> dict[str, Any]:
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.db import transaction
    from turkle.models import Batch, Project  # type: ignore[import-not-found]

    call_command("migrate", verbosity=0)
    with transaction.atomic():
        project = Project(name="Rate replies", html_template=_template())
        project.clean()
        project.save()
        batch = Batch.objects.create(name="Rate replies", filename="replies.csv", project=project)
        batch.create_tasks_from_csv(io.StringIO(_table(task_count)))
        users = [get_user_model().objects.create_user(f"worker{number}") for number in range(user_count)]
        sessions = [_log_in(user) for user in users]
    return {"batch": batch.pk, "sessions": sessions}


def answers() -> dict[int, Any]:
    from turkle.models import TaskAssignment

    return dict(TaskAssignment.objects.filter(completed=True).values_list("pk", "answers"))


def _template() -> str:
    """Return a page with a dialog and ten replies, each with radio buttons for good, okay and bad."""
    rows = []
    for number in range(QUESTIONS):
        buttons = "".join(
            f'<label><input type="radio" name="rating{number}" value="{rating}" required>{rating}</label>'
            for rating in RATINGS
        )
        rows.append(f"<fieldset><legend>${{reply{number}}}</legend>{buttons}</fieldset>")
    return f"<p>${{dialog}}</p>{''.join(rows)}"


def _table(task_count: int) -> str:
    header = ["dialog", *(f"reply{number}" for number in range(QUESTIONS))]
    rows = [[f"Dialog {task}: {REPLY}", *[REPLY] * QUESTIONS] for task in range(task_count)]
    return "\n".join(",".join(f'"{cell}"' for cell in row) for row in [header, *rows])


def _log_in(user: Any) -> str:
    from django.test import Client

    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client.cookies["sessionid"].value


if __name__ == "__main__":
    main()
