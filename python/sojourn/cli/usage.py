"""Errors of typer as one line: an invalid command line, and the expected one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any

from sojourn.cli import printing
from sojourn.errors import BAD_INPUT, DONE, Diagnostic


def explain(error: Any, arguments: Sequence[str]) -> int:
    """Print one line for an invalid command line; return the exit code."""
    context = getattr(error, "ctx", None)
    named = arguments[0] if arguments and not arguments[0].startswith("-") else ""
    place = context.command_path if context is not None else f"sojourn {named}".rstrip()
    if type(error).__name__ == "NoArgsIsHelpError":
        printing.say(error.format_message())
        return DONE
    line = f"{place}: {_usage(error, context, place, named)}"
    known = getattr(getattr(context, "command", None), "params", [])
    if "--json" in arguments and any("--json" in parameter.opts for parameter in known):
        printing.say_refused([Diagnostic(line)])
    printing.complain([line], place)
    return BAD_INPUT


def _usage(error: Any, context: Any, place: str, named: str) -> str:
    """Error of a command line, and the expected one."""
    parameter = getattr(error, "param", None)
    if parameter is not None:
        shown = parameter.metavar or parameter.name
        # The shorter name of an option: -o FILE.
        short = f"{min(parameter.opts, key=len)} " if parameter.param_type_name == "option" else ""
        return f"{short}{shown} is missing; see {place} --help"
    option = getattr(error, "option_name", None)
    if option is None:
        return _without_option(error, context, place, named)
    if "argument" in error.format_message():
        return f"{option}: has no value; expected {option} VALUE"
    if "take a value" in error.format_message():
        return f"{option}: takes no value; expected {option} alone"
    near = getattr(error, "possibilities", None)
    return f"{option}: is not an option; " + (
        f"nearest: {', '.join(near)}" if near else f"see {place} --help"
    )


def _without_option(error: Any, context: Any, place: str, named: str) -> str:
    """A name that is no command, or arguments too many."""
    commands = getattr(getattr(context, "command", None), "commands", None)
    if commands and named not in commands:
        close = difflib.get_close_matches(named, commands, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        return f'"{named}" is not a command; {hint}expected {", ".join(commands)}'
    message = " ".join(error.format_message().split()).rstrip(".?").replace("'", '"')
    extra = re.search(r"unexpected extra argument.* \((.*)\)", message)
    return f"{f'{extra[1]}: has no use' if extra else message}; see {place} --help"
