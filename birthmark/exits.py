"""What a command's exit code says; those above 2 are as ``sysexits.h`` has them.

They are in docs/administrators.md, "Exit codes".
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

FAILED = 1
"""It failed: what was done whole stays, the rest is done by the next run."""

REFUSED = 65
"""Done, but for traces that are none (``EX_DATAERR``)."""

BUSY = 75
"""Nothing was done, because another run is at work (``EX_TEMPFAIL``)."""

MISCONFIGURED = 78
"""The configuration cannot be used (``EX_CONFIG``): it fails until somebody mends it."""


@contextmanager
def exits(code: int, *kinds: type[Exception]) -> Iterator[None]:
    """End the program with `code` where an error of one of `kinds` is raised, and say it."""
    try:
        yield
    except kinds as error:
        say(error)
        sys.exit(code)


def say(error: Exception) -> None:
    """Print an expected error as one line on standard error."""
    message = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        message = f"{error.filename}: {error.strerror}"
    Console(stderr=True).print(
        f"birthmark: {message}", markup=False, highlight=False, soft_wrap=True
    )
