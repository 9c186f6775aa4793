"""Matplotlib's SVG in fewer characters: the same picture, to a tenth of a unit.

Half of a page is still pictures, and most of these are absolute coordinates, names of groups to which nothing
refers, and fonts that the page replaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

#: Decimal places of coordinates: a tenth of a unit is finer than a pixel.
PLACES = 1
#: Markers in a row that stay as they are.
FEW = 3

# Names of Matplotlib's own: figure_1, line2d_12, and hashes of markers and clips.
_OWN = re.compile(r"_\d+$|^[a-z][0-9a-f]{10}$|^[a-zA-Z][0-9a-f]+_[0-9a-f]+_[0-9a-f]{10}$")
# A marker: shape, position, look and clip; and many in a row.
_USE = re.compile(r'<use href="#([^"]+)" x="([^"]+)" y="([^"]+)"( style="[^"]*")?( clip-path="[^"]*")?/>')
_USES = re.compile(r"(?:<use[^>]*/>){3,}")
_NUMBER = re.compile(r"-?[0-9.]+")


def compact(svg: str) -> str:
    """The text of an SVG of Matplotlib, shorter."""
    svg = re.sub(r'(<path[^>]*? d=")([^"]*)', lambda found: found[1] + _path(found[2]), svg)
    svg = re.sub(r"<[^>]+>", _tag, svg)
    svg = _groups(_names(re.sub(r">\s+<", "><", svg)))
    return _many_markers(svg)


def _tag(found: re.Match[str]) -> str:
    """One tag without the families of fonts, rotations by nothing, and digits that no pixel shows."""
    tag = re.sub(r' transform="rotate\(-?0 [^"]*"', "", found[0])
    tag = re.sub(r"\bfont-family: [^;\"]*(?:; )?", "", tag)
    tag = re.sub(r"(opacity: [0-9.]+)|(\d+\.\d{2,})", _rounded, tag)
    # The page has round joins and butt caps.
    tag = re.sub(r"; stroke-linejoin: (?:miter|round)|; stroke-linecap: (?:square|butt)", "", tag)
    tag = re.sub(r'style="([^"]*)"', lambda style: re.sub(r"([:;]) ", r"\1", style[0]), tag)
    return re.sub(r"(\d)\.0(?=[ ;\"])", r"\1", tag).replace("xlink:href", "href")


def _rounded(found: re.Match[str]) -> str:
    return found[1] or _decimal(round(float(found[2]) * 10**PLACES))


def _names(svg: str) -> str:
    """Without Matplotlib's ids, or with shorter ones where something refers to them."""
    tags = "".join(re.findall(r"<[^>]+>", svg))
    used = dict.fromkeys(re.findall(r'(?:url\(#|href="#)([^)"]+)', tags))
    short = {name: f"n{place}" for place, name in enumerate(filter(_OWN.search, used))}

    def named(found: re.Match[str]) -> str:
        name = found[1]
        return "" if _OWN.search(name) and name not in short else f' id="{short.get(name, name)}"'

    def renamed(tag: re.Match[str]) -> str:
        text = re.sub(r' id="([^"]+)"', named, tag[0])
        return re.sub(r'(url\(#|href="#)([^)"]+)', lambda one: one[1] + short.get(one[2], one[2]), text)

    return re.sub(r"<[^>]+>", renamed, svg)


def _many_markers(svg: str) -> str:
    """Each row of markers of one look as a path with a marker at its corners."""
    shapes = dict(re.findall(r'<path id="([^"]+)"( [^>]*)/>', svg))
    made: dict[tuple[str, str], str] = {}

    def drawn(found: re.Match[str]) -> str:
        text = ""
        for (shape, style, clip), run in groupby(_USE.finditer(found[0]), lambda one: one.group(1, 4, 5)):
            markers = list(run)
            if len(markers) < FEW or shape not in shapes:
                text += "".join(one[0] for one in markers)
                continue
            look = style or ""
            name = made.get((shape, look))
            if name is None:
                name = made[shape, look] = f"k{len(made)}"
                text += (
                    f'<marker id="{name}" overflow="visible" markerUnits="userSpaceOnUse"{look}>'
                    f"<path{shapes[shape]}/></marker>"
                )
            path = _path("M " + " L ".join(f"{one[2]} {one[3]}" for one in markers))
            text += f'<path d="{path}" style="fill:none;stroke:none;marker:url(#{name})"{clip or ""}/>'
        return text

    return _USES.sub(drawn, svg)


def _groups(svg: str) -> str:
    """Without empty groups, and groups about one element alone."""
    before = ""
    while svg != before:
        before = svg
        svg = re.sub(r"<g(?: [^>]*)?/>|<g></g>|<defs></defs>|<defs/>", "", svg)
        svg = re.sub(r"<g>(<(?:path|use)[^>]*/>|<text[^>]*>[^<]*</text>)</g>", r"\1", svg)
    return svg


def _path(data: str) -> str:
    """A path of absolute moves, lines, curves and closings, in relative coordinates.

    Positions are rounded first, so that errors do not add up.
    """
    return "".join(_commands(data))


def _commands(data: str) -> Iterator[str]:
    x = y = first_x = first_y = 0
    last = ""
    for command, text in re.findall(r"([MLQCz])([^MLQCz]*)", data):
        if command == "z":
            x, y, last = first_x, first_y, "z"
            yield "z"
            continue
        numbers = [round(float(number) * 10**PLACES) for number in _NUMBER.findall(text)]
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        if command == "M":
            ((x, y),) = points
            first_x, first_y, last = x, y, "M"
            yield "M" + _joined([x, y])
            continue
        moves = [(to_x - x, to_y - y) for to_x, to_y in points]
        x, y = points[-1]
        if command == "L":
            ((across, down),) = moves
            if down == 0 or across == 0:
                name, values = ("h", [across]) if down == 0 else ("v", [down])
            else:
                name, values = "l", [across, down]
        else:
            name, values = command.lower(), [value for move in moves for value in move]
        joined = _joined(values)
        yield (joined if joined[0] == "-" else f" {joined}") if name == last else name + joined
        last = name


def _joined(values: list[int]) -> str:
    """Numbers of tenths, with a space only where no sign parts them."""
    text = ""
    for value in values:
        number = _decimal(value)
        text += number if not text or number[0] == "-" else f" {number}"
    return text


def _decimal(value: int) -> str:
    whole, part = divmod(abs(value), 10**PLACES)
    digits = (f"{whole}.{part}" if whole else f".{part}") if part else str(whole)
    return f"-{digits}" if value < 0 else digits
