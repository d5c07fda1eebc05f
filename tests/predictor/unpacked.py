"""A saved model with its parts as files, as earlier releases stored them."""

from __future__ import annotations

import zipfile
from pathlib import Path

from birthmark.predictor.parts import ARCHIVE


def unpack(directory: Path) -> Path:
    """Replace the archive of a saved model by its parts; return the directory."""
    with zipfile.ZipFile(directory / ARCHIVE) as archive:
        archive.extractall(directory)
    (directory / ARCHIVE).unlink()
    return directory


def names_in(directory: Path) -> list[str]:
    """Return the names of the parts in the archive of a saved model."""
    with zipfile.ZipFile(directory / ARCHIVE) as archive:
        return archive.namelist()
