"""The document of a page: one file that needs no other and no network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from sojourn.plot import style

__all__ = ["asset", "document"]

# A page may load nothing, from nowhere, and run only its own scripts: the browser enforces this.
POLICY = "default-src 'none'; {}style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

# Colours of a dark page.
NIGHT = {
    "paper": "#14171b",
    "raised": "#1c2026",
    "ink": "#e8eaed",
    "muted": "#9aa4ae",
    "rule": "#333a42",
    "warning": "#ffb084",
}


def document(
    title: str,
    body: Iterable[str],
    *,
    styles: str = "",
    head: str = "",
    data: str = "",
    scripts: Sequence[str] = (),
) -> str:
    """The whole text. Empty parts of the body are left out.

    `styles` follow the style sheet, `head` are further elements of the head, and `data` elements behind the
    body, before the `scripts`.
    """
    allowed = f"script-src {' '.join(map(_hash, scripts))}; " if scripts else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY.format(allowed)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="generator" content="Sojourn">\n'
        f"{head}<title>{escape(title)}</title>\n<style>\n{_sheet()}{styles}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in body if part)
        + f"\n</main>\n{data}"
        + "".join(f"<script>{script}</script>\n" for script in scripts)
        + "</body>\n</html>\n"
    )


def asset(name: str) -> str:
    """Text of a file of this package."""
    return files("sojourn.report").joinpath(name).read_text(encoding="utf-8")


def _sheet() -> str:
    """UPlot's style sheet, then ours with the colours of light and dark pages."""
    day = {"paper": style.PAPER, "ink": style.INK, "muted": style.MUTED, "rule": style.RULE}
    day |= {f"qdisc-{place}": colour for place, colour in enumerate(style.PALETTE)}
    night = NIGHT | {f"qdisc-{place}": colour for place, colour in enumerate(style.PALETTE_ON_DARK)}
    text = asset("page.css")
    for mark, colours in (("light page", day), ("dark page", night)):
        lines = "".join(f"  --{name}: {colour};\n" for name, colour in colours.items())
        text = text.replace(f"/* colours of the {mark} */\n", lines)
    return asset("vendor/uPlot.min.css") + "\n" + text


def _hash(script: str) -> str:
    """Source expression of a script (Content Security Policy Level 3, section 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
