"""Exit codes of the commands; those above 2 are from ``sysexits.h``.

See docs/administrators.md, "Exit codes".
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from tempfile import gettempdir
from typing import TypeGuard

from birthmark.data.common.setting_errors import InvalidError, reasons
from birthmark.terminal import line

FAILED = 1
"""Failed: completed work stays, and the next run does the rest."""

REFUSED = 65
"""Done, except for bad traces and directories (``EX_DATAERR``)."""

BUSY = 75
"""Nothing was done, because another run holds the lock (``EX_TEMPFAIL``)."""

MISCONFIGURED = 78
"""The configuration is bad (``EX_CONFIG``); a retry fails until it is corrected."""


@contextmanager
def exits(code: int, *kinds: type[Exception]) -> Iterator[None]:
    """Print an error of one of `kinds`, and exit with `code`."""
    try:
        yield
    except kinds as error:
        print_error(error)
        sys.exit(code)


def print_error(error: Exception) -> None:
    """Print an expected error on standard error, with a line for each reason."""
    for reason in _reasons(error):
        line(f"birthmark: {reason}", stderr=True)


def is_full(error: Exception) -> TypeGuard[OSError]:
    """Whether there was no room to write."""
    return isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT)


def _reasons(error: Exception) -> Sequence[str]:
    from pydantic import ValidationError  # slow to import

    if is_full(error):
        place = error.filename or f"standard output or a temporary file in {gettempdir()}"
        why = os.strerror(error.errno or ENOSPC)
        return [f"{place}: {why}; make room there, or write to another disk"]
    if isinstance(error, OSError) and error.filename is not None:
        return [f"{error.filename}: {error.strerror}"]
    if isinstance(error, InvalidError):
        return error.reasons
    return reasons(error) if isinstance(error, ValidationError) else [str(error)]


def warn(warnings: Iterable[str]) -> None:
    """Print warnings as lines on standard error."""
    for each in warnings:
        line(f"birthmark: warning: {each}", stderr=True)
