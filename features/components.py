r"""The components of a file name (thesis section 6.3.1, Figure 6.2).

A component is a regular expression, as bytes: the whole name between ``^`` and ``$``, and the
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

from birthmark.data.common.visible import visible
from birthmark_native import (
    count_components,
    decide_components,
    match_components,
    name_components,
    prune_components,
    rank_components,
    score_components,
    whole_names,
)

__all__ = [
    "component_text",
    "count_components",
    "decide_components",
    "match_components",
    "name_components",
    "prune_components",
    "rank_components",
    "score_components",
    "whole_names",
]


def component_text(component: bytes) -> str:
    r"""Return a component, or any bytes, as text for people to read.

    Bytes that are not UTF-8 are written as ``\xNN``, and what does not print as in a Python string.
    """
    return visible(component.decode("utf-8", "surrogateescape"))
