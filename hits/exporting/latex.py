"""LaTeX that compiles, whatever the names in it are."""

from collections.abc import Iterable, Sequence

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "→": r"$\rightarrow$", "–": "--", "—": "---", "…": r"\dots{}",
    "’": "'", "‘": "`", "“": "``", "”": "''", "\n": " ", "\t": " ",
    "[": "{[}", "]": "{]}", "*": "{*}",  # at the beginning of a row they would be options of the line break before it
}  # fmt: skip
KNOWN = range(0xA0, 0x180)  # letters that LaTeX knows with T1 fonts

PACKAGES = r"""\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\usepackage{booktabs}"""


def escape(text: str) -> str:
    """A character that LaTeX does not know would stop it: its number stands for it."""
    return "".join(SPECIAL.get(letter) or _known(letter) for letter in text)


def _known(letter: str) -> str:
    if letter.isascii() or (ord(letter) in KNOWN and letter.isalpha()):
        return letter if letter.isprintable() else " "
    return f"{{[}}U+{ord(letter):04X}{{]}}"


def table(
    caption: str, label: str, columns: str, head: Sequence[str], groups: Iterable[tuple[str, Sequence[Sequence[str]]]]
) -> str:
    """Of cells that are LaTeX already. A group has a heading, unless that is empty, and rows."""
    lines = [r"\begin{table}[t]", r"\centering", r"\small", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines.append(" & ".join(head) + r" \\")
    for heading, rows in groups:
        lines.append(r"\midrule")
        if heading:
            lines.append(rf"\multicolumn{{{len(head)}}}{{l}}{{\textit{{{heading}}}}} \\")
        lines += [" & ".join(row) + r" \\" for row in rows]
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}", rf"\label{{tab:{label}}}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def document(parts: Iterable[str]) -> str:
    """A file that compiles and takes the tables in."""
    body = "\n".join(rf"\input{{{part}}}" for part in parts)
    paper = r"\usepackage[margin=2cm]{geometry}"
    return f"\\documentclass{{article}}\n{PACKAGES}\n{paper}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
