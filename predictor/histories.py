"""The histories of a saved model: state at the end of the births it was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from birthmark.features.history import History
from birthmark.predictor import parts

SUBJECTS = ("file", "name")
"""The subjects that have a history."""


def save(directory: Path, histories: Mapping[str, History]) -> list[str]:
    """Write the history of each subject; return the files' names."""
    for subject, history in histories.items():
        parts.write_table(directory / _file(subject), history.to_table())
    return [_file(subject) for subject in histories]


def load(directory: Path) -> dict[str, History]:
    """Return the saved histories by subject.

    Raises ``DamagedModelError``, naming the file, if it holds no history.
    """
    return {subject: _load(directory / _file(subject)) for subject in SUBJECTS}


def _file(subject: str) -> str:
    return f"history-{subject}.arrow"


def _load(path: Path) -> History:
    try:
        return History.from_table(parts.read_table(path, None))
    except ValueError as error:
        raise parts.DamagedModelError(path, f"a history ({error})") from error
