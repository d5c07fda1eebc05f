"""What stands beside the file of a live history."""

from __future__ import annotations

from pathlib import Path


def thresholds(history: Path) -> Path:
    """Return the path of the thresholds that outcomes have moved (``training.control``)."""
    return history.with_name(f"{history.name}.thresholds")
