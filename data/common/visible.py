"""Escapes for untrusted text that people see."""

from __future__ import annotations

import re

_UNDECODED = re.compile("[\udc80-\udcff]")


def visible(text: str) -> str:
    r"""Return `text` with an escape for everything unprintable, line feeds and tabs too.

    Control characters, to which terminals react, and characters that hide or reorder text are
    written as in a Python string: ``\n``, ``\x1b``, ``\u202e``. Bytes of a name that are not UTF-8
    become ``\xff``. Existing escapes stay as they are.
    """
    if text.isprintable():
        return text
    text = _UNDECODED.sub(lambda each: f"\\x{ord(each[0]) - 0xDC00:02x}", text)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def visible_lines(text: str) -> str:
    """Return `text` likewise, but keep the line feeds between its lines."""
    return "\n".join(map(visible, text.split("\n")))
