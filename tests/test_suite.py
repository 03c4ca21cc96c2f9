"""A test that fails once out of thousands does not make the suite red, and is named; one that fails again does."""

import ast
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.repeated import REPEATED
from tests.suite import MOST_TRIED_AGAIN, PYTEST, Pass, try_failed_again

FAILS_THE_FIRST_TIME = """
def test_that_fails_the_first_time():
    was_here = pathlib.Path("was-here")
    is_first = not was_here.exists()
    was_here.touch()
    assert not is_first
"""
FAILS_ALWAYS = """
@pytest.mark.parametrize("number", range({times}))
def test_that_fails_always(number):
    with open("tries", "a") as tries:
        tries.write("x")
    assert number < 0
"""
CRASHES_THE_FIRST_TIME = """
def test_that_ends_its_process():
    was_here = pathlib.Path("was-here")
    is_first = not was_here.exists()
    was_here.touch()
    if is_first:
        os._exit(1)
"""
IS_NOT_CLEARED_AWAY = """
@pytest.fixture
def left_over():
    yield
    assert pathlib.Path("was-here").exists() or pathlib.Path("was-here").touch()

def test_that_leaves_something(left_over):
    pass
"""
IS_SKIPPED_THE_SECOND_TIME = """
def test_that_is_skipped_the_second_time():
    was_here = pathlib.Path("was-here")
    if was_here.exists():
        pytest.skip("not now")
    was_here.touch()
    assert False
"""
PASSES = """
def test_that_passes():
    with open("passed", "a") as passed:
        passed.write("x")
"""

RunPass = Callable[..., Pass]


@pytest.fixture
def run_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunPass:
    """Runs pytest in a folder of its own with these tests, spread over processes as in the suite."""
    monkeypatch.chdir(tmp_path)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "DJANGO"))}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # loading all of them takes seconds

    def run(*tests: str, before: tuple[str, ...] = ()) -> Pass:
        (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p xdist\n")
        (tmp_path / "test_few.py").write_text("\n".join(["import os, pathlib, pytest", *tests]))
        one = Pass([*PYTEST, "-n", "1"], environment, tmp_path / "cache", before)
        one.run()
        return one

    return run


def test_what_passes_at_the_second_try_is_green_and_named(run_pass: RunPass, tmp_path: Path) -> None:
    one = run_pass(FAILS_THE_FIRST_TIME, PASSES)
    assert not one.is_green

    late = try_failed_again([one])

    assert one.is_green
    assert late == ["test_few.py::test_that_fails_the_first_time"]
    assert (tmp_path / "passed").read_text() == "x"  # what passed is not run again


def test_what_fails_twice_is_red_also_beside_what_does_not(run_pass: RunPass, tmp_path: Path) -> None:
    one = run_pass(FAILS_THE_FIRST_TIME, FAILS_ALWAYS.format(times=1))

    late = try_failed_again([one])

    assert not one.is_green
    assert late == []
    assert (tmp_path / "tries").read_text() == "xx"


def test_many_failures_get_no_second_try(run_pass: RunPass, tmp_path: Path) -> None:
    too_many = MOST_TRIED_AGAIN + 1
    one = run_pass(FAILS_ALWAYS.format(times=too_many))

    assert try_failed_again([one]) == []

    assert not one.is_green
    assert (tmp_path / "tries").read_text() == "x" * too_many


@pytest.mark.parametrize("test", ["this is not Python", "import os; os._exit(1)"], ids=["unreadable", "ended"])
def test_a_pass_that_could_not_run_gets_no_second_try(run_pass: RunPass, test: str) -> None:
    one = run_pass(test)

    assert try_failed_again([one]) == []
    assert not one.is_green


@pytest.mark.parametrize("test", [CRASHES_THE_FIRST_TIME, IS_NOT_CLEARED_AWAY, IS_SKIPPED_THE_SECOND_TIME])
def test_what_did_not_run_or_pass_is_red_though_nothing_fails_the_second_time(run_pass: RunPass, test: str) -> None:
    one = run_pass(test, PASSES)

    assert try_failed_again([one]) == []
    assert not one.is_green


def test_a_server_that_does_not_start_is_red(run_pass: RunPass) -> None:
    one = run_pass(PASSES, before=(sys.executable, "-c", "raise SystemExit(1)"))

    assert try_failed_again([one]) == []
    assert not one.is_green


def test_what_is_repeated_on_postgresql_is_there() -> None:
    for path, listed in REPEATED.items():
        parts = ast.parse((ROOT / path).read_text()).body
        tests = {part.name for part in parts if isinstance(part, ast.FunctionDef)}
        assert isinstance(listed, str) or listed.keys() <= tests, f"tests/repeated.py lists what is not in {path}"
