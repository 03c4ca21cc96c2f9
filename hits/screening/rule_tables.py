"""Writes the tables of screening rules in docs/ from each rule's docstring and default settings."""

import re
from collections.abc import Iterable

from hits.models.screening_rule import ScreeningRule
from hits.screening.rules import every_rule

PAGES_WITH_RULES = ("docs/screening.md", "docs/studies.md")  # pages that have the markers below


def with_rule_tables(text: str) -> str:
    """Return the page with everything between `<!-- rules: NAME -->` and `<!-- end of rules -->` written anew."""
    by_default = [rule for rule in every_rule() if rule.is_default]
    further = [rule for rule in every_rule() if not rule.is_default]
    made = {
        "by default": f"\n{_table(by_default)}\n",
        "further": f"\n{_table(further)}\n",
        "names by default": ", ".join(f"`{rule.rule}` ({_settings(rule, mark='')})" for rule in by_default),
    }
    found = re.compile(r"(<!-- rules: ([a-z ]+) -->).*?(<!-- end of rules -->)", re.DOTALL)
    return found.sub(lambda match: match[1] + made[match[2]] + match[3], text)


def _table(rules: Iterable[ScreeningRule]) -> str:
    lines = ["| rule | settings | what it does | how it looks |", "|---|---|---|---|"]
    for rule in rules:
        first, *rest = rule.paragraphs()
        lines.append(f"| `{rule.rule}` | {_settings(rule)} | {first} | {' '.join(rest)} |")
    return "\n".join(lines)


def _settings(rule: ScreeningRule, mark: str = "`") -> str:
    return ", ".join(
        f"{mark}{name}{mark} {value if isinstance(value, str) else f'{value:g}'}"
        for name, value in rule.parameters.items()
    )
