"""Files that accompany the file of a live history."""

from __future__ import annotations

from pathlib import Path

MOST_BYTES = 1 << 20
"""The size limit of a thresholds file, and of the thresholds in an update."""


def thresholds(history: Path) -> Path:
    """Return the path of the thresholds adjusted by outcomes (``training.control``)."""
    return history.with_name(f"{history.name}.thresholds")
