r"""Equations as MathML, which browsers render without script, fonts or network.

A number is written as in LaTeX, `\tag{3}`.
"""

from __future__ import annotations

import re
from html import escape

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.writers.html5 import HTML5Translator

_TAG = re.compile(r"\\tag\{([^}]*)\}")


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """An equation within a line."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """An equation on a line of its own, its number at the right."""
    text = node.astext()
    number = _TAG.search(text)
    drawn = tex2mathml(_TAG.sub("", text).strip(), as_block=True)
    label = f'<span class="number">({escape(number[1])})</span>' if number else ""
    translator.body.append(f'<div class="math">{drawn}{label}</div>\n')
    raise nodes.SkipNode
