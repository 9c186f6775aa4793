"""Kinds of entries of the catalogue, in the order of `sojourn list`; the command line needs no more of it."""

from __future__ import annotations

__all__ = ["KINDS"]

KINDS = (
    "laws",
    "qdiscs",
    "ccs",
    "apps",
    "links",
    "impairments",
    "profiles",
    "settings",
    "metrics",
    "window_metrics",
)
