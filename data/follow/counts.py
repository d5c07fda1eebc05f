"""Differences of counters that only increase, such as a trace's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def difference(after: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the increase between two states of `birthmark_native.Trace.counts`.

    Tallies that did not change, and values that are not counts, are omitted.
    """
    found: dict[str, Any] = {}
    for name, value in after.items():
        earlier = before.get(name)
        if isinstance(value, int):
            found[name] = value - (earlier or 0)
        elif isinstance(value, Mapping):
            own = difference(value, earlier or {})
            found[name] = {key: each for key, each in own.items() if not _is_nothing(each)}
        elif isinstance(value, tuple):  # calls and replies of another program
            pairs = zip(value, earlier or (0,) * len(value), strict=True)
            found[name] = tuple(one - other for one, other in pairs)
    return found


def _is_nothing(own: int | tuple[int, ...] | Mapping[str, Any]) -> bool:
    """Return whether a value holds several counts, none of which increased."""
    if isinstance(own, Mapping):
        return not any(own.values())
    return isinstance(own, tuple) and not any(own)
