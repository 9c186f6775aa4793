"""Tables as Markdown and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sojourn.result.tables import Table

__all__ = ["comment", "latex", "latex_text", "markdown", "markdown_text"]

#: What LaTeX reads as commands, and the signs of numbers.
_IN_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "µ": r"$\mu$",
    "−": "$-$",
    "×": r"$\times$",
    "<": "$<$",
    ">": "$>$",
    # LaTeX's default fonts have a dash and a closing quote in their places.
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def markdown(table: Table) -> str:
    """A table with its title above and its notes below, numbers to the right.

    >>> print(markdown(Table((("", "utilisation, %"), ("pi", "99.5")))))
    |  | pi |
    |:---|---:|
    | utilisation, % | 99.5 |
    """
    head, *rows = table.rows
    rule = "|".join([":---", *["---:"] * (len(head) - 1)])
    lines = [_between_bars(head), f"|{rule}|", *map(_between_bars, rows)]
    above = [f"**{markdown_text(table.title)}**", ""] if table.title else []
    below = [line for note in table.notes for line in ("", markdown_text(note))]
    return "\n".join([*above, *lines, *below])


def markdown_text(text: str) -> str:
    r"""Text whose signs are no markup.

    >>> print(markdown_text("tail_drop | <b>"))
    tail\_drop \| \<b>
    """
    return re.sub(r"([\\`*_\[\]<|])", r"\\\1", " ".join(text.split()))


def _between_bars(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(markdown_text, cells))} |"


def latex(table: Table) -> str:
    r"""A `tabular` with the rules of the package booktabs; the title and the notes are comments.

    >>> print(latex(Table((("", "drops, %"), ("tail_drop", "2.1 ± 0.1")))))
    \begin{tabular}{lr}
    \toprule
     & tail\_drop \\
    \midrule
    drops, \% & 2.1 $\pm$ 0.1 \\
    \bottomrule
    \end{tabular}
    """
    head, *rows = table.rows
    lines = [
        *([comment(table.title)] if table.title else []),
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"\toprule",
        _between_ands(head),
        r"\midrule",
        *map(_between_ands, rows),
        r"\bottomrule",
        r"\end{tabular}",
        *map(comment, table.notes),
    ]
    return "\n".join(lines)


def latex_text(text: str) -> str:
    r"""Text as LaTeX prints it.

    >>> print(latex_text("-3 & 5 µs"))
    $-$3 \& 5 $\mu$s
    """
    signs = re.sub(r"^-(?=\d)", "−", text)
    return "".join(_IN_LATEX.get(one, one) for one in signs)


def _between_ands(cells: Sequence[str]) -> str:
    line = " & ".join(map(latex_text, cells))
    # A bracket or an asterisk would belong to the end of the row above.
    return rf"{'{}' if line.startswith(('[', '*')) else ''}{line} \\"


def comment(text: str) -> str:
    """A line that LaTeX skips."""
    return f"% {' '.join(text.split())}"
