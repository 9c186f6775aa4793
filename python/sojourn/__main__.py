"""The command `sojourn`, and `python -m sojourn`: Ctrl-C is quiet from the first import on."""

import sys


def main() -> int:
    """Run one command; return its exit code."""
    try:
        from sojourn.cli import main as command

        return command()
    except KeyboardInterrupt:
        print(f"{_named()}: interrupted; nothing was written", file=sys.stderr)
        return 130


def _named() -> str:
    """The command, where there is one."""
    word = sys.argv[1] if len(sys.argv) > 1 else "-"
    return "sojourn" if word.startswith("-") else f"sojourn {word}"


if __name__ == "__main__":
    sys.exit(main())
