"""``python -m birthmark`` is ``birthmark``: both begin here."""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""The exit code after Ctrl-C, as a shell tells it of a program that SIGINT ended."""


def main() -> None:
    """Run the command line; Ctrl-C ends it without a word, while it is imported, too."""
    try:
        from birthmark.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
