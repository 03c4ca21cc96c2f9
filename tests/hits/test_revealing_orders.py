"""The secret of the card orders: kept while the study runs, revealed by its bundle afterwards, and checked."""

import json
import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from hits.batching import build_hits, commitment_to
from hits.batching.card_orders import card_order
from hits.collecting import collect
from hits.crowds.mturk.client import MTurkMarket
from hits.designing import copy_study
from hits.exporting import bundle_source, check_bundle, export_bundle, export_ratings
from hits.exporting.about import read_about
from hits.exporting.hashing import write_hashes
from hits.models import Answer, Study, offering_for
from hits.publishing import stop_study
from localturk.models import TurkHit
from tests.hits.crowd import CrowdWorker, now, people, publish
from tests.pages import html_of


@pytest.fixture
def worked(demo_study: Study, market: MTurkMarket) -> Study:
    """One HIT, of which four workers did all."""
    publish(demo_study, market, 1)
    for account in people()[:4]:
        CrowdWorker(demo_study.hits.get(number=0), account).finish()
    return demo_study


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bundles") / "whole"


@pytest.fixture
def folder(worked: Study, market: MTurkMarket, whole: Path, tmp_path: Path) -> Path:
    """A copy of a bundle that is made once."""
    if not whole.exists():
        collect(offering_for(worked, "local"), market, now())
        export_bundle(offering_for(worked, "local"), whole)
    return Path(shutil.copytree(whole, tmp_path / "bundle"))


def test_a_bundle_withholds_the_secret_while_a_hit_is_on_a_market_and_reveals_it_afterwards(
    worked: Study, market: MTurkMarket, tmp_path: Path
) -> None:
    TurkHit.objects.update(max_assignments=5, status="Assignable")
    collect(offering_for(worked, "local"), market, now())
    source = bundle_source(offering_for(worked, "local"))
    early = export_bundle(offering_for(worked, "local"), tmp_path / "early").folder
    TurkHit.objects.update(max_assignments=4, status="Reviewable")
    collect(offering_for(worked, "local"), market, now())
    late = export_bundle(offering_for(worked, "local"), tmp_path / "late").folder

    texts = [path.read_bytes() for path in early.rglob("*") if path.is_file()]
    assert not any(worked.order_secret.encode() in text for text in texts)
    assert "It is withheld in this bundle" in (early / "README.md").read_text()
    assert read_about(late).card_order_secret == worked.order_secret
    assert f"the secret `{worked.order_secret}`" in (late / "README.md").read_text()
    head = json.loads((early / "manifest.jsonl").read_text().splitlines()[0])
    assert head["card_order_commitment"] == commitment_to(bytes.fromhex(read_about(late).card_order_secret))
    assert check_bundle(early) == check_bundle(late) == []
    assert bundle_source(offering_for(worked, "local")) != source  # the page offers to make it again


def test_a_check_finds_another_secret_and_cards_in_another_order(folder: Path) -> None:
    secret = read_about(folder).card_order_secret
    about = (folder / "bundle.json").read_text()
    (folder / "bundle.json").write_text(about.replace(secret, "00" * 16))
    write_hashes(folder)

    found = check_bundle(folder)

    assert "the secret of the card orders is not the one that manifest.jsonl commits to" in found
    assert "the cards of 4 assignments stood in another order than the secret gives" in found


def test_a_manifest_that_is_not_the_study_s_is_found(folder: Path) -> None:
    head, *lines = (folder / "manifest.jsonl").read_text().splitlines(keepends=True)
    lie = json.loads(head) | {"card_order_commitment": commitment_to(bytes(16))}
    (folder / "manifest.jsonl").write_text(json.dumps(lie) + "\n" + "".join(lines))
    write_hashes(folder)

    assert check_bundle(folder) == [
        "manifest.jsonl is not the one that the study was frozen with",
        "the secret of the card orders is not the one that manifest.jsonl commits to",
    ]


def test_who_has_a_bundle_can_freeze_the_same_study_with_the_same_orders(
    worked: Study, market: MTurkMarket, tmp_path: Path
) -> None:
    collect(offering_for(worked, "local"), market, now())
    secret = bytes.fromhex(export_ratings(offering_for(worked, "local"), tmp_path / "bundle").card_order_secret)
    again = copy_study(worked, "again")

    build_hits(again, order_secret=secret)

    again.refresh_from_db()
    assert again.order_secret == worked.order_secret
    for answer in Answer.objects.select_related("assignment", "item__dialog__dataset"):
        dialog = answer.item.dialog
        names = (dialog.dataset.name, dialog.external_id, len(answer.item.cards), answer.assignment.rotation)
        assert card_order(bytes.fromhex(again.order_secret), *names) == answer.card_order


def test_more_work_after_the_orders_were_revealed_is_warned_of(
    worked: Study, market: MTurkMarket, tmp_path: Path, admin_client: Client
) -> None:
    def page(address: str) -> str:
        return html_of(admin_client.get(f"/studies/demo/{address}"))

    stop_study(offering_for(worked, "local"), market, now)
    collect(offering_for(worked, "local"), market, now())
    assert "card orders of demo are public" not in page("") + page("monitor/")
    call_command("stop_study", "demo", "--resume", stdout=StringIO())
    stop_study(offering_for(worked, "local"), market, now)
    collect(offering_for(worked, "local"), market, now())
    export_ratings(offering_for(worked, "local"), tmp_path / "bundle")

    for command in (["stop_study", "demo", "--resume"], ["publish_hits", "demo"]):
        with pytest.raises(CommandError, match=r"card orders of demo are public.* add --orders-are-public"):
            call_command(*command, stdout=StringIO())
    assert "card orders of demo are public" in page("")
    assert "card orders of demo are public" in page("monitor/")
    warned = StringIO()
    call_command("replace_assignments", "demo", "--dry-run", stdout=StringIO(), stderr=warned)
    assert "Mind: The card orders of demo are public" in warned.getvalue()
    call_command("stop_study", "demo", "--resume", "--orders-are-public", stdout=StringIO())
    assert not copy_study(worked, "again").orders_revealed_at


def test_a_bundle_is_checked_in_its_zip_file_too(folder: Path, tmp_path: Path) -> None:
    packed = shutil.make_archive(str(tmp_path / "demo-local"), "zip", tmp_path, folder.name)
    output = StringIO()
    call_command("check_bundle", packed, stdout=output)
    assert "demo-local.zip holds together" in output.getvalue()

    whole = Path(packed).read_bytes()
    Path(packed).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CommandError, match=r"demo-local.zip can't be unpacked"):
        call_command("check_bundle", packed)
