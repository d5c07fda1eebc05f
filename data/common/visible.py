"""Text that is not the program's own, as people may see it."""

from __future__ import annotations

import re

_UNDECODED = re.compile("[\udc80-\udcff]")


def visible(text: str) -> str:
    r"""Return `text` with an escape for whatever does not print, line feeds and tabs too.

    Control characters, which a terminal obeys, and those that hide or turn the text around them
    are written as in a Python string: ``\n``, ``\x1b``, ``\u202e``; bytes of a name that were no
    UTF-8 as ``\xff``. What is escaped already stays as it is.
    """
    if text.isprintable():
        return text
    text = _UNDECODED.sub(lambda each: f"\\x{ord(each[0]) - 0xDC00:02x}", text)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def visible_lines(text: str) -> str:
    """Return `text` likewise, but for the line feeds between its lines."""
    return "\n".join(map(visible, text.split("\n")))
