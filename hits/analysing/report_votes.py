"""Writes a report's section about pairs of models that workers compared: wins, losses and ties."""

from evalplatform.wording import count_of
from hits.analysing.report import ALL_DATASETS, Cell, Column, Head, Kind, Row, Section, Table, count, number, p_value
from hits.analysing.results import CriterionResults
from hits.stats import PairVotes, Tally, Undefined, VerdictRule

VERDICTS: dict[VerdictRule, str] = {
    "majority": (
        "A verdict is what more than half of the votes on a dialog say; where no answer has more than half, there is "
        "none."
    ),
    "fourth vote": (
        "A verdict is what two of the first three votes on a dialog say; where all three differ, a fourth person, who "
        "had not seen it, decides. Fourth votes count in verdicts alone, since only dialogs that were hard to decide "
        "have one."
    ),
    "all votes": "By its design, this study counts votes, and has no verdicts.",
}
NET = (
    "The net difference is wins less losses, as a share of all; points are wins and half the ties, as a share. "
    "Intervals of votes respect that votes on one dialog, and of one worker, belong together"
)
OF_VERDICTS_SAID = (
    ": trust these. Those of verdicts take dialogs as independent, as papers do: where workers lean to one of the "
    "models they are too narrow, the more so the fewer workers there are. “Split” counts the dialogs without a "
    "verdict. The sign test is on the verdicts, exact, and not corrected: the planned test decides"
)

SHARES = (Column("wins", "wins"), Column("losses", "losses"), Column("ties", "ties"))
MEASURES = (Column("net", "net difference"), Column("points", "points"))
OF_VERDICTS = (Column("verdicts", "verdicts"), Column("split", "split"), Column("p", "p, sign test"))


def votes(found: CriterionResults) -> Section:
    tables, rule = [], found.votes[0].rule
    for dataset in dict.fromkeys(one.dataset for one in found.votes):
        some = [one for one in found.votes if one.dataset == dataset]
        where = dataset or ALL_DATASETS
        columns: tuple[Column, ...] = (*SHARES, *MEASURES, *OF_VERDICTS)
        if rule != "all votes":
            verdicts = tuple(_row_of_verdicts(one) for one in some)
            tables.append(Table("verdicts", f"{where}, verdicts", "Models", columns, verdicts, dataset=dataset))
        said = tuple(Row(_head(one), (*_cells(one.votes), count(one.votes.count))) for one in some)
        columns = (*SHARES, *MEASURES, Column("votes", "votes"))
        tables.append(Table("votes", f"{where}, votes", "Models", columns, said, dataset=dataset))
    more = "" if rule == "all votes" else OF_VERDICTS_SAID
    lead = f"How often the first model of each pair won, lost and tied. {VERDICTS[rule]} {NET}{more}."
    return Section("votes", "Wins, losses and ties", lead, tuple(tables), _notes(found))


def _notes(found: CriterionResults) -> tuple[str, ...]:
    first = found.votes[0].dataset
    some = [one for one in found.votes if one.dataset == first]
    items = sum(one.split + (0 if isinstance(one.verdicts, Undefined) else one.verdicts.count) for one in some)
    unanimous, split, differing = (
        sum(getattr(one, name) for one in some) for name in ("unanimous", "split", "differing")
    )
    if some[0].rule == "all votes":
        return ()
    fourth = f", {differing:,} needed a fourth vote" if some[0].rule == "fourth vote" else ""
    return (f"Of {count_of(items, 'item')}, {unanimous:,} were unanimous{fourth}, and {split:,} have no verdict.",)


def _head(one: PairVotes) -> Head:
    return Head((one.first, one.second), is_pair=True)


def _row_of_verdicts(one: PairVotes) -> Row:
    if isinstance(one.verdicts, Undefined):
        nothing = one.verdicts.reason
        empty = [Cell(Kind.SHARE, None, undefined=nothing)] * len((*SHARES, *MEASURES))
        return Row(_head(one), (*empty, count(0), count(one.split), p_value(one.sign_p)))
    return Row(_head(one), (*_cells(one.verdicts), count(one.verdicts.count), count(one.split), p_value(one.sign_p)))


def _cells(of: Tally) -> list[Cell]:
    shares = [number(Kind.SHARE, share) for share in (of.win_share, of.loss_share, of.tie_share)]
    return [*shares, number(Kind.DIFFERENCE, of.net), number(Kind.SCORE, of.points)]
