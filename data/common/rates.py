"""Rates."""

from __future__ import annotations


def per_second(number: float, seconds: float) -> int | None:
    """Return a rate per second; None if no time has passed."""
    return round(number / seconds) if seconds else None
