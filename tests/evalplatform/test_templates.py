"""Templates are read by people: no line is longer than a screen is wide."""

from tests.conftest import ROOT

LONGEST = 160


def test_no_line_of_a_template_is_too_long() -> None:
    templates = sorted((ROOT / "frontend" / "templates").rglob("*.html"))
    found = [
        f"{path.relative_to(ROOT)}:{number}: {len(line)} characters"
        for path in templates
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > LONGEST
    ]

    assert templates
    assert found == []
