"""The model that answers: loaded from the registry, and replaced when another is published."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from features.creates import from_requests
from predictor import Kind, Point
from predictor.hints import USUAL_ROOM, Room
from predictor.trained import TrainedModel
from serving.hints import Hints
from serving.metrics import Metrics
from training.registry import Registry, RegistryError

log = logging.getLogger(__name__)


class NoModelError(ValueError):
    """Nothing was ever published in the registry."""


@dataclass(frozen=True)
class LoadedModel:
    """A published version in memory: the `kind` of its models that answers, and at which point.

    Its hints are for a region with so much `room`.
    """

    version: str
    kind: Kind
    point: Point
    manifest: Mapping[str, Any]
    trained: TrainedModel
    room: Room = USUAL_ROOM

    @cached_property
    def hints(self) -> Hints | None:
        """What it hints to file systems, compiled when first asked for; None where it cannot."""
        try:
            return Hints.of(self.trained, self.kind, self.point, self.room, self.version)
        except ValueError as error:
            log.warning("model %s gives no hints: %s", self.version, error)
            return None


def load_model(
    registry: Registry,
    kind: Kind | None = None,
    point: Point | None = None,
    room: Room = USUAL_ROOM,
    *,
    counts: bool = False,
) -> LoadedModel:
    """Return the published model, its checksums verified, once it has answered a question.

    `kind` and `point` None take what the version was published to serve; its hints are for `room`;
    `counts` loads what models learn on from, too. Raises `NoModelError` where nothing is published,
    `RegistryError` for a damaged version, and ValueError or OSError for parts that are no model.
    """
    version = registry.current()
    if version is None:
        raise NoModelError(
            f"{registry.path}: expected a published model, found none (see birthmark train)"
        )
    registry.verify(version)
    manifest = registry.manifest(version)
    kind = kind or _published(registry, manifest, "serve", get_args(Kind))
    point = point or _published(registry, manifest, "point", get_args(Point))
    trained = TrainedModel.load(registry.directory(version), counts)
    # A model that cannot answer must not take the place of one that can.
    trained.explain(from_requests([{"name": b"name"}]), kind, point)
    return LoadedModel(version, kind, point, manifest, trained, room)


def _published(
    registry: Registry, manifest: Mapping[str, Any], what: str, choices: Sequence[str]
) -> Any:
    found = manifest.get(what)
    if found not in choices:
        directory = registry.directory(manifest["version"])
        expected = " or ".join(choices)
        raise RegistryError(f"{directory}: expected {what} to be {expected}, found {found!r}")
    return found


class ModelSlot:
    """Holds the model that answers, and looks for a newer one.

    A request takes `model` once and uses that to its end, so that each is answered from exactly
    one version, and none waits while another is loaded.
    """

    def __init__(
        self,
        registry: Registry,
        kind: Kind | None,
        point: Point | None,
        room: Room,
        metrics: Metrics,
    ) -> None:
        self.model: LoadedModel | None = None
        self._registry = registry
        self._wanted = kind, point, room
        self._metrics = metrics
        self._seen: tuple[int, int] | None = None

    async def watch(self, seconds: float) -> None:
        """Refresh for ever, `seconds` after each time before."""
        while True:
            await asyncio.sleep(seconds)
            await self.refresh()

    async def refresh(self) -> None:
        """Load what is published, if that changed; keep the model there is if it cannot be."""
        pointer = await asyncio.to_thread(_identity, self._registry.path / "current")
        if pointer == self._seen:
            return
        self._seen = pointer
        try:
            model = await asyncio.to_thread(self._load)
        # Whatever is wrong with a new model, the service goes on and keeps looking.
        except Exception as error:
            self._metrics.model_failed()
            kept = f"{self.model.version} goes on" if self.model else "there is no other"
            log.error("the published model cannot be loaded; %s: %s", kept, error)
            return
        self.model = model
        self._metrics.model_loaded(model.version, model.kind)
        log.info("model %s (%s, %s) answers from now on", model.version, model.kind, model.point)

    def _load(self) -> LoadedModel:
        model = load_model(self._registry, *self._wanted)
        _ = model.hints  # compiled here, so that no request waits for it
        return model


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from one that replaced it; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns
