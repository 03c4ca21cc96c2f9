"""Rules about one worker beside others: disagreement where the others agree, and answers that are copies."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from hits.frames.study_frames import Frames
from hits.models.design import Copies, DisagreementOnEasyItems
from hits.screening.findings import Finding, findings_of

Array = np.ndarray[Any, Any]


def disagreement_on_easy_items(frames: Frames, rule: DisagreementOnEasyItems) -> list[Finding]:
    """A card is easy for a worker if at least `others` other workers rated it and `agreement` of those put it into one
    area. The rule finds workers who put at least `share` of such cards elsewhere, far more often than others do: a
    binomial test against the rate of all others, with Bonferroni's correction for the number of workers.
    """
    cards = frames.cards
    areas = cards["value"].cat.codes.to_numpy()
    counts = _counts_by_card(_card_codes(cards), areas)
    # Leave the worker out: comparing someone with a majority they belong to flatters them.
    counts[np.arange(len(areas)), areas] -= 1
    total, top = counts.sum(axis=1), counts.max(axis=1)
    is_easy = (total >= rule.others) & (top >= rule.agreement * total - 1e-9)
    is_apart = is_easy & (counts.argmax(axis=1) != areas)
    table = pd.DataFrame({"worker": cards["worker"].array, "easy_cards": is_easy, "disagreed": is_apart})
    facts = table[is_easy].groupby("worker", observed=True).sum()
    others = facts.sum() - facts
    facts["share"] = facts["disagreed"] / facts["easy_cards"]
    facts["share_of_others"] = (others["disagreed"] / others["easy_cards"].clip(lower=1)).clip(lower=1e-3)
    by_chance = binom.sf(facts["disagreed"] - 1, facts["easy_cards"], facts["share_of_others"])
    facts["p_value"] = np.minimum(1, by_chance * len(facts))
    return findings_of(facts[(facts["share"] >= rule.share - 1e-9) & (facts["p_value"] <= rule.p_value)])


def copies(frames: Frames, rule: Copies) -> list[Finding]:
    """Finds two workers who put at least `share` of the cards that both rated into the same areas, where chance does
    not explain it: a binomial test with Bonferroni's correction for the number of pairs. By chance they agree as often
    as any two workers do, or as often as their own shares of the areas make them, whichever is more; so that two who
    put everything into one area are not each other's copies. The rule finds both, since nobody knows who copied whom.
    """
    cards = frames.cards.sort_values(["dialog", "card", "worker"])
    pairs = _pairs(
        _card_codes(cards), cards["worker"].cat.codes.to_numpy(), cards["value"].cat.codes.to_numpy(),
        len(cards["value"].cat.categories),
    )  # fmt: skip
    if pairs.empty:
        return []
    usual = pairs["identical"].sum() / pairs["of"].sum()
    chance = np.maximum(pairs["expected"], usual)
    pairs["share"] = pairs["identical"] / pairs["of"]
    pairs["share_by_chance"] = chance
    pairs["p_value"] = np.minimum(1, binom.sf(pairs["identical"] - 1, pairs["of"], chance) * len(pairs))
    found = pairs[(pairs["share"] >= rule.share - 1e-9) & (pairs["p_value"] <= rule.p_value)]
    return findings_of(_closest(found, cards["worker"].cat.categories))


def _closest(pairs: pd.DataFrame, names: "pd.Index[Any]") -> pd.DataFrame:
    """For each worker the pair that chance explains least, and how many there are."""
    mirrored = pairs.rename(columns={"first": "second", "second": "first"})
    both = pd.concat([pairs, mirrored]).sort_values(["p_value", "second"])
    by_worker = both.groupby("first")
    facts = by_worker[["second", "identical", "of", "share_by_chance", "p_value"]].first()
    facts["second"] = [str(names[code]) for code in facts["second"]]
    facts["similar_workers"] = by_worker.size()
    facts.index = names[facts.index]
    return facts.rename(columns={"second": "other"})


def _card_codes(cards: pd.DataFrame) -> Array:
    """The same card has the same number in all HITs of a block."""
    keys = cards["dialog"].to_numpy() * (int(cards["card"].max()) + 1 if len(cards) else 1) + cards["card"].to_numpy()
    return np.unique(keys, return_inverse=True)[1]


def _counts_by_card(card: Array, area: Array) -> Array:
    """For each rating, how many put its card into each area."""
    areas = int(area.max()) + 1 if len(area) else 1
    cards = int(card.max()) + 1 if len(card) else 0
    return np.bincount(card * areas + area, minlength=cards * areas).reshape(cards, areas)[card]


def _pairs(card: Array, worker: Array, area: Array, areas: int) -> pd.DataFrame:
    """A row for each two workers (codes) who rated the same cards: how many cards, how many they rated alike, and how
    many they would rate alike by their own shares of the areas. Ratings come sorted by card and worker, so that rows i
    and i + gap are a pair as long as they are of one card: this needs no join, and memory for one gap at a time."""
    tables = []
    worker = worker.astype(np.int64)
    count = int(worker.max()) + 1 if len(worker) else 0
    for gap in range(1, len(card)):
        is_pair = card[gap:] == card[:-gap]
        if not is_pair.any():
            break
        is_pair &= worker[gap:] != worker[:-gap]
        first, second = worker[:-gap][is_pair], worker[gap:][is_pair]
        keys, place = np.unique(first * count + second, return_inverse=True)
        mine, theirs = area[:-gap][is_pair], area[gap:][is_pair]
        table = {"of": np.bincount(place), "identical": np.bincount(place, mine == theirs)}
        for number in range(areas):
            table[f"mine{number}"] = np.bincount(place, mine == number)
            table[f"theirs{number}"] = np.bincount(place, theirs == number)
        tables.append(pd.DataFrame(table, index=keys))
    if not tables:
        return pd.DataFrame()
    sums = pd.concat(tables).groupby(level=0).sum().astype(np.int64)
    alike = sum(sums[f"mine{number}"] * sums[f"theirs{number}"] for number in range(areas))
    found = sums[["of", "identical"]].assign(expected=alike / sums["of"] ** 2)
    return found.assign(first=sums.index // count, second=sums.index % count)
