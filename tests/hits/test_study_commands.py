"""create_study and build_hits as a user meets them."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db.models.functions import Upper

from generation.models import Dialog
from hits.models import Study, offering_for
from hits.publishing import describe_plan, plan_publishing
from tests.conftest import ROOT

DEMO = ROOT / "examples" / "demo.toml"


def run(command: str, argument: object) -> str:
    output = StringIO()
    call_command(command, argument, stdout=output)
    return output.getvalue()


@pytest.mark.usefixtures("example_corpus")
def test_a_file_becomes_a_costed_study_and_its_hits() -> None:
    created, built, again = run("create_study", DEMO), run("build_hits", "demo"), run("build_hits", "demo")

    assert created == (
        "Study demo:\n"
        "  60 dialogs make 6 HITs: 6 with 10 dialogs\n"
        "  24 assignments: $9.60 rewards + $1.92 fees + at most $2.88 bonuses with fees = at most $14.40\n"
        "  960 ratings, at most 1.50 cents each\n"
        "  $0.40 for 15 minutes is $1.60 an hour, below your minimum of $7.25: it takes a reward of $1.82 to reach it\n"
        "  the share of good of 6 pairs of models is compared: generic with listener-large, generic with "
        "listener-small, generic with parrot, listener-large with listener-small, listener-large with parrot, "
        "listener-small with parrot\n"
        "  the pairs share an error of 5 %, so that each is tested at 0.83 %: fewer pairs are found more easily\n"
        "  verdicts are given when 60 dialogs are rated; until then, results are interim\n"
        "  Before its HITs are built, look at consent: The text is the one that EvalPlatform comes with: let whoever "
        "approves your study read it.\n"
        "  Before its HITs are built, look at contact: Not said: who runs the study (task.requester) and how workers "
        "reach you (task.contact).\n"
    )
    assert built.startswith("Built 6 HITs with 60 items, 18 of them checkpoints.\nManifest ")
    assert again.replace("Built before, nothing changed:", "Built") == built


@pytest.mark.usefixtures("example_corpus")
def test_human_replies_that_looks_give_away_are_warned_of() -> None:
    Dialog.objects.update(gold=Upper("gold"))

    created = run("create_study", DEMO)

    assert "  Warning: looks give the human replies away. A classifier that sees only looks" in created
    assert "finds the human reply in 100% of 20 dialogs (95 % interval 84% to 100%)" in created
    assert "given away by no small letters (100% of the human replies, 0% of the models')" in created
    run("build_hits", "demo")
    plan = plan_publishing(offering_for(Study.objects.get(), "local"), None)
    assert any(line.startswith("Warning: looks give the human replies away.") for line in describe_plan(plan))


@pytest.mark.usefixtures("example_corpus")
def test_mistakes_are_said_plainly(tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text(DEMO.read_text().replace('"parrot"', '"parot"').replace("dialogs = 20", "dialogs = 25"))

    with pytest.raises(CommandError) as refused:
        run("create_study", broken)
    with pytest.raises(CommandError, match=r"There is no study named 'demo'\. Studies: none yet\."):
        run("build_hits", "demo")

    problems = str(refused.value).splitlines()
    assert problems[0] == "The study has 4 problems:"
    assert problems[1].startswith("  generators: there is no generator 'parot'")
    assert "example-emotional has 20 dialogs, and 25 are asked for" in problems[2]
