"""Key presses, and the terminal's mode around them."""

from __future__ import annotations

import os
import re
import select
import sys
import termios
import time
import tty
from contextlib import suppress
from types import TracebackType
from typing import Any

_SEQUENCES = re.compile(r"\x1b(?:[\[O][0-9;]*[ -/]*[@-~]?)?")
"""Sequences of arrows and function keys, which are ignored."""

GONE = "q"
"""The key that stands for a terminal that has gone."""


class Keys:
    """Reads keys from standard input, or from the controlling terminal.

    Without a terminal, no key is ever pressed.
    """

    def __init__(self) -> None:
        self._file: int | None = None
        self._opened = False
        self._before: list[Any] = []

    def __enter__(self) -> Keys:
        try:
            if sys.stdin.isatty():
                self._file = sys.stdin.fileno()
            else:
                self._file, self._opened = os.open("/dev/tty", os.O_RDONLY), True
            self._before = termios.tcgetattr(self._file)
            tty.setcbreak(self._file, termios.TCSANOW)
        except (OSError, ValueError, termios.error):
            self._close()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            with suppress(termios.error):  # it has gone
                termios.tcsetattr(self._file, termios.TCSANOW, self._before)
        self._close()

    def wait(self, seconds: float) -> str:
        """Return the keys pressed; after ``seconds`` without one, nothing."""
        if self._file is None:
            time.sleep(seconds)
            return ""
        if not select.select([self._file], [], [], seconds)[0]:
            return ""
        try:
            read = os.read(self._file, 1024)
        except OSError:
            read = b""
        return _SEQUENCES.sub("", read.decode("ascii", "ignore")) if read else GONE

    def _close(self) -> None:
        if self._opened and self._file is not None:
            os.close(self._file)
        self._file, self._opened = None, False
