"""The entry point of ``birthmark`` and ``python -m birthmark``."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130
"""Exit code after Ctrl-C, as a shell reports SIGINT."""

PURGE_DELAY = "5000"
"""Time for which ``birthmark top`` keeps freed memory, ms: it serves the next second's counts."""


def main() -> None:
    """Run the command line; Ctrl-C ends it silently, even during imports."""
    if sys.argv[1:2] == ["top"]:
        # By default memory is purged after 10 ms, and the kernel clears it again each second, an
        # eighth of the processor time. Allocators read this variable when they are loaded.
        os.environ.setdefault("MIMALLOC_PURGE_DELAY", PURGE_DELAY)
    try:
        from birthmark.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
