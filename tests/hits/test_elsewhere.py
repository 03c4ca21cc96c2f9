"""Ratings that another tool collected: whatever their columns, separators, encodings and values are."""

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from evalplatform.errors import EvalPlatformError
from hits.analysing import analyse, report_as_text, report_of, results_as_json, results_from_json
from hits.elsewhere import ColumnMapping, FirstLook, parse_columns, read_elsewhere
from hits.elsewhere.reading_elsewhere import ReadRatings
from hits.exporting.report_latex import latex_tables
from hits.stats import CriterionScale, Estimate, Interval, PairTest, Undefined
from hits.stats.rater_agreement import krippendorff_alpha
from tests.hits.stats.small_frames import drawn_frame


def read(path: Path, columns: str = "", **said: object) -> ReadRatings:
    def change(look: FirstLook, guess: ColumnMapping) -> ColumnMapping:
        mapping = guess.model_copy(update=said)
        return parse_columns(columns, mapping) if columns else mapping

    return read_elsewhere(path, change)


def write(folder: Path, lines: Iterable[str], encoding: str = "utf-8") -> Path:
    file = folder / "ratings.csv"
    file.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
    return file


def text_of(ratings: ReadRatings) -> str:
    return "\n".join(report_as_text(report_of(ratings.analyse())))


# --- Columns, separators, encodings -----------------------------------------------------------------------------------


def test_bad_lines_are_left_out_and_named_by_their_numbers(tmp_path: Path) -> None:
    lines = ["Item,worker,generator,value,dataset", "1,w,A,3,ED", "1,w,B,,ED", "1,w,A,2,ED", "1,v,A,high,ED"]
    lines += ['1,v,B,1,"E', 'D"', "1,v", "", "2,v,B,1,ED,more", "2,v,B,=1+1,ED", "3,v,A,2,ED"]

    found = read(write(tmp_path, lines))

    assert [str(problem) for problem in found.problems] == [
        "line 3: has no value",
        "line 4: w rated A on 1 in line 2 already",
        "line 5: 'high' is no number",
        "line 8: has fewer than 5 columns",
        "line 10: has more than 5 columns",
        "line 11: '=1+1' is no number",
    ]
    assert found.unusable == 6
    assert found.frame[["worker", "generator", "score"]].to_numpy().tolist() == [
        ["w", "A", 3.0],
        ["v", "B", 1.0],
        ["v", "A", 2.0],
    ]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_separators_and_encodings_are_recognised(tmp_path: Path, separator: str, encoding: str) -> None:
    lines = [separator.join(line) for line in (["dialog_id", "Rater", "System", "Score"], ["1", "Zoë", "GPT é", "4"])]
    lines += [separator.join(["1", "Ann", '"a, b; c"', "2"])]

    found = read(write(tmp_path, lines, encoding))

    assert found.frame["worker"].tolist() == ["Zoë", "Ann"]
    assert found.frame["generator"].tolist() == ["GPT é", "a, b; c"]
    assert {"item: dialog_id", "rater: Rater", "model: System", "ratings: Score"} <= set(found.notes)


def test_latin_letters_late_in_a_long_file_are_read_too(tmp_path: Path) -> None:
    lines = ["item,worker,model,rating", *(f"{number},w{number % 7},A,{number % 5}" for number in range(90_000))]

    found = read(write(tmp_path, [*lines, "x,André,A,1"], "cp1252"))

    assert found.frame["worker"].iloc[-1] == "André"
    assert any("Windows-1252" in note for note in found.notes)


def test_any_names_of_columns_can_be_mapped(tmp_path: Path) -> None:
    lines = ["wer;was;womit, genau;wie", "a;1;X;5", "b;1;X;4", "a;1;Y;2"]

    found = read(write(tmp_path, lines), "item=was,worker=wer,generator=womit, genau,value=wie")

    assert found.frame["generator"].tolist() == ["X", "X", "Y"]
    assert found.frame["score"].tolist() == [5, 4, 2]


def test_a_mapping_that_does_not_fit_says_which_columns_there_are(tmp_path: Path) -> None:
    file = write(tmp_path, ["item,who,model,text", "1,w,A,fine words"])

    with pytest.raises(EvalPlatformError, match=r"No column is taken for the ratings. .* item, who, model, text"):
        read(file)
    with pytest.raises(EvalPlatformError, match="There is no column 'rating' for the ratings"):
        read(file, "value=rating")
    with pytest.raises(EvalPlatformError, match="'rater=x' maps no column"):
        read(file, "rater=x")


