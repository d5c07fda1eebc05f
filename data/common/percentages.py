"""Shares, as people read them."""

from __future__ import annotations


def percent(part: float, whole: float) -> float | None:
    """Return `part` as a percentage of `whole`; None where `whole` is 0."""
    return 100 * float(part) / float(whole) if whole else None


def shown(percentage: float | None) -> str:
    """Return a percentage for display, such as ``99.62%``; a dash for None."""
    return "–" if percentage is None else f"{percentage:.2f}%"
