"""A bundle that was cut, garbled or tampered with: check_bundle says so in lines, and never in a stack trace."""

import json
import random
import re
import shutil
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from hits.exporting import RATINGS_FILES, export_bundle
from hits.models import Study, offering_for
from tests.hits.controlled import built
from tests.hits.rated import rate


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bundles") / "whole"


@pytest.fixture
def folder(whole: Path, tmp_path: Path, demo_study: Study) -> Path:
    """A copy of a bundle that is made once."""
    if not whole.exists():
        rate(demo_study, hits=2)
        export_bundle(offering_for(demo_study, "local"), whole)
    return Path(shutil.copytree(whole, tmp_path / "bundle"))


def complaints(folder: Path, ratings: str = RATINGS_FILES[0]) -> list[str]:
    with pytest.raises(CommandError) as refused:
        call_command("check_bundle", folder, ratings=ratings)
    lines = str(refused.value).splitlines()
    assert not [line for line in lines if len(line) > 400]
    return lines


def test_the_bundle_was_whole(folder: Path) -> None:
    call_command("check_bundle", folder)


@pytest.mark.parametrize("how", ["cut", "garbled", "missing", "renamed", "empty", "a folder", "other bytes"])
def test_every_damage_to_every_file_is_told(folder: Path, how: str) -> None:
    for name in [
        *RATINGS_FILES,
        "bundle.json",
        "results.json",
        "sha256sums.txt",
        "tables/table5.tex",
        "manifest.jsonl",
    ]:
        kept = (folder / name).read_bytes()
        _damage(folder / name, how)

        told = complaints(folder, name if name in RATINGS_FILES else RATINGS_FILES[0])

        assert any(Path(name).name in line for line in told), (name, told)
        _put_back(folder / name, kept)


def _damage(file: Path, how: str) -> None:
    content = file.read_bytes()
    noise = random.Random(1).randbytes(len(content))
    if how in ("missing", "renamed", "a folder"):
        file.rename(file.with_name("elsewhere")) if how == "renamed" else file.unlink()
        if how == "a folder":
            file.mkdir()
        return
    middle = len(content) // 2
    written = {
        "cut": content[:middle],
        "garbled": content[:middle] + noise[: len(content) // 4] + content[middle:],
        "empty": b"",
        "other bytes": noise,
    }
    file.write_bytes(written[how])


def _put_back(file: Path, content: bytes) -> None:
    if file.is_dir():
        file.rmdir()
    file.with_name("elsewhere").unlink(missing_ok=True)
    file.write_bytes(content)


@pytest.mark.parametrize(
    "changes",
    [
        {"values": []}, {"values": ["good"]}, {"values": None}, {"datasets": []}, {"generators": []}, {"seed": -1},
        {"seed": 2**70}, {"seed": 2}, {"rules": ["other"]}, {"metrics": {"bleu": "1"}}, {"metrics": {"x/../y": "1"}},
        {"ratings": -1}, {"ratings": "many"}, {"funnel": []}, {"format": 99}, {"columns": []}, {"more": 1},
    ],
    ids=str,
)  # fmt: skip
def test_a_bundle_json_of_another_shape_is_told(folder: Path, changes: dict[str, object]) -> None:
    file = folder / "bundle.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))

    assert any("bundle.json" in line for line in complaints(folder))


@pytest.mark.parametrize(
    "text", ["[]", "null", "1", '"x"', "[" * 50_000, '{"a": ' * 50_000, "\ud83d"], ids=lambda text: ascii(text)[:8]
)
def test_json_of_any_shape_is_told(folder: Path, text: str) -> None:
    for name in ("results.json", "bundle.json"):
        kept = (folder / name).read_bytes()
        (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        assert complaints(folder)
        (folder / name).write_bytes(kept)


@pytest.mark.parametrize(
    ("pattern", "instead"),
    [
        (r'"good",3', '"good",'), (r'"good",3', '"good",99999'), (r'"good",3', ",3"), (r'"worker"', '"labourer"'),
        (r"T\d\d:", "T99:"), (r"true", "maybe"), (r'"W-\w+"', ""), (r"\n\d+,", "\nx,"), (r'"', "'"), (r",", ";"),
    ],
)  # fmt: skip
def test_ratings_that_say_what_none_can_are_told(folder: Path, pattern: str, instead: str) -> None:
    file = folder / "ratings.csv"
    file.write_text(re.sub(pattern, instead, file.read_text()))

    assert any("ratings.csv" in line for line in complaints(folder))


def test_no_folder_is_told(tmp_path: Path) -> None:
    assert "is no bundle" in complaints(tmp_path / "nowhere")[0]


@pytest.mark.usefixtures("example_corpus")
def test_answers_of_repeats_that_none_can_give_are_told(tmp_path: Path) -> None:
    study = built("areas")
    rate(study, hits=1)
    folder = tmp_path / "bundle"
    export_bundle(offering_for(study, "local"), folder)
    file = folder / "repeats.csv"
    whole = file.read_text()
    head, first, *_ = whole.splitlines()
    odd = [
        *(first.replace(",good,", f",{value},").replace(",bad,", f",{value},") for value in ("terrible", "nan", '"')),
        *(first.replace("overall", "wit"), f"{'9' * 30}{first[1:]}", f"{first},more", ",", "1.5" + first[1:]),
    ]

    for text in ("", "\n", head, "a,b\n1,2\n", "\0", *(f"{head}\n{line}\n" for line in odd)):
        file.write_text(text)
        assert any("repeats.csv" in line for line in complaints(folder)), text
    file.write_bytes(b"\xff\xfe")
    assert any("repeats.csv" in line for line in complaints(folder))