def test_several_criteria_as_columns_and_as_a_column_are_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [(d, w, m, *rng.integers(1, 6, 2)) for d in range(8) for w in "abc" for m in "XY"]
    (tmp_path / "wide").mkdir()
    wide = write(tmp_path / "wide", ["item,rater,model,fluency,empathy", *(",".join(map(str, row)) for row in rows)])
    long = write(
        tmp_path,
        [
            "item,rater,model,aspect,score",
            *(f"{d},{w},{m},{name},{v}" for d, w, m, f, e in rows for name, v in (("fluency", f), ("empathy", e))),
        ],
    )

    one, other = read(wide, "value=fluency|empathy").analyse(), read(long).analyse()

    assert [part.criterion for part in one.criteria] == ["fluency", "empathy"]
    assert results_as_json(one) == results_as_json(other)
    assert results_from_json(results_as_json(one)).criteria[1].is_by_mean


def test_records_in_json_are_read_and_lists_of_scores_are_raters(tmp_path: Path) -> None:
    records = [{"ID": n, "model": "A", "scores": f"[{n % 5}, {n % 3}]", "text": None} for n in range(9)]
    (tmp_path / "a.json").write_text(json.dumps(records))
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, records)))

    one, other = read(tmp_path / "a.json"), read(tmp_path / "a.jsonl")

    assert len(one.frame) == 18
    assert one.frame["worker"].unique().tolist() == ["scores 1", "scores 2"]
    assert one.frame.equals(other.frame)


# --- Values -----------------------------------------------------------------------------------------------------------


def test_words_have_the_order_they_are_named_in_and_keep_their_case_and_commas(tmp_path: Path) -> None:
    lines = ["item,worker,generator,value", "1,w,A,poor", '1,w,B,"Fair, I guess"', "2,v,A,GREAT", "2,v,B,so-so"]

    found = read(write(tmp_path, lines), words=("Great", "Fair, I guess", "Poor"))

    assert found.frame["score"].tolist() == [1, 2, 3]
    assert found.frame["value"].tolist() == ["Poor", "Fair, I guess", "Great"]
    assert str(found.problems[0]) == "line 5: 'so-so' is not one of Great, Fair, I guess, Poor"


def test_what_tools_write_where_nobody_rated_is_no_label(tmp_path: Path) -> None:
    rows = [f"{item},w{worker},{'AB'[item % 2]},{'xy'[worker % 2]}" for item in range(8) for worker in range(3)]

    found = read(write(tmp_path, ["item,worker,model,label", *rows, "9,w0,A,N/A", "9,w1,B,nan", "9,w2,B,NULL"]))

    assert found.scales["overall"].values == ("x", "y")
    assert [str(problem) for problem in found.problems] == [f"line {line}: has no value" for line in (26, 27, 28)]


def test_one_model_alone_has_no_letter(tmp_path: Path) -> None:
    lines = [f"{item},w{worker},{1 + (item * worker) % 5}" for item in range(8) for worker in range(3)]

    found = read(write(tmp_path, ["item,worker,score", *lines]))

    [table] = found.analyse().main.comparisons
    assert [one.letters for one in table.letters] == [""]
    assert "shares a letter" not in text_of(found)
    assert "there is one model only" in text_of(found)


