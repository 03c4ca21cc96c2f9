"""A study -> balanced, seeded, frozen HITs."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generation.importing import import_candidates, import_dialogs
from generation.models import Candidate, Dialog, Generator
from hits.batching import build_hits, commitment_to, manifest_lines
from hits.batching.building import checkpoints_of, deal, make_cards
from hits.batching.card_orders import card_order
from hits.designing import (
    ChosenDialog,
    Selection,
    copy_study,
    create_study,
    fill_blocks,
    parse_design,
    planned_setting,
    read_study_file,
    size_of_batches,
)
from hits.designing.design_words import describe_size
from hits.models import Hit, HitItem, Study
from hits.stats import planned_variance
from tests.conftest import ROOT, WriteFile

MEED2 = read_study_file(ROOT / "examples" / "meed2.toml")
DEMO = read_study_file(ROOT / "examples" / "demo.toml")


def chosen(name: str, count: int, golds: int | None = None) -> Selection:
    golds = count if golds is None else golds
    return Selection(name, [ChosenDialog(n, f"{name}-{n}", n < golds) for n in range(count)])


def test_the_paper_s_design_gives_600_even_hits_with_three_checkpoints_each() -> None:
    design = parse_design(MEED2)
    selections = [chosen(name, 2000) for name in ("OS", "EDOS", "ED")]

    blocks = list(deal(design, selections, size_of_batches(design, 6000)))

    assert len(blocks) == 600
    positions: Counter[int] = Counter()
    for block in blocks:
        counts = Counter(place.dataset for place in block)
        assert sum(counts.values()) == 10
        assert max(counts.values()) - min(counts.values()) <= 1
        checkpoints = checkpoints_of(design, block)
        assert len(checkpoints) == 3
        assert all(block[position].dataset == "ED" for position in checkpoints)
        positions.update(checkpoints)
    assert len({place for block in blocks for place in block}) == 6000
    # 1,800 checkpoints on 10 positions: 180 each, give or take.
    assert all(120 < positions[position] < 240 for position in range(10))


@settings(suppress_health_check=[HealthCheck.too_slow])  # on a busy machine the first draw takes seconds
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=5),
    st.integers(2, 12),
    st.sampled_from(["spread", "drop"]),
    st.integers(0, 2**32),
)
def test_every_dialog_has_one_place_and_blocks_are_even(
    counts: list[int], per_hit: int, uneven_end: str, seed: int
) -> None:
    names = [f"d{number}" for number in range(len(counts))]
    given_settings = {
        "name": "x",
        "seed": seed,
        "datasets": [{"name": name, "dialogs": count} for name, count in zip(names, counts, strict=True)],
        "generators": ["g"],
        "hits": {"dialogs": per_hit, "uneven_end": uneven_end},
        "checkpoints": {"per_hit": 0},
        "pay": {"bonus": 0},
        "screening": [],
    }
    design = parse_design(given_settings)
    size = size_of_batches(design, sum(counts))

    selections = fill_blocks(design, [chosen(*pair) for pair in zip(names, counts, strict=True)])
    blocks = list(deal(design, selections, size))

    places = [place for block in blocks for place in block]
    assert len(set(places)) == len(places) == size.dialog_count
    assert size.dialog_count + size.dropped_count == sum(counts)
    assert Counter(len(block) for block in blocks) == size.block_sizes
    for name in names:
        of_dataset = [sum(place.dataset == name for place in block) for block in blocks]
        assert max(of_dataset) - min(of_dataset) <= 1


@given(
    st.integers(0, 40),
    st.integers(0, 40),
    st.integers(0, 40),
    st.sampled_from(["spread", "drop"]),
    st.integers(0, 2**32),
)
def test_golds_of_two_datasets_together_reach_every_block(
    first: int, second: int, others: int, uneven_end: str, seed: int
) -> None:
    golds = [chosen("A", first + 5, first), chosen("B", second + 3, second), chosen("C", others + 1, 0)]
    total = sum(len(selection.dialogs) for selection in golds)
    design = parse_design(
        {
            "name": "x",
            "seed": seed,
            "datasets": [{"name": name, "dialogs": 1} for name in "ABC"],
            "generators": ["g"],
            "hits": {"uneven_end": uneven_end},
            "checkpoints": {"datasets": ["A", "B"], "per_hit": 2},
            "pay": {"bonus_points": 2},
            "screening": [],  # three dialogs are too few for some rules
        }
    )
    size = size_of_batches(design, total)
    kept = fill_blocks(design, golds)

    blocks = list(deal(design, kept, size))

    if sum(dialog.has_gold for selection in kept for dialog in selection.dialogs) >= 2 * size.block_count:
        assert all(len(checkpoints_of(design, block)) == 2 for block in blocks)


def test_uneven_ends_are_said_to_the_researcher() -> None:
    spread = parse_design(MEED2)
    drop = parse_design({**MEED2, "hits": {"uneven_end": "drop"}})
    many = parse_design({**MEED2, "hits": {"assignments": 10}})
    few = list(describe_size(spread, size_of_batches(spread, 12)))

    assert few == [
        "12 dialogs make 2 HITs: 2 with 6 dialogs",
        "the dialogs don't fill HITs of 10, so some are smaller, at the same pay",
    ]
    assert list(describe_size(spread, size_of_batches(spread, 6005))) == [
        "6,005 dialogs make 601 HITs: 596 with 10 dialogs, 5 with 9 dialogs",
        "the dialogs don't fill HITs of 10, so some are smaller, at the same pay",
    ]
    assert list(describe_size(drop, size_of_batches(drop, 6005))) == [
        "6,000 dialogs make 600 HITs: 600 with 10 dialogs",
        "5 dialogs are left out, so that every HIT is full",
    ]
    assert "10 assignments are split into 5 + 5" in list(describe_size(many, size_of_batches(many, 6000)))[1]


@given(st.integers(1, 8), st.binary(min_size=16, max_size=16), st.text(max_size=5))
def test_over_as_many_workers_as_cards_each_card_stands_at_each_place_once(
    card_count: int, secret: bytes, external_id: str
) -> None:
    orders = [card_order(secret, "ED", external_id, card_count, turn) for turn in range(card_count)]

    for place in range(card_count):
        assert sorted(order[place] for order in orders) == list(range(card_count))
    assert card_order(secret, "ED", external_id, card_count, card_count) == orders[0]


def test_over_a_study_each_generator_stands_at_each_place_about_equally_often() -> None:
    places = Counter(
        (card, place)
        for dialog in range(3000)
        for turn in range(2)  # fewer workers than cards: balance comes from the shuffle alone
        for place, card in enumerate(card_order(SECRET, "ED", f"d{dialog}", 5, turn))
    )

    expected = 3000 * 2 / 5
    assert all(abs(count - expected) < 0.1 * expected for count in places.values())
    assert len(places) == 25


def candidate(generator: str, text: str) -> Candidate:
    return Candidate(generator=Generator(name=generator), text=text, display_text=text)


@given(
    st.lists(st.sampled_from(["Yes.", " Yes. ", "No.", "No  way", "No way", "?"]), min_size=1, max_size=6), st.data()
)
def test_merging_keeps_every_candidate_on_exactly_one_card(texts: list[str], data: Any) -> None:
    gold = data.draw(st.sampled_from([None, "Yes.", "Perhaps."]))
    candidates = [candidate(f"g{number}", text) for number, text in enumerate(texts)]

    design = parse_design(MEED2)
    cards = make_cards(design, candidates, gold)

    names = [one.generator.name for card in cards for one in card.candidates]
    assert sorted(names) == sorted(one.generator.name for one in candidates)
    assert len({" ".join(card.text.split()) for card in cards}) == len(cards)
    for card in cards:
        assert {design.shown(one.display_text) for one in card.candidates} <= {card.text}
    assert sum(card.is_gold for card in cards) == (gold is not None)


def test_dropped_dialogs_come_from_the_largest_dataset_and_leave_the_golds() -> None:
    design = parse_design({**MEED2, "hits": {"uneven_end": "drop"}})
    selections = [chosen("OS", 6), chosen("EDOS", 3), chosen("ED", 10, golds=3)]

    kept = fill_blocks(design, selections)

    assert [len(selection.dialogs) for selection in kept] == [3, 3, 4]
    assert sum(dialog.has_gold for dialog in kept[2].dialogs) == 3


def test_a_tokenised_gold_is_shown_and_merged_like_the_replies_beside_it() -> None:
    dialog = Dialog(turns=["My cat died."], gold="oh no , i am sorry")
    reply = Candidate(generator=Generator(name="a"), text="oh no , i am sorry", display_text="Oh no, I am sorry")

    (card,) = make_cards(parse_design(MEED2), [reply], dialog.display_gold)

    assert (card.text, card.is_gold, len(card.candidates)) == ("Oh no, I am sorry.", True, 1)


def test_a_reply_like_the_gold_is_one_card_with_it() -> None:
    cards = make_cards(parse_design(MEED2), [candidate("a", "Well  done!"), candidate("b", "Oh.")], "Well done!")

    assert [(len(card.candidates), card.is_gold) for card in cards] == [(1, True), (1, False)]


def test_replies_that_differ_in_typing_alone_are_one_card_unless_the_study_shows_them_as_written() -> None:
    replies = [candidate("a", "im so sorry"), candidate("b", "I'm so sorry.")]
    as_written = parse_design({**MEED2, "task": {"reply_style": "as written"}})

    (card,) = make_cards(parse_design(MEED2), replies, None)

    assert (card.text, len(card.candidates)) == ("I'm so sorry.", 2)
    assert [card.text for card in make_cards(as_written, replies, None)] == ["im so sorry", "I'm so sorry."]


@pytest.fixture
def demo_study(example_corpus: None) -> Study:
    return create_study(DEMO)


def test_the_demo_gives_the_same_hash_on_every_machine_and_database(demo_study: Study) -> None:
    built = build_hits(demo_study, order_secret=SECRET)

    demo_study.refresh_from_db()
    assert (built.hit_count, built.item_count, built.checkpoint_count, built.is_new) == (6, 60, 18, True)
    assert demo_study.manifest_hash == DEMO_HASH
    assert _layout_hash(demo_study) == DEMO_LAYOUT


def test_the_manifest_names_every_dialog_and_candidate_and_its_own_hash_is_the_studys(demo_study: Study) -> None:
    build_hits(demo_study)

    demo_study.refresh_from_db()
    lines = list(manifest_lines(demo_study))
    head, *items = [json.loads(line) for line in lines]
    assert hashlib.sha256(b"".join(lines)).hexdigest() == demo_study.manifest_hash
    assert head["design"]["seed"] == 2021
    planned = planned_variance(planned_setting(demo_study.parsed_design, 60))
    assert head["sequence_tau2"] == {"overall": pytest.approx(8.212 * planned, rel=1e-5)}
    assert {(item["dataset"], item["dialog"]) for item in items} == set(
        Dialog.objects.values_list("dataset__name", "external_id")
    )
    named = [one["generator"] for item in items for card in item["cards"] for one in card["candidates"]]
    assert Counter(named) == dict.fromkeys(DEMO["generators"], 60)


def test_a_text_that_was_changed_behind_our_back_no_longer_gives_the_hash(demo_study: Study) -> None:
    build_hits(demo_study)
    Candidate.objects.filter(dialog__external_id="emotional-017").update(display_text="Changed.")

    demo_study.refresh_from_db()
    lines = list(manifest_lines(demo_study))

    assert hashlib.sha256(b"".join(lines)).hexdigest() != demo_study.manifest_hash
    changed = [line for line in lines[1:] if not HitItem.objects.filter(content_hash=hashlib.sha256(line).hexdigest())]
    assert [json.loads(line)["dialog"] for line in changed] == ["emotional-017"]


def test_a_study_and_its_copy_have_the_same_hits_and_draw_their_secrets_apart(demo_study: Study) -> None:
    copy = copy_study(demo_study, "again")
    build_hits(demo_study)
    build_hits(copy)

    demo_study.refresh_from_db()
    copy.refresh_from_db()
    (first, *lines), (second, *same_lines) = (list(manifest_lines(one)) for one in (demo_study, copy))
    assert list(_layout(copy)) == list(_layout(demo_study))
    assert lines == same_lines
    assert len({demo_study.order_secret, copy.order_secret}) == 2
    for study, line in ((demo_study, first), (copy, second)):
        head = json.loads(line)
        assert len(bytes.fromhex(study.order_secret)) == 16
        assert head["card_order_commitment"] == commitment_to(bytes.fromhex(study.order_secret))
        assert study.order_secret not in line.decode()


SECRET = bytes(range(16))
DEMO_HASH = "605d34eba2d2fa66ed31127879767030563b92da21ab189a32305bea76b604d9"
DEMO_LAYOUT = "e0eb9dfe4f38e67b6537b0bf08da4a3a64f69881ffca784756e859f56305a3f0"


def _layout_hash(study: Study) -> str:
    return hashlib.sha256("\n".join(_layout(study)).encode()).hexdigest()


def _layout(study: Study) -> Iterator[str]:
    """Every HIT and item in names that are the same on every machine."""
    names = dict(Candidate.objects.values_list("pk", "generator__name"))
    items = HitItem.objects.filter(hit__study=study).select_related("hit", "dialog")
    for item in items.order_by("hit__number", "position"):
        cards = [[sorted(names[pk] for pk in card.candidates), card.is_gold] for card in item.cards]
        yield json.dumps([item.hit.number, item.position, item.dialog.external_id, item.is_checkpoint, cards])


def test_building_twice_changes_nothing(demo_study: Study) -> None:
    build_hits(demo_study)
    rows = list(HitItem.objects.order_by("pk").values())

    again = build_hits(demo_study)

    assert (again.hit_count, again.is_new) == (6, False)
    assert list(HitItem.objects.order_by("pk").values()) == rows


def test_each_hit_of_the_demo_is_even_and_has_its_checkpoints(demo_study: Study) -> None:
    build_hits(demo_study)

    for hit in Hit.objects.prefetch_related("items__dialog__dataset"):
        items = list(hit.items.all())
        datasets = Counter(item.dialog.dataset.name for item in items)
        assert sorted(datasets.values()) == [3, 3, 4]
        checkpoints = [item for item in items if item.is_checkpoint]
        assert len(checkpoints) == 3
        assert all(item.dialog.dataset.name == "example-empathetic" for item in checkpoints)
        for item in items:
            assert sum(card.is_gold for card in item.cards) == item.is_checkpoint
            assert len([pk for card in item.cards for pk in card.candidates]) == 4


def test_merged_cards_keep_all_generators_in_the_built_hits(demo_study: Study) -> None:
    build_hits(demo_study)

    merged = HitItem.objects.get(dialog__external_id="emotional-017")
    assert sorted(len(card.candidates) for card in merged.cards) == [1, 1, 2]


def test_many_assignments_become_hits_of_one_block_with_the_same_dialogs(example_corpus: None) -> None:
    study = create_study({**DEMO, "hits": {"assignments": 10}})

    built = build_hits(study)

    assert built.hit_count == 12
    for block in range(6):
        first, second = Hit.objects.filter(study=study, block=block)
        assert (first.assignments, second.assignments) == (5, 5)
        assert [item.dialog_id for item in first.items.all()] == [item.dialog_id for item in second.items.all()]


def test_another_seed_gives_other_hits_and_another_hash(demo_study: Study) -> None:
    other = create_study({**DEMO, "name": "other", "seed": 2022})
    build_hits(demo_study)
    build_hits(other)

    demo_study.refresh_from_db()
    other.refresh_from_db()
    assert list(_layout(other)) != list(_layout(demo_study))
    assert other.manifest_hash != demo_study.manifest_hash


@pytest.mark.parametrize("changed", ["gold", "turns", "text", "display_text"])
def test_the_hash_covers_the_texts_that_workers_will_see(example_corpus: None, changed: str) -> None:
    dialog = Dialog.objects.get(external_id="empathetic-001")
    if changed in ("gold", "turns"):
        Dialog.objects.filter(pk=dialog.pk).update(**{changed: "Changed." if changed == "gold" else ["Changed."]})
    else:
        Candidate.objects.filter(dialog=dialog, generator__name="generic").update(**{changed: "Changed."})
    study = create_study(DEMO)

    build_hits(study, order_secret=SECRET)

    study.refresh_from_db()
    assert study.manifest_hash != DEMO_HASH


@pytest.mark.django_db
def test_real_outputs_of_five_models_keep_every_rating_after_merging(shared_data: Path, write_lines: WriteFile) -> None:
    generators = ["Transformer(MoEL repo: trs)", "Multi-TR(MoEL repo: trs+multitask)", "MoEL", "MIME", "EmpDG"]
    lines = [json.loads(line) for line in (shared_data / "ed_test_candidates.jsonl").open(encoding="utf-8")]
    complete = [line for line in lines if {*generators} <= line["candidates"].keys()][:300]
    ids = {line["id"] for line in complete}
    dialogs = [line for line in (shared_data / "ed_test.jsonl").open(encoding="utf-8") if json.loads(line)["id"] in ids]
    import_dialogs(write_lines(*dialogs, name="dialogs.jsonl"), "ED")
    import_candidates(write_lines(*complete), "ED")
    study = create_study(
        {
            "name": "published",
            "datasets": [{"name": "ED", "dialogs": 300}],
            "generators": generators,
            "checkpoints": {"datasets": ["ED"]},
        }
    )

    built = build_hits(study)

    assert (built.hit_count, built.item_count, built.checkpoint_count) == (30, 300, 90)
    names = dict(Candidate.objects.values_list("pk", "generator__name"))
    merged = 0
    for item in HitItem.objects.filter(hit__study=study):
        on_cards = [names[pk] for card in item.cards for pk in card.candidates]
        assert sorted(on_cards) == sorted(generators)
        merged += any(len(card.candidates) > 1 for card in item.cards)
    assert merged > 10
