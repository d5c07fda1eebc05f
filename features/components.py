r"""The components of a file name (thesis section 6.3.1, Figure 6.2).

A component is an anchor and a text (``Component``). In columns and for people it is spelled as a
regular expression, in bytes: the whole name between ``^`` and ``$``, and the pieces between its
periods, the first after a ``^``, the last before a ``$``. Optionally the first five bytes of a
longer name, after a ``^``, are one more. A backslash escapes the operators of regular expressions.
``prediction.tex`` has ``^prediction\.tex$``, ``^prediction``, ``tex$`` and ``^predi``.

Cases that the figure does not cover follow its wording:

- The components are a set: duplicates in a name count once.
- A name without a period has one piece, first and last at once: ``^core$``, the whole name.
- A period at an end, or two in a row, adjoin an empty piece: ``.cshrc`` has ``^`` and ``cshrc$``
  besides ``^\.cshrc$`` and ``^\.cshr``, so ``^`` marks the names that begin with a period.
- "Characters" are bytes: a name need not be UTF-8.
- A component belongs to a name that has it in its set, not to every name that it matches as a
  regular expression: ``tex$`` is no component of ``context``.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, Self

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.visible import visible
from birthmark_native import BM_PREFIX_LEN

PREFIX = BM_PREFIX_LEN
"""Length in bytes of the optional component at a name's beginning (Figure 6.2)."""

ANY = b".*"
"""The component that every name has, for names without other known components."""

Anchor = Literal["whole", "first", "last", "middle", "any"]
"""The position of a component in a name; ``any`` is that of ``ANY``."""


class Component(NamedTuple):
    """A component: its position and its plain bytes.

    A ``first`` one of ``PREFIX`` bytes is the piece before the first period, or the prefix.
    """

    anchor: Anchor
    text: bytes

    @classmethod
    def of(cls, spelled: bytes) -> Self:
        """Parse a component spelled as a regular expression."""
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

    Bytes that are not UTF-8 become ``\xNN``, and unprintable characters escapes as in Python.
    """
    return visible(component.decode("utf-8", "surrogateescape"))


PIECES = ("first", "middle", "last")
"""The names of the pieces."""

_PATTERN = r"(?s)^(?P<first>[^.]*)(?:(?:\.(?P<middle>.*))?\.(?P<last>[^.]*))?$"


def name_pieces(names: pa.BinaryArray) -> dict[str, pa.BinaryArray]:
    """Split each name at its first and last period.

    ``first`` is what stands before the first period, ``last`` what stands after the last (null
    in a name without a period), ``middle`` what stands between them (null in a name with fewer
    than two). A piece may be empty: ``.cshrc`` has the first piece ``b""``.
    """
    pieces = pc.extract_regex(names, pattern=_PATTERN)
    periods = pc.count_substring(names, ".")
    null = pa.scalar(None, pa.binary())
    needed = {"first": 0, "middle": 2, "last": 1}
    return {
        piece: pc.if_else(pc.greater_equal(periods, n), pc.struct_field(pieces, piece), null)
        for piece, n in needed.items()
    }
