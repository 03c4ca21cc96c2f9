"""Lists the methods that a bundle's texts may cite, and writes citations for Markdown and LaTeX, and the .bib file.

In a text, a citation is written [@holm] or [@holm; @piepho]. In Markdown it becomes (Holm, 1979), in LaTeX
\\citep{holm}. The .bib file has what the text cites, and nothing else.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hits.exporting.latex import escape


@dataclass(frozen=True)
class Reference:
    """`short` is how a text names the authors; `fields` are those of BibTeX, as they stand in the file."""

    short: str
    year: int
    kind: str
    fields: dict[str, str]


def _article(authors: str, year: int, title: str, journal: str, place: str, short: str) -> Reference:
    """`place` is volume(number):pages, as in 6(2):65--70."""
    found = re.fullmatch(r"(\d+)(?:\(([\d/]+)\))?:(.+)", place)
    if found is None:
        raise ValueError(f"{place!r} is no volume, number and pages.")
    volume, number, pages = found.groups()
    fields = {"author": authors, "title": title, "journal": journal, "volume": volume}
    return Reference(short, year, "article", {**fields, **({"number": number} if number else {}), "pages": pages})


REFERENCES = {
    "banerjee": _article(
        *("Banerjee, S. K.", 1960),
        "Approximate Confidence Interval for Linear Functions of Means of k Populations When the Population Variances "
        "are not Equal",
        *("Sankhy{\\=a}", "22(3/4):357--358", "Banerjee"),
    ),
    "bradley": _article(
        *("Bradley, Ralph Allan and Terry, Milton E.", 1952),
        "Rank Analysis of Incomplete Block Designs: {I}. {T}he Method of Paired Comparisons",
        *("Biometrika", "39(3/4):324--345", "Bradley and Terry"),
    ),
    "cameron": _article(
        *("Cameron, A. Colin and Gelbach, Jonah B. and Miller, Douglas L.", 2011),
        "Robust Inference with Multiway Clustering",
        *("Journal of Business \\& Economic Statistics", "29(2):238--249", "Cameron et al."),
    ),
    "chung": _article(
        *("Chung, EunYi and Romano, Joseph P.", 2013),
        "Exact and Asymptotically Robust Permutation Tests",
        *("The Annals of Statistics", "41(2):484--507", "Chung and Romano"),
    ),
    "davidson": _article(
        *("Davidson, Roger R.", 1970),
        "On Extending the {B}radley-{T}erry Model to Accommodate Ties in Paired Comparison Experiments",
        *("Journal of the American Statistical Association", "65(329):317--328", "Davidson"),
    ),
    "dawid": _article(
        *("Dawid, A. P. and Skene, A. M.", 1979),
        "Maximum Likelihood Estimation of Observer Error-Rates Using the {EM} Algorithm",
        *("Journal of the Royal Statistical Society. Series C (Applied Statistics)", "28(1):20--28"),
        "Dawid and Skene",
    ),
    "fleiss": _article(
        *("Fleiss, Joseph L.", 1971),
        "Measuring Nominal Scale Agreement among Many Raters",
        *("Psychological Bulletin", "76(5):378--382", "Fleiss"),
    ),
    "hoenig": _article(
        *("Hoenig, John M. and Heisey, Dennis M.", 2001),
        "The Abuse of Power: The Pervasive Fallacy of Power Calculations for Data Analysis",
        *("The American Statistician", "55(1):19--24", "Hoenig and Heisey"),
    ),
    "holm": _article(
        *("Holm, Sture", 1979),
        "A Simple Sequentially Rejective Multiple Test Procedure",
        *("Scandinavian Journal of Statistics", "6(2):65--70", "Holm"),
    ),
    "howard": _article(
        *("Howard, Steven R. and Ramdas, Aaditya and McAuliffe, Jon and Sekhon, Jasjeet", 2021),
        "Time-Uniform, Nonparametric, Nonasymptotic Confidence Sequences",
        *("The Annals of Statistics", "49(2):1055--1080", "Howard et al."),
    ),
    "krippendorff": Reference(
        "Krippendorff",
        2018,
        "book",
        {
            "author": "Krippendorff, Klaus",
            "title": "Content Analysis: An Introduction to Its Methodology",
            "edition": "Fourth",
            "publisher": "SAGE Publications",
        },
    ),
    "piepho": _article(
        *("Piepho, Hans-Peter", 2004),
        "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons",
        *("Journal of Computational and Graphical Statistics", "13(2):456--466", "Piepho"),
    ),
    "robbins": _article(
        *("Robbins, Herbert", 1970),
        "Statistical Methods Related to the Law of the Iterated Logarithm",
        *("The Annals of Mathematical Statistics", "41(5):1397--1409", "Robbins"),
    ),
    "satterthwaite": _article(
        *("Satterthwaite, F. E.", 1946),
        "An Approximate Distribution of Estimates of Variance Components",
        *("Biometrics Bulletin", "2(6):110--114", "Satterthwaite"),
    ),
    "xie": Reference(
        "Xie and Pu",
        2021,
        "inproceedings",
        {
            "author": "Xie, Yubo and Pu, Pearl",
            "title": "Empathetic Dialog Generation with Fine-Grained Intents",
            "booktitle": "Proceedings of the 25th Conference on Computational Natural Language Learning",
            "pages": "133--147",
        },
    ),
}
_CITATION = re.compile(r" ?\[((?:@\w+)(?:; @\w+)*)\]")


def cited_in(text: str) -> list[str]:
    """Return the keys of what a text cites, each once, in the order of the alphabet."""
    return sorted({key for found in _CITATION.finditer(text) for key in _keys(found)})


def cite_in_markdown(text: str) -> str:
    """
    >>> cite_in_markdown("corrected by Holm's method [@holm]")
    "corrected by Holm's method (Holm, 1979)"
    """

    def cite(found: re.Match[str]) -> str:
        return f" ({'; '.join(f'{REFERENCES[key].short}, {REFERENCES[key].year}' for key in _keys(found))})"

    return _CITATION.sub(cite, text)


def cite_in_latex(text: str) -> str:
    """Escape a text for LaTeX and write its citations with natbib's \\citep.

    >>> print(cite_in_latex("95% of [@holm; @piepho]"))
    95\\% of~\\citep{holm,piepho}
    """
    parts, place = [], 0
    for found in _CITATION.finditer(text):
        parts += [escape(text[place : found.start()]), rf"~\citep{{{','.join(_keys(found))}}}"]
        place = found.end()
    return "".join([*parts, escape(text[place:])])


def bibliography(text: str) -> str:
    """Write the .bib file of what a text cites."""
    return "\n".join(_entry(key, REFERENCES[key]) for key in cited_in(text))


def _entry(key: str, one: Reference) -> str:
    lines = [f"  {name} = {{{value}}}," for name, value in {**one.fields, "year": str(one.year)}.items()]
    return "\n".join([f"@{one.kind}{{{key},", *lines, "}", ""])


def _keys(found: re.Match[str]) -> Sequence[str]:
    return [key.removeprefix("@") for key in found[1].split("; ")]
