"""Defines the rules that compare workers: disagreement where others agree, and copied answers."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from hits.errors import DesignProblem
from hits.models.design import StudyDesign
from hits.models.screening_rule import Finding, ScreeningRule, Share, as_percent
from hits.screening.findings import evidence_table, findings_of, is_at_least
from hits.screening.pointless_rules import too_few_raters

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from hits.frames import Frames

    Array = np.ndarray[Any, Any]


class DisagreementOnEasyItems(ScreeningRule):
    """Leaves out workers who disagree on at least this `share` of easy cards, far more often than other workers do.

    A card is easy for a worker if at least this many `others` rated it, and this share of them, the `agreement`, gave
    it the same answer. The test is binomial, against the rate of all others; its `p_value` is multiplied by the number
    of workers.
    """

    rule: Literal["disagreement_on_easy_items"] = "disagreement_on_easy_items"
    agreement: float = Field(1.0, gt=0.5, le=1, allow_inf_nan=False)
    others: int = Field(3, ge=2, le=90)
    share: Share = 0.6
    p_value: Share = 0.01

    def excluded(self) -> str:
        alike = "all" if self.agreement == 1 else f"at least {as_percent(self.agreement)}"
        return (
            f"all work of workers who disagreed with {as_percent(self.share)} or more of the replies on which {alike} "
            f"of at least {self.others} other workers agreed, and who did so more often than the other workers "
            f"(binomial test, Bonferroni-corrected p at most {self.p_value:g})"
        )

    def find(self, frames: "Frames") -> list[Finding]:
        import numpy as np  # slow to import, as is scipy, and pages and commands read this file, too
        from scipy.stats import binom

        cards = frames.cards
        values = cards["value"].cat.codes.to_numpy()
        counts = _counts_by_card(_card_codes(cards), values)
        # Leave the worker out: comparing someone with a majority they belong to flatters them.
        counts[np.arange(len(values)), values] -= 1
        total, top = counts.sum(axis=1), counts.max(axis=1)
        is_easy = (total >= self.others) & is_at_least(top, self.agreement * total)
        is_apart = is_easy & (counts.argmax(axis=1) != values)
        table = evidence_table(worker=cards["worker"].array, easy_cards=is_easy, disagreed=is_apart)
        facts = table[is_easy].groupby("worker", observed=True).sum()
        others = facts.sum() - facts
        facts["share"] = facts["disagreed"] / facts["easy_cards"]
        facts["share_of_others"] = (others["disagreed"] / others["easy_cards"].clip(lower=1)).clip(lower=1e-3)
        by_chance = binom.sf(facts["disagreed"] - 1, facts["easy_cards"], facts["share_of_others"])
        facts["p_value"] = np.minimum(1, by_chance * len(facts))
        return findings_of(facts[is_at_least(facts["share"], self.share) & (facts["p_value"] <= self.p_value)])

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        return too_few_raters(design, "others", self.others + 1)


class Copies(ScreeningRule):
    """Leaves out pairs of workers who gave the same answer to at least this `share` of the cards that both rated.

    They must agree more than chance explains: a binomial test, whose `p_value` is multiplied by the number of pairs. By
    chance, two workers agree as often as any two workers do, or as often as their own shares of the answers make them,
    whichever is more. So two workers who give every card the same answer are not taken for copies. Both workers of a
    pair are left out, since nobody knows who copied from whom.
    """

    rule: Literal["copies"] = "copies"
    share: Share = 0.9
    p_value: Share = 0.001

    def excluded(self) -> str:
        return (
            f"all work of both workers of each pair who gave identical answers to {as_percent(self.share)} or more of "
            "the replies that both had rated, and more than chance explains (binomial test, Bonferroni-corrected p at "
            f"most {self.p_value:g})"
        )

    def find(self, frames: "Frames") -> list[Finding]:
        import numpy as np
        from scipy.stats import binom

        cards = frames.cards.sort_values(["block", "dialog", "card", "worker"])
        pairs = _count_pairs(
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
        found = pairs[is_at_least(pairs["share"], self.share) & (pairs["p_value"] <= self.p_value)]
        return findings_of(_closest_pairs(found, cards["worker"].cat.categories))

    def problems(self, design: StudyDesign) -> list[DesignProblem]:
        return too_few_raters(design, "share", 2)


def _closest_pairs(pairs: "pd.DataFrame", names: "pd.Index[Any]") -> "pd.DataFrame":
    """Return, for each worker, the pair that chance explains least, and how many pairs there are."""
    import pandas as pd

    mirrored = pairs.rename(columns={"first": "second", "second": "first"})
    both = pd.concat([pairs, mirrored]).sort_values(["p_value", "second"])
    by_worker = both.groupby("first")
    facts = by_worker[["second", "identical", "of", "share_by_chance", "p_value"]].first()
    facts["second"] = [str(names[code]) for code in facts["second"]]
    facts["similar_workers"] = by_worker.size()
    facts.index = names[facts.index]
    return facts.rename(columns={"second": "other"})


def _card_codes(cards: "pd.DataFrame") -> "Array":
    """Number the cards, so that the same card has the same number in all HITs of a block. Another block may show the
    same dialog with other replies."""
    import numpy as np

    keys = cards["block"].to_numpy(np.int64)
    for name in ("dialog", "card"):
        keys = keys * (int(cards[name].max()) + 1 if len(cards) else 1) + cards[name].to_numpy()
    return np.unique(keys, return_inverse=True)[1]


def _counts_by_card(card: "Array", value: "Array") -> "Array":
    """Return, for each rating, how many ratings gave its card each value."""
    import numpy as np

    value_count = int(value.max()) + 1 if len(value) else 1
    cards = int(card.max()) + 1 if len(card) else 0
    return np.bincount(card * value_count + value, minlength=cards * value_count).reshape(cards, value_count)[card]


def _count_pairs(card: "Array", worker: "Array", value: "Array", value_count: int) -> "pd.DataFrame":
    """Return a row for each two workers (codes) who rated the same cards: how many cards both rated, how many they
    rated alike, and the share that they would rate alike by their own shares of the values.

    Ratings come sorted by card and worker. So rows i and i + gap are a pair as long as they have the same card, which
    needs no join, and memory for one gap at a time.
    """
    import numpy as np
    import pandas as pd

    tables = []
    worker = worker.astype(np.int64)
    count = int(worker.max()) + 1 if len(worker) else 0
    for gap in range(1, len(card)):
        is_pair = card[gap:] == card[:-gap]
        if not is_pair.any():
            break
        is_pair &= worker[gap:] != worker[:-gap]
        first, second = worker[:-gap][is_pair], worker[gap:][is_pair]
        keys, index = np.unique(first * count + second, return_inverse=True)
        mine, theirs = value[:-gap][is_pair], value[gap:][is_pair]
        table = {"of": np.bincount(index), "identical": np.bincount(index, mine == theirs)}
        for number in range(value_count):
            table[f"mine{number}"] = np.bincount(index, mine == number)
            table[f"theirs{number}"] = np.bincount(index, theirs == number)
        tables.append(pd.DataFrame(table, index=keys))
    if not tables:
        return pd.DataFrame()
    sums = pd.concat(tables).groupby(level=0).sum().astype(np.int64)
    alike = sum(sums[f"mine{number}"] * sums[f"theirs{number}"] for number in range(value_count))
    found = sums[["of", "identical"]].assign(expected=alike / sums["of"] ** 2)
    return found.assign(first=sums.index // count, second=sums.index % count)
