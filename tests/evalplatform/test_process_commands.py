"""The commands that pages print start what they say, from a fresh clone."""

from pathlib import Path

from evalplatform import process_commands

ROOT = Path(__file__).resolve().parents[2]


def test_the_guides_print_the_commands_that_pages_print() -> None:
    assert f"    {process_commands.BACKGROUND}\n" in (ROOT / "docs" / "first-study.md").read_text()
    assert f"    {process_commands.SCHEDULER} " in (ROOT / "docs" / "settings.md").read_text()


def test_each_command_is_a_program_that_the_make_file_installs() -> None:
    for command in (process_commands.BACKGROUND, process_commands.SCHEDULER):
        program = command.split()[0]
        assert program.startswith(".venv/bin/")
        assert (ROOT / program).exists()