def test_labels_have_shares_and_majorities_but_no_order(tmp_path: Path) -> None:
    said = {"1": "joy joy anger", "2": "anger joy sadness", "3": "joy joy joy", "4": "sadness sadness joy"}
    lines = ["item,worker,generator,label"]
    lines += [f"{i},w{n},{m},{w}" for m in "AB" for i, words in said.items() for n, w in enumerate(words.split())]

    found = read(write(tmp_path, lines))
    results = found.analyse()

    one = results.main
    assert one.is_nominal
    assert one.values == ("joy", "sadness", "anger")  # the most frequent first
    assert [share.count for share in one.table[0].shares] == [7, 3, 2]  # type: ignore[union-attr]
    assert one.table[0].mean_score == Undefined("the labels have no order")
    counts = np.array([[2, 0, 1], [1, 1, 1], [3, 0, 0], [1, 2, 0]] * 2)
    alpha = one.agreement[0].alpha_nominal
    assert isinstance(alpha, Estimate)
    assert alpha.value == pytest.approx(krippendorff_alpha(counts, (1, 2, 3), "nominal"))
    assert one.agreement[0].alpha_ordinal == one.agreement[0].alpha_interval == Undefined("the labels have no order")
    assert (one.agreement[0].replies, one.agreement[0].majorities) == (8, 6)
    assert one.comparisons[0].comparisons[0].verdict == "not compared"
    assert one.leading("all") == set()
    text = text_of(found)
    assert "better" not in text.split("Which is better")[-1]
    assert "Of 8 replies rated twice or more, 6 have a majority." in text
    assert latex_tables(report_of(results))
    assert results_from_json(results_as_json(results)).main.is_nominal


def test_numbers_can_be_labels_if_it_is_said(tmp_path: Path) -> None:
    lines = ["item,worker,generator,value", "1,w,A,7", "1,v,A,7", "1,w,B,1"]

    assert read(write(tmp_path, lines), kind="labels").analyse().main.is_nominal


def test_z_scores_are_analysed_exactly_and_shown_in_bins(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [(d, w, m, rng.normal(m == "B")) for d in range(30) for w in range(5) for m in "AB"]
    lines = [
        "item,worker,generator,value",
        *(f"{d},w{w},{m},{z!r}".replace("np.float64(", "").strip(")") for d, w, m, z in rows),
    ]

    one = read(write(tmp_path, lines)).analyse().main

    assert len(one.values) == 5
    means = [row.mean_score.value for row in one.table if isinstance(row.mean_score, Estimate)]
    assert means == pytest.approx([np.mean([z for *_, m, z in rows if m == name]) for name in "AB"])
    units = [[z for d, _, m, z in rows if (d, m) == key] for key in {(d, m) for d, _, m, _ in rows}]
    values = sorted({z for *_, z in rows})
    counts = np.array([[unit.count(value) for value in values] for unit in units], float)
    for level in ("interval", "ordinal"):
        found = getattr(one.agreement[0], f"alpha_{level}")
        assert found.value == pytest.approx(krippendorff_alpha(counts, values, level))
    assert one.comparisons[0].comparisons[0].better == "B"


def test_sliders_and_decimal_commas(tmp_path: Path) -> None:
    lines = ["item;worker;generator;value", *(f"{n};w{n % 9};A;{n},5" for n in range(0, 100, 3))]

    found = read(write(tmp_path, lines))

    assert found.frame["score"].tolist() == [n + 0.5 for n in range(0, 100, 3)]
    assert found.scales["overall"].bins
    assert any("decimal commas" in note for note in found.notes)


def test_a_column_of_decimal_commas_beside_another_one_is_taken_for_ratings_too(tmp_path: Path) -> None:
    lines = ["item;worker;generator;fluency;zscore"]
    lines += [f"{n % 40};w{n // 40};A;{n % 5};{n / 997:.4f}".replace(".", ",") for n in range(120)]

    found = read(write(tmp_path, lines))

    assert sorted(found.scales) == ["fluency", "zscore"]
    assert found.frame.loc[found.frame["criterion"] == "zscore", "score"].max() == pytest.approx(119 / 997, abs=1e-4)


# --- Raters, models and items that nobody names -----------------------------------------------------------------------


@pytest.mark.parametrize("raters", [None, "", "anonymous"])
def test_raters_that_are_not_identified_are_said_to_be_so(tmp_path: Path, raters: str | None) -> None:
    rng = np.random.default_rng(3)
    rows = [(d, m, rng.integers(1, 6)) for d in range(20) for m in "AB" for _ in range(3)]
    lines = ["item,model,rating"] if raters is None else ["item,model,rating,worker"]
    lines += [f"{d},{m},{v}" + ("" if raters is None else f",{raters}") for d, m, v in rows]

    found = read(write(tmp_path, lines))
    one = found.analyse().main

    assert len(found.frame) == 120
    assert any("Raters are not identified" in note for note in found.notes)
    [table] = one.comparisons
    assert any("Raters are not identified" in warning for warning in table.warnings)
    assert one.agreement[0].replies == 40
    assert isinstance(one.agreement[0].alpha_interval, Estimate)
    assert one.size.workers == 0
    told = text_of(found)
    assert "120 answers by raters who are not identified to 20 dialogs" in told
    assert "different people" not in told
    assert "different raters" not in told
    assert one.worker_effect.p_value == one.true_values == Undefined("the raters are not identified")
    # By hand: three ratings of each reply, and dialogs are the only clusters.
    means = np.array([np.mean([v for e, m, v in rows if (e, m) == (d, "A")]) for d in range(20)])
    mean = one.table[0].mean_error
    assert isinstance(mean, float)
    assert mean == pytest.approx(np.sqrt(np.var(means, ddof=1) / 20), rel=0.02)


def test_what_no_column_says_is_told(tmp_path: Path) -> None:
    found = read(write(tmp_path, ["a,b,3,4", "c,d,5,2", "e,f,1,1"]))

    assert found.frame["worker"].unique().tolist() == ["column 3", "column 4"]
    told = " ".join(found.notes)
    assert "it has no header" in told
    assert "No column names a model" in told
    assert "No column names the item" in told


# --- Hostile files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04rest", "is a zip file or an Excel workbook"),
        (b"\x1f\x8brest", "is packed"),
        (b"item,worker\n\0\0\0,w\n", "is no text: it has zero bytes"),
        (bytes(range(256)) * 50, "is no text"),
        (b"just words\nand more\n", "is no table"),
        (b"x" * 1_500_000, "begins with a line of more than"),
        (b"item,worker,model,value\n" + b"1,w,A,3\n" * 200_000 + b"\0", "is no text: it has zero bytes"),
        (",".join(f"c{number}" for number in range(10_000)).encode() + b"\n", "has 10,000 columns"),
        (b'[{"a": 1}, 2]', "must be a list of records"),
        (b"[{" * 100_000, "is no JSON"),
        (b"item,worker,model,value\n1,w,A,\n", "there is no value"),
        (b"item,worker,model,value\n,w,A,3\n", "has no rating that can be used"),
    ],
)
def test_hostile_files_end_in_one_clear_line(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "ratings.csv").write_bytes(content)

    with pytest.raises(EvalPlatformError, match=problem):
        read(tmp_path / "ratings.csv")


