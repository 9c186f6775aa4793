"""The command `sojourn`, and `python -m sojourn`: Ctrl-C is quiet from the first import on."""

import sys


def main() -> int:
    """Run one command; return its exit code."""
    try:
        from sojourn.cli import main as command

        return command()
    except KeyboardInterrupt:
        print("sojourn: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
