"""Commands that refuse what typer lets pass: a flag with a value given twice, and words that are no text.

Of two values one would be dropped without a word.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand, TyperOption

from sojourn.errors import InputError

__all__ = ["Command"]

#: Parameters that name files, which may hold bytes that are no text.
_FILES = ("file", "folder", "out", "output")


class Command(TyperCommand):
    """A command whose flags with a value are given once, unless they collect their values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as typer does, and look at what came of it. Raises `InputError` with one line."""
        given = list(args)
        rest = super().parse_args(ctx, args)
        _, _, order = self.make_parser(ctx).parse_args(args=given)
        for one, times in Counter(order).items():
            single = isinstance(one, TyperOption) and not (one.multiple or one.is_flag)
            if single and times > 1:
                raise InputError(f"{ctx.command_path}: {_called(one)}: is given {times} times; legal: once")
            if one.name not in _FILES:
                _check_text(ctx.params.get(one.name), f"{ctx.command_path}: {_called(one)}")
        return rest


def _called(one: Any) -> str:
    """A parameter as its help calls it."""
    return max(one.opts, key=len) if isinstance(one, TyperOption) else str(one.metavar)


def _check_text(value: object, place: str) -> None:
    """Refuse bytes that are no text; of a law in a file, the name of the file may hold them."""
    for word in value if isinstance(value, list | tuple) else [value]:
        if isinstance(word, str) and ".py" not in word:
            try:
                word.encode()
            except UnicodeEncodeError:
                raise InputError(f"{place}: {word!a} is not text; expected UTF-8") from None