def test_one_huge_line_is_left_out_and_named(tmp_path: Path) -> None:
    lines = ["item,worker,model,value", "1,w,A,3", "2,w,A," + "9" * 3_000_000, "3,v,A,2"]

    found = read(write(tmp_path, lines))

    assert found.frame["score"].tolist() == [3, 2]
    assert str(found.problems[0]) == "line 3: is longer than 1,000,000 bytes"


# --- The command ------------------------------------------------------------------------------------------------------


def test_the_command_shows_ratings_made_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    frame = drawn_frame(seed=2)
    frame = frame[~frame["is_gold"]].rename(columns={"dialog": "item", "generator": "bot"})
    frame[["item", "worker", "bot", "value"]].to_csv(path, index=False)

    out, told, as_json = io.StringIO(), io.StringIO(), io.StringIO()
    call_command("show_results", "--ratings", str(path), stdout=out, stderr=told)
    call_command("show_results", "--ratings", str(path), "--json", "--labels", stdout=as_json, stderr=io.StringIO())

    assert "Shares of the ratings" in out.getvalue()
    assert "model: bot" in told.getvalue()
    assert "words, best first: good, okay, bad" in told.getvalue()
    found = json.loads(as_json.getvalue())["criteria"][0]
    assert found["size"]["ratings"] == len(frame)
    assert found["is_nominal"]
    with pytest.raises(CommandError, match="either a study or a file"):
        call_command("show_results")


def test_bins_of_a_scale_that_is_known_by_its_ends() -> None:
    assert CriterionScale((), (3.0, 1.0), bins=(3.0, 1.0)).bin_names == ("3", "1")


# --- Published numbers ------------------------------------------------------------------------------------------------


