"""docs/generating.md shows how a new kind is made: what it shows works."""

import ast
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from django.core.management import call_command

from generation.models import Candidate
from generation.registry import KINDS
from tests.generation.scripted_runs import make_dialogs

GUIDE = Path(__file__).resolve().parent.parent.parent / "docs" / "generating.md"


@pytest.mark.django_db
def test_the_guides_file_and_line_make_a_kind_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    file, line = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    [(kind, place)] = ast.literal_eval(f"{{{line}}}").items()
    module = ModuleType(place.partition(":")[0])
    exec(file, module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(KINDS, kind, place)
    make_dialogs("Hi.")

    call_command("generate_candidates", dataset="D", generator="polly", kind=kind, setting=["is_loud=true"], here=True)

    assert Candidate.objects.get().text == "HI."
