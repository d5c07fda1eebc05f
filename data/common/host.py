"""The name of this host, in a form fit for file names and messages."""

from __future__ import annotations

import re
import socket
import uuid

_LONGEST = 48
_UNNAMED = ("", "_none_")  # Linux calls a host without a name (none)


def host_name() -> str:
    """Return this host's name in letters, digits, ``.``, ``-`` and ``_``, at most 48 of them.

    A host without a name gets its network interface's address, twelve hexadecimal digits.
    """
    name = re.sub(r"[^A-Za-z0-9.-]", "_", socket.gethostname())[:_LONGEST]
    return f"{uuid.getnode():012x}" if name in _UNNAMED else name
