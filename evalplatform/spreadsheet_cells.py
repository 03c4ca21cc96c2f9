"""Texts in CSV files that spreadsheets open: a cell that begins as a formula would be run by whoever looks at it.

In: a text. Out: the cell to write, or the text that a cell stands for. Guaranteed: no cell begins a formula, and
`text_of(cell_of(text)) == text` for every text. Numbers stay as they are, and so does every text that is no formula.
"""

import re

# OWASP's list. The last four are the wide forms, which spreadsheets in Japanese and Chinese take for the same.
_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def cell_of(text: str) -> str:
    """An apostrophe before a formula, as people write it in a spreadsheet to have text; one more if there are some."""
    return f"'{text}" if _is_formula(text.lstrip("'")) else text


def text_of(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _is_formula(cell.lstrip("'")) else cell


def _is_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)
