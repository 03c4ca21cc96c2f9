"""Write texts into CSV cells so that no spreadsheet runs them as a formula.

In: a text. Out: the cell to write, or the text that a cell stands for. Guaranteed: no cell begins a formula, and
`text_of(cell_of(text)) == text` for every text. Numbers and texts that are not formulas stay as they are.
"""

import re

# This is OWASP's list. The last four are the full-width forms, which Japanese and Chinese spreadsheets treat the same.
_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def cell_of(text: str) -> str:
    """Put an apostrophe before a formula, as people do in a spreadsheet to get text, also if it begins with some."""
    return f"'{text}" if _is_formula(text.lstrip("'")) else text


def text_of(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _is_formula(cell.lstrip("'")) else cell


def _is_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)
