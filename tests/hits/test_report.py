"""A report is made once from results; terminal, page, LaTeX and alternative texts only write it down."""

import re
from dataclasses import replace

import pytest

from hits.analysing import Cell, Kind, Report, Section, analyse, report_as_text, report_of
from hits.analysing.figures.alternative_texts import alternative_text
from hits.analysing.report_answers import agreement
from hits.analysing.report_circumstances import true_values
from hits.exporting.report_latex import latex_tables
from hits.stats import Effects, Interval, PairTest, Undefined
from hits.views.result_sections import page_sections
from tests.hits.stats.small_frames import drawn_frame, rated_frame


@pytest.fixture(scope="module")
def report() -> Report:
    return report_of(analyse(drawn_frame(seed=1, A=(0.1, 0.2, 0.7), B=(0.7, 0.2, 0.1))))


def best_share(section: Section) -> Cell:
    cells = [cell for table in section.tables for row in table.rows for cell in table.cells(row, "share")]
    [best] = [cell for cell in cells if cell.is_best]
    return best


def test_every_rendering_has_the_number_and_the_interval_of_the_cell(report: Report) -> None:
    [one] = report.criteria
    cell = best_share(one.section("shares"))
    assert isinstance(cell.interval, Interval)
    share, low, high = cell.number, cell.interval.low, cell.interval.high

    text = "\n".join(report_as_text(report))
    tex = latex_tables(report)["intervals.tex"]
    page = {section.key: section for section in page_sections(report)}
    cells = [words for _, row in page["shares"].tables[0].rows for _, words in row]

    assert f"{share:.4f} [{low:.4f}, {high:.4f}]" in text
    # Without bold type: here mean scores are tested, and not shares.
    assert f"{share:.4f}".removeprefix("0") + rf" {{\scriptsize[${low:.3f}$, ${high:.3f}$]}}" in tex
    assert r"\textbf" not in tex
    assert f"{100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]" in cells
    assert f"good {100 * share:.0f} % ({100 * low:.0f} to {100 * high:.0f} %)" in alternative_text(
        one.section("shares")
    )


def test_what_different_means_is_the_same_everywhere(report: Report) -> None:
    [one] = report.criteria
    section = one.section("comparisons")
    page = {section.key: section for section in page_sections(report)}

    assert "   different" in "\n".join(report_as_text(report))
    assert ("verdict", "B is better") in page["comparisons"].tables[0].rows[0][1]
    assert ", different." in alternative_text(section)
    assert re.search(r"A\$\^\{\\mathrm\{b\}\}\$", latex_tables(report)["intervals.tex"])
    assert {row.head.names[0]: row.head.letters for row in section.tables_of("letters")[0].rows} == {"A": "b", "B": "a"}


def test_an_undefined_number_says_why_wherever_there_is_room() -> None:
    report = report_of(analyse(rated_frame(("1", "w", "A", "good"), ("2", "w", "B", "bad"))))
    reason = "no worker rated both in the same dialog, and all ratings are of one worker"

    cell = report.criteria[0].section("comparisons").tables[0].rows[0].cells[0]
    page = {section.key: section for section in page_sections(report)}

    assert (cell.kind, cell.value, cell.undefined) == (Kind.DIFFERENCE, None, reason)
    with pytest.raises(TypeError, match="has no number"):
        _ = cell.number
    assert f"not compared: {reason}" in "\n".join(report_as_text(report))
    assert ("difference of good", f"undefined: {reason}") in page["comparisons"].tables[0].rows[0][1]
    assert ("verdict", f"not compared: {reason}") in page["comparisons"].tables[0].rows[0][1]
    assert "A -- B & -- & -- & -- & --" in latex_tables(report)["comparisons.tex"]


def test_with_one_model_pages_leave_out_what_compares() -> None:
    few = rated_frame(("1", "w", "A", "good"), ("2", "w", "A", "bad"))

    keys = [section.key for section in page_sections(report_of(analyse(few)))]

    assert "shares" in keys
    assert not {"comparisons", "ranking"} & set(keys)


