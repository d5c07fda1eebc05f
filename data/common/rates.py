"""How fast something went."""

from __future__ import annotations


def per_second(number: float, seconds: float) -> int | None:
    """Return how many there were in a second; None where no time has passed."""
    return round(number / seconds) if seconds else None
