"""``python -m birthmark`` is ``birthmark``: both begin here."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130
"""The exit code after Ctrl-C, as a shell tells it of a program that SIGINT ended."""

KEPT = "5000"
"""So long ``birthmark top`` keeps memory that it has freed, ms: for the next second's counts."""


def main() -> None:
    """Run the command line; Ctrl-C ends it without a word, while it is imported, too."""
    if sys.argv[1:2] == ["top"]:
        # Given back after 10 ms, as is usual, it would be cleared by the kernel each second: that
        # takes an eighth of all. Allocators read this when they are loaded, which they are not yet.
        os.environ.setdefault("MIMALLOC_PURGE_DELAY", KEPT)
    try:
        from birthmark.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
