"""Refreshes of the published version: written by a follower, served as any other version."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from birthmark.predictor import parts, saved_images
from birthmark.predictor.control.refresh import Refresher
from birthmark.predictor.image.header import HINTS_IMAGE, IMAGE
from birthmark.predictor.models.forest.set import ForestModels
from birthmark.predictor.trained import TrainedModel
from birthmark.training.registry.published import Published
from birthmark.training.registry.versions import MANIFEST, Registry

LEAST_INTERVAL = 30.0
"""Least time between refreshes, seconds."""

MOST_SHARE = 1 / 12
"""Greatest share of the time that refreshes take."""

_OTHERS = (MANIFEST, parts.ARCHIVE, IMAGE, HINTS_IMAGE)
"""The files that a refresh does not copy from the base version."""


class Refreshes:
    """Refreshes one published version by the births that its `refresher` gets.

    `published` is the version that was trained, or a refresh of it. Raises `ValueError` for a
    version without forests.
    """

    def __init__(self, registry: Registry, published: Published) -> None:
        self._registry, self._base = registry, published.base
        self._kind = published.kind
        self._directory = registry.directory(self._base)
        models = TrainedModel.load(self._directory, False, published.kind).of_kind(published.kind)
        forests = models.by_kind().get(ForestModels.kind)
        if not isinstance(forests, ForestModels) or not forests:
            raise ValueError(f"{self._base}: expected forests")
        self.refresher = Refresher(forests)
        self._next = time.monotonic() + LEAST_INTERVAL

    def refresh(self) -> None:
        """Publish a refresh, or the base version again, if it is time.

        Raises `OSError` or `RegistryError` if the registry cannot be written, or must not.
        """
        began = time.monotonic()
        if began < self._next:
            return
        try:
            self._refresh()
        finally:
            now = time.monotonic()
            self._next = now + max(LEAST_INTERVAL, (now - began) / MOST_SHARE)

    def _refresh(self) -> None:
        models, keys = self.refresher.step()
        if not keys:
            # Another version may have been published since, and refreshed by another follower.
            if self._registry.base() == self._base != self._registry.current():
                self._registry.make_current(self._base)
            return

        def write(directory: Path) -> None:
            self._write(directory, models)

        manifest = self._registry.manifest(self._base)
        evidence = {key: round(self.refresher.evidence(key), 2) for key in keys}
        self._registry.refresh(write, manifest | {"refreshed": evidence})

    def _write(self, directory: Path, models: ForestModels) -> None:
        """Write the base version's parts, with other forests and their image."""
        for path in self._directory.iterdir():
            if path.name not in _OTHERS:
                copy = shutil.copytree if path.is_dir() else shutil.copyfile
                copy(path, directory / path.name)
        with parts.archive(directory) as archive:
            own = models.save(archive)
            parts.copy(self._directory, archive, own)
        trained = TrainedModel.load(directory, False, self._kind)
        saved_images.save(trained, directory, self._kind)
