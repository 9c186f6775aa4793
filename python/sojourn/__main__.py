"""The command `sojourn`, and `python -m sojourn`: Ctrl-C is quiet from the first import on."""

import os
import sys


def main() -> int:
    """Run one command; return its exit code."""
    try:
        from sojourn.cli import main as command

        code = command()
        _leave_threads_behind(code)
        return code
    except KeyboardInterrupt:
        print(f"{_named()}: interrupted; nothing was written", file=sys.stderr)
        return 130


def _leave_threads_behind(code: int) -> None:
    """End at once if a law or a computation cannot be stopped: Python itself would wait for its thread."""
    stops = sys.modules.get("sojourn.stops")
    if stops is not None and stops.left_behind():
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code)


def _named() -> str:
    """Name of the command, for its messages."""
    word = sys.argv[1] if len(sys.argv) > 1 else "-"
    return "sojourn" if word.startswith("-") else f"sojourn {word}"


if __name__ == "__main__":
    sys.exit(main())
