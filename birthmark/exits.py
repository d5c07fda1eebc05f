"""What a command's exit code says; those above 2 are as ``sysexits.h`` has them.

They are in docs/administrators.md, "Exit codes".
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from birthmark.data.common.setting_errors import InvalidError, reasons
from birthmark.terminal import line

FAILED = 1
"""It failed: what was done whole stays, the rest is done by the next run."""

REFUSED = 65
"""Done, but for traces that are none, and directories of theirs (``EX_DATAERR``)."""

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
    """Print an expected error on standard error: a line for each reason, most have one."""
    for reason in _reasons(error):
        line(f"birthmark: {reason}", stderr=True)


def _reasons(error: Exception) -> Sequence[str]:
    from pydantic import ValidationError  # slow to import

    if isinstance(error, OSError) and error.filename is not None:
        return [f"{error.filename}: {error.strerror}"]
    if isinstance(error, InvalidError):
        return error.reasons
    return reasons(error) if isinstance(error, ValidationError) else [str(error)]


def warn(warnings: Iterable[str]) -> None:
    """Print what may be meant, or be a mistake, as lines on standard error."""
    for each in warnings:
        line(f"birthmark: warning: {each}", stderr=True)
