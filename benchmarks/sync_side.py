"""What the chaos benchmark of collecting stands on: studies, the marketplace's tables, and the money on both sides."""

import random
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

from benchmarks.publishing import ROOT
from benchmarks.two_sides import MARKET

if TYPE_CHECKING:
    from hits.models import Study


def change_by_hand(operation: str, **params: Any) -> bool:
    """Change the marketplace's tables directly, as somebody does on its own pages, past our client and the faults."""
    from django.db import transaction

    from localturk.clock import Clock
    from localturk.errors import TurkError
    from localturk.operations import OPERATIONS

    try:
        with transaction.atomic(using=MARKET):
            OPERATIONS[operation](params, Clock().now())
    except TurkError:
        return False  # mostly because one of our runs was faster
    return True


def both_sides_at_once() -> Any:
    from django.db import transaction
    from django.test import override_settings

    from simulated_crowd.channels import InProcess

    class BothSides(InProcess):
        """Runs a stint in two transactions, ours and the marketplace's, into which its own process may be writing."""

        def whole_stint(self) -> AbstractContextManager[object]:
            stack = ExitStack()
            # Our page asks who holds an assignment. Over HTTP, it would ask a process that can't see the transaction
            # yet.
            stack.enter_context(override_settings(MTURK_LOCAL_URL=""))
            stack.enter_context(transaction.atomic(using=MARKET))
            stack.enter_context(super().whole_stint())
            return stack

    return BothSides()


def import_corpus() -> None:
    from io import StringIO

    from django.core.management import call_command

    corpus = ROOT / "examples" / "corpus"
    for name in ("subtitles", "emotional", "empathetic"):
        call_command("import_dialogs", corpus / f"{name}.jsonl", dataset=f"example-{name}", stdout=StringIO())
    call_command("import_candidates", corpus / "candidates.jsonl", stdout=StringIO())


def make_study(name: str, rng: random.Random) -> "Study":
    """Make and publish a study of small HITs: the money and the races are the same."""
    from django.utils import timezone

    from hits.batching import build_hits
    from hits.crowds.mturk.crowd import connect
    from hits.designing import create_study, read_study_file
    from hits.models import Study, offering_for
    from hits.publishing import plan_publishing, publish_hits

    settings: dict[str, Any] = {
        **read_study_file(ROOT / "examples" / "demo.toml"),
        "name": name,
        "seed": rng.randrange(2**31),
        "datasets": [{"name": "example-empathetic", "dialogs": 6}, {"name": "example-subtitles", "dialogs": 3}],
        "hits": {"dialogs": 3, "assignments": 3},
        "checkpoints": {"per_hit": 2, "datasets": ["example-empathetic"]},
        "pay": {"bonus_points": 2},
        "screening": [],
    }
    build_hits(create_study(settings))
    study = Study.objects.get(name=name)
    url = "http://127.0.0.1:8000/work"
    publish_hits(plan_publishing(offering_for(study, "local")), connect(), url, timezone.now)
    return study


def take_protection_out() -> None:
    """Don't look at the bonuses that a HIT's workers have before paying theirs."""
    from hits.crowds.mturk.client import MTurkMarket

    MTurkMarket.list_bonuses_of_hit = lambda self, crowd_hit_id: iter(())  # type: ignore[method-assign]


def annotation_of(study: "Study") -> str:
    return f"evalplatform {study.key} "


def count_approved(study: "Study") -> int:
    from localturk.models import TurkAssignment

    of_study = TurkAssignment.objects.filter(hit__requester_annotation__startswith=annotation_of(study))
    return of_study.filter(status="Approved").count()


def how_far(study: "Study") -> str:
    is_behind = cents_there(study) > cents_here(study)
    return "with money moved that we had not noted" if is_behind else "at another moment"


def cents_here(study: "Study") -> int:
    from hits.models import Payment

    return Payment.objects.filter(submission__assignment__hit__study=study).paid().cents()


def cents_there(study: "Study") -> int:
    from localturk.models import LedgerEntry

    entries = LedgerEntry.objects.filter(assignment__hit__requester_annotation__startswith=annotation_of(study))
    return sum(entry.amount_cents + entry.fee_cents for entry in entries)
