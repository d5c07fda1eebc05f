"""Thresholds that a follower moves, put in force for the model that answers."""

from __future__ import annotations

import logging
from collections.abc import Hashable
from contextlib import suppress
from pathlib import Path

from birthmark.predictor.answers.point import PROMISED
from birthmark.serving.models.loaded import LoadedModel
from birthmark.training.control import thresholds
from birthmark.training.control.thresholds import MovedThresholds

log = logging.getLogger(__name__)


class Moved:
    """Looks for the thresholds that belong to a live `history`; without one there are none.

    `told` is what was read last. A file that cannot be read leaves in force what is.
    """

    def __init__(self, history: Path | None = None) -> None:
        self.told: MovedThresholds | None = None
        self._path = None if history is None else thresholds.beside(history)
        self._seen: Hashable = None
        self._obeyed: LoadedModel | None = None

    def look(self, model: LoadedModel | None) -> None:
        """Put in force what was told since the last time, if it is of `model`."""
        if self._path is None or model is None:
            return
        seen = self._stamp(self._path)
        if seen == self._seen and model is self._obeyed:
            return
        try:
            self.told = thresholds.read(self._path)
            model.obey(self.in_force(model))
        except (OSError, ValueError) as error:
            log.warning("thresholds stay as they are: %s", error)
        self._seen, self._obeyed = seen, model

    def in_force(self, model: LoadedModel | None) -> MovedThresholds | None:
        """Return what was told, if `model` answers by it: at the point that keeps a bound."""
        told = self.told
        if model is None or told is None or model.point != PROMISED:
            return None
        return told if (told.version, told.kind) == (model.version, model.kind) else None

    @staticmethod
    def _stamp(path: Path) -> Hashable:
        with suppress(FileNotFoundError):
            told = path.stat()
            return told.st_ino, told.st_mtime_ns, told.st_size
        return None
