"""Sphinx extension of these pages: inserted facts, and equations as MathML."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from sojourn_docs import inserts, mathml


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension; called by Sphinx."""
    app.connect("config-inited", inserts.prepare)
    app.connect("source-read", inserts.fill)
    app.connect("autodoc-process-docstring", inserts.shorten_law)
    app.add_html_math_renderer("mathml", (mathml.inline, None), (mathml.block, None))
    return {"parallel_read_safe": False}