def test_a_p_value_that_no_draw_reaches_is_below_its_number_wherever_it_stands() -> None:
    frame = drawn_frame(seed=1, dialogs=200, effects=Effects(worker=0.6, dialog=0.05, reply=0.05))
    results = analyse(frame)
    effect = results.main.worker_effect
    assert (effect.p_value, effect.is_floor) == (0.005, True)

    report = report_of(results)

    [table, *_] = report.criteria[0].section("dependences").tables
    assert table.rows[-1].cells[1].is_below
    assert "p < 0.0050" in "\n".join(report_as_text(report))


@pytest.mark.parametrize(
    ("number", "is_below", "in_tex", "elsewhere"),
    [
        (0.0012, True, "$<0.002$", "< 0.0012"),
        (0.00121, True, "$<0.002$", "< 0.0013"),
        (0.001, True, "$<0.001$", "< 0.0010"),
        (0.0003, True, "$<0.001$", "< 0.0003"),
        (0.0012, False, "$0.001$", "0.0012"),
        (0.00003, False, "$<0.001$", "< 0.0001"),
    ],
)
def test_a_bound_is_rounded_up_so_that_it_stays_true(
    number: float, is_below: bool, in_tex: str, elsewhere: str
) -> None:
    test = PairTest("permutation", number, number, is_floor=is_below)
    results = analyse(drawn_frame(seed=1, A=(0.1, 0.2, 0.7), B=(0.7, 0.2, 0.1)))
    [found] = results.criteria
    tables = tuple(
        replace(one, comparisons=tuple(replace(pair, test=test) for pair in one.comparisons))
        for one in found.comparisons
    )

    made = report_of(replace(results, criteria=(replace(found, comparisons=tables),)))

    assert in_tex in latex_tables(made)["comparisons.tex"]
    assert f" {elsewhere} " in " ".join(report_as_text(made))
    [compared] = [section for section in page_sections(made) if section.key == "comparisons"]
    assert elsewhere in [text for one in compared.tables for _, row in one.rows for _, text in row]


def test_the_terminal_never_prints_a_p_value_of_0() -> None:
    """Different raters: the t test has no floor."""
    frame = drawn_frame(seed=1, dialogs=200, workers=60, A=(0.8, 0.1, 0.1), B=(0.1, 0.1, 0.8))
    results = analyse(frame[frame["worker"].cat.codes % 2 == frame["generator"].cat.codes])
    test = results.main.comparisons[0].comparisons[0].test
    assert isinstance(test, PairTest)
    assert 0 < test.corrected_p_value < 1e-5

    text = "\n".join(report_as_text(report_of(results)))

    assert "< 0.0001   different" in text
    assert "0.0000" not in text


def test_dawid_and_skenes_model_says_when_it_has_not_settled() -> None:
    main = analyse(drawn_frame(seed=1)).main
    assert not isinstance(main.true_values, Undefined)
    unsettled = replace(main, true_values=replace(main.true_values, is_converged=False, steps=200))

    notes = [true_values(one).notes[0] for one in (main, unsettled)]

    assert "had not settled" not in notes[0]
    assert notes[1].startswith("Dawid and Skene's model had not settled after 200 steps")


def test_intervals_of_agreement_by_few_raters_are_said_to_be_rough() -> None:
    main = analyse(drawn_frame(seed=1, dialogs=20)).main

    def notes_with(workers: float) -> tuple[str, ...]:
        tables = tuple(replace(one, effective_workers=workers) for one in main.comparisons)
        return agreement(replace(main, comparisons=tables)).notes

    assert notes_with(3.0)[0].startswith("The work is worth that of fewer than 10 equally busy workers: read these")
    assert notes_with(10.0) == ()


def test_intervals_beside_corrected_verdicts_are_said_to_be_uncorrected(report: Report) -> None:
    lead = report.criteria[0].section("comparisons").lead

    assert "P-values are corrected by Holm's method; the 95 % intervals are not corrected." in lead
