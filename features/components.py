r"""The components of a file name (thesis section 6.3.1, Figure 6.2).

A component is where it stands and its text (``Component``). Columns of them, and what people read,
spell it as a regular expression, in bytes: the whole name between ``^`` and ``$``, and the
pieces between its periods, the first after a ``^``, the last before a ``$``. Optionally the first
five bytes of a name of more than five, after a ``^``, are one more. Bytes that are operators of
regular expressions have a backslash before them. ``prediction.tex`` has ``^prediction\.tex$``,
``^prediction``, ``tex$`` and ``^predi``.

Where the figure is silent, its words are taken as they stand:

- The components are a set: what occurs twice in a name counts once.
- A name without a period has one piece, first and last at once: ``^core$``, the whole name.
- A period at an end, or two in a row, have an empty piece beside them: ``.cshrc`` has ``^`` and
  ``cshrc$`` beside ``^\.cshrc$`` and ``^\.cshr``, so ``^`` marks the names that begin with a
  period.
- "Characters" are bytes: a name need not be UTF-8.
- A component belongs to a name that has it in its set, not to every name that it matches as a
  regular expression: ``tex$`` is no component of ``context``.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, Self

from birthmark.data.common.visible import visible
from birthmark_native import BM_PREFIX_LEN

PREFIX = BM_PREFIX_LEN
"""How many bytes the optional component at a name's beginning has (Figure 6.2)."""

ANY = b".*"
"""The component that every name has: what is known of a name of which nothing else is."""

Anchor = Literal["whole", "first", "last", "middle", "any"]
"""Where in a name a component stands; ``any`` is that of the component that every name has."""


class Component(NamedTuple):
    """A component as where it stands and its plain bytes.

    A ``first`` one of ``PREFIX`` bytes is the piece before the first period, or the prefix.
    """

    anchor: Anchor
    text: bytes

    @classmethod
    def of(cls, spelled: bytes) -> Self:
        """Return the component that columns spell as a regular expression."""
        if spelled == ANY:
            return cls("any", b"")
        text = spelled.removeprefix(b"^")
        starts = text != spelled
        escapes = len(text[:-1]) - len(text[:-1].rstrip(b"\\"))
        ends = text.endswith(b"$") and escapes % 2 == 0
        anchors: dict[tuple[bool, bool], Anchor] = {
            (True, True): "whole",
            (True, False): "first",
            (False, True): "last",
            (False, False): "middle",
        }
        plain = re.sub(rb"(?s)\\(.)", rb"\1", text[:-1] if ends else text)
        return cls(anchors[starts, ends], plain)


def component_text(component: bytes) -> str:
    r"""Return a component, or any bytes, as text for people to read.

    Bytes that are not UTF-8 are written as ``\xNN``, and what does not print as in a Python string.
    """
    return visible(component.decode("utf-8", "surrogateescape"))
