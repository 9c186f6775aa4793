"""Refusal of what typer accepts silently: a flag with a value given twice, arguments that are no UTF-8."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand, TyperOption

from sojourn.errors import InputError

__all__ = ["Command"]

#: Parameters that name files, whose names may hold any bytes.
_FILES = ("file", "folder", "places", "left", "right", "out", "output")


class Command(TyperCommand):
    """A command whose flags with a value may be given once, unless they collect their values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as typer does, then check the result. Raises `InputError` with one line."""
        given = list(args)
        rest = super().parse_args(ctx, args)
        _, _, order = self.make_parser(ctx).parse_args(args=given)
        for one, times in Counter(order).items():
            single = isinstance(one, TyperOption) and not (one.multiple or one.is_flag)
            if single and times > 1:
                raise InputError(f"{ctx.command_path}: {_called(one)}: is given {times} times; expected once")
            if one.name not in _FILES:
                _check_text(ctx.params.get(one.name), f"{ctx.command_path}: {_called(one)}")
        return rest


def _called(one: Any) -> str:
    """Name of a parameter as in its help."""
    return max(one.opts, key=len) if isinstance(one, TyperOption) else str(one.metavar)


def _check_text(value: object, place: str) -> None:
    """Refuse bytes that are not UTF-8, except in the file name of a law."""
    for word in value if isinstance(value, list | tuple) else [value]:
        if isinstance(word, str) and ".py" not in word:
            try:
                word.encode()
            except UnicodeEncodeError:
                raise InputError(f"{place}: {word!a} is not text; expected UTF-8") from None
