"""Writes LaTeX that compiles, whatever names stand in it."""

from collections.abc import Iterable, Sequence

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "→": r"$\rightarrow$", "–": "--", "—": "---", "…": r"\dots{}",
    "τ": r"$\tau$", "²": r"$^2$", "−": "$-$", "±": r"$\pm$",
    "’": "'", "‘": "`", "“": "``", "”": "''", "\n": " ", "\t": " ",
    "[": "{[}", "]": "{]}", "*": "{*}",  # at the start of a row, LaTeX takes them for options of the line break before
}  # fmt: skip
KNOWN = range(0xA0, 0x180)  # letters that LaTeX knows with T1 fonts
LIGATURES = {"--", "?`", "!`", ",,", "``", "''"}  # T1 fonts would set each as one other sign, such as a dash

PACKAGES = r"""\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\usepackage{booktabs}"""
FEW_COLUMNS = 6  # that fit beside each other as far apart as usual
NARROW = r"\setlength{\tabcolsep}{4pt}"


def escape(text: str) -> str:
    """Escape a name. A character that LaTeX does not know would stop it, so its number is written instead."""
    parts = [SPECIAL.get(letter) or _letter_or_number(letter) for letter in text]
    apart = ["{}" if text[at : at + 2] in LIGATURES else "" for at in range(len(text))]
    return "".join(part for pair in zip(parts, apart, strict=True) for part in pair)


def _letter_or_number(letter: str) -> str:
    if letter.isascii() or (ord(letter) in KNOWN and letter.isalpha()):
        return letter if letter.isprintable() else " "
    return f"{{[}}U+{ord(letter):04X}{{]}}"


MOST_LINES = 44  # of a table that fits on a page, with its caption


def table(
    caption: str, label: str, columns: str, head: Sequence[str], groups: Iterable[tuple[str, Sequence[Sequence[str]]]]
) -> str:
    """Make a table from cells that are LaTeX already. A group is a heading, which may be empty, and its rows. A table
    that would not fit on a page becomes several: a float never breaks, and a longtable works in one column only."""
    parts: list[list[str]] = [[]]

    def add(lines: Sequence[str], kept_with: int = 1) -> None:
        if parts[-1] and len(parts[-1]) + len(lines) + kept_with > MOST_LINES:
            parts.append([])
        parts[-1].extend(lines)

    for heading, rows in groups:
        titled = [rf"\multicolumn{{{len(head)}}}{{l}}{{\textit{{{heading}}}}} \\"] if heading else []
        again = [rf"\multicolumn{{{len(head)}}}{{l}}{{\textit{{{heading} (continued)}}}} \\"] if heading else []
        add([r"\midrule", *titled], min(3, len(rows)))
        for row in rows:
            if len(parts[-1]) >= MOST_LINES:
                parts.append([r"\midrule", *again])
            parts[-1].append(_row(row))
    spacing = NARROW if len(head) > FEW_COLUMNS else ""
    made = [_wrap_table(caption, label, columns, [_row(head), *parts[0]], spacing)]
    for number, lines in enumerate(parts[1:], start=2):
        continued = rf"Continued from Table~\ref{{tab:{label}}}."
        made.append(_wrap_table(continued, f"{label}-{number}", columns, [_row(head), *lines], spacing))
    return "\n".join(made)


def table_side_by_side(
    caption: str,
    label: str,
    head: Sequence[str],
    blocks: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]],
) -> str:
    """Make a table from cells that are LaTeX already. A block has headings, each above its own columns, which `head`
    names, and rows that begin with a name. Blocks stand below each other, on several pages if they have to."""
    width = max(len(headings) for headings, _ in blocks) * len(head)
    parts: list[list[str]] = [[]]
    for headings, rows in blocks:
        above = [_row(["", *(rf"\multicolumn{{{len(head)}}}{{c}}{{{heading}}}" for heading in headings)])]
        starts = range(2, 2 + len(headings) * len(head), len(head))
        above.append("".join(rf"\cmidrule(lr){{{start}-{start + len(head) - 1}}}" for start in starts))
        above += [_row(["Model", *list(head) * len(headings)]), r"\midrule"]
        for at in range(0, len(rows), MOST_LINES):
            some = rows[at : at + MOST_LINES]
            if parts[-1] and len(parts[-1]) + len(some) > MOST_LINES:
                parts.append([])
            parts[-1] += [*([r"\midrule"] if parts[-1] else []), *above, *map(_row, some)]
    columns = "l" + "c" * width
    made = [_wrap_table(caption, label, columns, parts[0], NARROW)]
    for number, lines in enumerate(parts[1:], start=2):
        continued = rf"Continued from Table~\ref{{tab:{label}}}."
        made.append(_wrap_table(continued, f"{label}-{number}", columns, lines, NARROW))
    return "\n".join(made)


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _wrap_table(caption: str, label: str, columns: str, lines: Sequence[str], spacing: str = "") -> str:
    begin = [r"\begin{table}[t]", r"\centering", r"\small", spacing, rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    end = [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", rf"\label{{tab:{label}}}", r"\end{table}"]
    return "\n".join(line for line in (*begin, *lines, *end) if line) + "\n"


def mark_table(text: str, warning: str) -> str:
    """Say the warning in a table's caption, which stands in the paper, and in a comment, which the authors see."""
    bold = rf"\caption{{\textbf{{{escape(warning)}.}} "
    return f"% {warning}\n{text}".replace(r"\caption{", bold)


def document(parts: Iterable[str]) -> str:
    """Make a document that compiles by itself and includes the tables."""
    body = "\n".join(rf"\input{{{part}}}" for part in parts)
    paper = r"\usepackage[margin=2cm]{geometry}"
    return f"\\documentclass{{article}}\n{PACKAGES}\n{paper}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
