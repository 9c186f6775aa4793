"""Commands whose flags with a value are given once: of two values one would be dropped without a word."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand, TyperOption

from sojourn.errors import InputError

__all__ = ["Command"]


class Command(TyperCommand):
    """A command that refuses a flag with a value that is given twice, unless it collects its values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as typer does, and count the flags. Raises `InputError` with one line."""
        given = list(args)
        rest = super().parse_args(ctx, args)
        _, _, order = self.make_parser(ctx).parse_args(args=given)
        for one, times in Counter(order).items():
            if isinstance(one, TyperOption) and not (one.multiple or one.is_flag) and times > 1:
                flag = max(one.opts, key=len)
                raise InputError(f"{ctx.command_path}: {flag}: is given {times} times; legal: once")
        return rest
