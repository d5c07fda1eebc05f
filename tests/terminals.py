"""A command on a terminal of its own, and all that it prints there."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence

OWN = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
"""What a tester's terminal says, which is not this one."""

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(
    arguments: Sequence[object], columns: int = 80, **environment: str
) -> tuple[int, str]:
    """Run `birthmark` on a terminal so wide; return its exit code and what it prints there."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    known = {name: value for name, value in os.environ.items() if name not in OWN}
    known |= {"TERM": "xterm-256color", **environment}
    command = [sys.executable, "-m", "birthmark", *map(str, arguments)]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=known) as process:
        os.close(theirs)
        said = b""
        with contextlib.suppress(OSError):  # EIO where the other end is closed
            while part := os.read(ours, 65536):
                said += part
    os.close(ours)
    return process.returncode, said.decode()


def lines(said: str) -> list[str]:
    """Return the lines that remain on a terminal, without colours and without what was cleared."""
    plain = ESCAPES.sub("", said).replace("\r\n", "\n")
    return [each.rpartition("\r")[2] for each in plain.split("\n")]
