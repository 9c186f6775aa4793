"""Texts as parts of names of files."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Longest part of a file's name for a qdisc or a subject, bytes.
_LONGEST = 60


def part_of_name(text: str) -> str:
    """A text as a part of a file's name.

    >>> part_of_name("pi:target=100 packets")
    'pi-target-100-packets'
    """
    return re.sub(r"[^A-Za-z0-9_.+-]+", "-", text).strip("-.")[:_LONGEST] or "unnamed"


def parts_of_names(texts: Sequence[str]) -> list[str]:
    """Texts as parts of names of files, each once.

    >>> parts_of_names(["pi:target=100 packets", "pi:target=100_packets", "pi:target=100-packets"])
    ['pi-target-100-packets', 'pi-target-100_packets', 'pi-target-100-packets-2']
    """
    names = [part_of_name(text) for text in texts]
    counts = [names[:place].count(name) for place, name in enumerate(names)]
    return [f"{name}-{count + 1}" if count else name for name, count in zip(names, counts, strict=True)]
