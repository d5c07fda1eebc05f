"""Applies the thresholds that a follower adjusts to the current model."""

from __future__ import annotations

import logging
from collections.abc import Hashable
from contextlib import suppress
from pathlib import Path

from birthmark.predictor.answers.point import BOUNDED
from birthmark.serving.models.loaded import LoadedModel
from birthmark.training.registry import thresholds
from birthmark.training.registry.thresholds import MovedThresholds
from birthmark_native import SharedHistory

log = logging.getLogger(__name__)


class ThresholdWatcher:
    """Watches the file of thresholds beside a live `history`, if there is one.

    They are in force only while the live history (`live`) is not stale and the file is valid and
    for the current model. Otherwise those of audits are, and else the calibrated ones.
    """

    def __init__(self, history: Path | None = None, live: SharedHistory | None = None) -> None:
        self._path = None if history is None else thresholds.beside(history)
        self._live = live
        self._latest: MovedThresholds | None = None
        self._read_stamp: tuple[Hashable, LoadedModel | None] = (None, None)
        self._applied: tuple[MovedThresholds | None, LoadedModel | None] = (None, None)

    def refresh(self, model: LoadedModel | None) -> None:
        """Apply the thresholds in the file to `model`, or restore the others."""
        if self._path is None or model is None:
            return
        stamp, (last_stamp, last_model) = self._stamp(self._path), self._read_stamp
        if stamp != last_stamp or model is not last_model:
            self._latest, self._read_stamp = self._read(self._path, model), (stamp, model)
        fresh = self._live is not None and self._live.status()["why"] is None
        latest, (before, applied) = self._latest if fresh else None, self._applied
        if latest is not before or model is not applied:
            model.apply_thresholds(latest)
            self._applied = latest, model

    def in_force(self, model: LoadedModel | None) -> MovedThresholds | None:
        """Return the follower's thresholds, if they are in force."""
        latest, applied = self._applied
        return latest if model is applied else None

    @staticmethod
    def _read(path: Path, model: LoadedModel) -> MovedThresholds | None:
        """Return the thresholds in a file if they are for `model`, at the bounded point."""
        try:
            moved = thresholds.read(path)
            if moved is None or model.point != BOUNDED or not model.fits(moved):
                return None
            model.check(moved)
        except (OSError, ValueError) as error:
            log.warning("a follower's thresholds are not in force: %s", error)
            return None
        return moved

    @staticmethod
    def _stamp(path: Path) -> Hashable:
        with suppress(OSError):
            stat = path.stat()
            return stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size
        return None