def test_published_means_of_6000_ratings(shared_data: Path) -> None:
    """Means 2.322, 2.556 and 2.577 of human, ChatGPT and ChatGPT told to be empathetic. Nothing has to be mapped."""
    results = read(shared_data / "ratings" / "llm_empathy_ratings.csv").analyse()

    means = [row.mean_score for row in results.main.table]
    # The last is 2.5765 exactly.
    assert [one.value for one in means if isinstance(one, Estimate)] == pytest.approx([2.322, 2.556, 2.577], abs=5.1e-4)
    # Each reply was rated by another person, and the published headline holds: ChatGPT is above the human.
    [table] = results.main.comparisons
    by_pair = {(one.second, one.first): one for one in table.comparisons}
    one, other = by_pair["chatgpt", "human"], by_pair["chatgpt_empathy", "chatgpt"]
    assert isinstance(one.difference, Estimate)
    assert isinstance(one.difference.interval, Interval)
    assert isinstance(one.test, PairTest)
    assert isinstance(other.difference, Estimate)
    assert isinstance(other.difference.interval, Interval)
    ends = (-one.difference.value, -one.difference.interval.high, -one.difference.interval.low)
    assert ends == pytest.approx((0.2340, 0.1783, 0.2897), abs=1e-4)
    error = (ends[2] - ends[1]) / 2 / 1.9653  # t's quantile with several hundred degrees of freedom
    assert error == pytest.approx(0.0283, abs=5e-5)
    assert (one.kind, one.better) == ("unpaired", "chatgpt")
    assert one.test.p_value == pytest.approx(3e-15, rel=0.5)
    ends = (-other.difference.value, -other.difference.interval.high, -other.difference.interval.low)
    assert ends == pytest.approx((0.0205, -0.0349, 0.0759), abs=1e-4)
    assert other.verdict == "not told apart"
    letters = {one.generator: one.letters for one in table.letters}
    assert letters == {"chatgpt_empathy": "a", "chatgpt": "a", "human": "b"}
    assert results.main.agreement[0].raw == Undefined("no reply has ratings by two workers")


def test_one_rating_by_somebody_who_rated_both_does_not_take_the_headline_away(shared_data: Path) -> None:
    frame = read(shared_data / "ratings" / "llm_empathy_ratings.csv").frame
    row = frame[(frame["generator"] == "human").to_numpy()].iloc[[0]]
    more = pd.concat([frame, row.assign(generator="chatgpt")], ignore_index=True)
    more["generator"] = more["generator"].astype(frame["generator"].dtype)
    more["value"] = more["value"].astype(frame["value"].dtype)

    [table] = analyse(more).main.comparisons

    one = next(one for one in table.comparisons if {one.first, one.second} == {"human", "chatgpt"})
    assert (one.kind, one.better, one.size.side_by_side) == ("unpaired", "chatgpt", 1)
    assert {one.generator: one.letters for one in table.letters} == {
        "chatgpt_empathy": "a",
        "chatgpt": "a",
        "human": "b",
    }


@pytest.mark.parametrize(("name", "alpha"), [("context", 0.445), ("fluency", 0.516)])
def test_published_interval_alphas(shared_data: Path, name: str, alpha: float) -> None:
    results = read(shared_data / "ratings" / f"holistic_{name}_data_release.csv").analyse()

    found = results.main.agreement[0].alpha_interval
    assert isinstance(found, Estimate)
    assert round(found.value, 3) == alpha


def test_published_ordinal_alpha_is_very_low(shared_data: Path) -> None:
    results = read(shared_data / "ratings" / "grade_human_judgement.json", "item=ID").analyse()

    [found] = [
        one.alpha_ordinal
        for one in results.main.agreement
        if one.dataset == "empatheticdialogues" and one.generator is None
    ]
    assert isinstance(found, Estimate)
    assert round(found.value, 2) == 0.03


def test_three_criteria_by_two_raters_of_each_line(shared_data: Path) -> None:
    file = shared_data / "ratings" / "ed_selfeval_test_valid.csv"

    results = read(file, is_unidentified=True).analyse()

    with file.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    for one, name in zip(results.criteria, ("empathy", "relevance", "understand"), strict=True):
        values = [float(row[f"rater{rater}_{name}"]) for row in rows for rater in (1, 2) if row[f"rater{rater}_{name}"]]
        assert one.criterion == name
        assert isinstance(one.table[0].mean_score, Estimate)
        assert one.table[0].mean_score.value == pytest.approx(np.mean(values))
        assert one.agreement[0].majorities == sum(row[f"rater1_{name}"] == row[f"rater2_{name}"] for row in rows)
