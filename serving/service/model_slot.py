"""The current model: loaded from the registry, and replaced when another is published."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Hashable
from datetime import UTC, datetime

from birthmark.predictor import Kind, Point
from birthmark.predictor.allocation.verdicts import RegionCapacity
from birthmark.serving.metrics.metrics import Metrics
from birthmark.serving.models.loaded import LoadedModel, load_model
from birthmark.training.nightly import state
from birthmark.training.nightly.state import NightState
from birthmark.training.registry.thresholds import THRESHOLDS
from birthmark.training.registry.versions import Registry, RegistryError
from birthmark_native import SharedHistory

log = logging.getLogger(__name__)


class ModelSlot:
    """Holds the current model, and polls the registry for a newer one.

    A request reads `model` once, so that it is answered from one version and never waits for a
    load.

    - `since`: when this version began to answer here.
    - `failure`: why the published version cannot be loaded, if it cannot.
    - `registry_error`: why the registry cannot be read, while it cannot.
    - `night`: the state of the last nightly run, if known.
    """

    def __init__(
        self,
        registry: Registry,
        kind: Kind | None,
        point: Point | None,
        room: RegionCapacity,
        metrics: Metrics,
        live: SharedHistory | None = None,
    ) -> None:
        self.model: LoadedModel | None = None
        self.since: datetime | None = None
        self.failure: str | None = None
        self.registry_error: str | None = None
        self.night: NightState | None = None
        self._registry = registry
        self._options = kind, point, room
        self._metrics = metrics
        self._live = live
        self._stamp: Hashable = None
        self._night_stamp: Hashable = None
        self._refreshing = asyncio.Lock()
        self._warned = False
        self._listener: Callable[[LoadedModel], object] = lambda model: None
        self._swapping = threading.Lock()

    def subscribe(self, listener: Callable[[LoadedModel], object]) -> None:
        """Call `listener` with the current model, if any, and with each that replaces it."""
        with self._swapping:
            self._listener = listener
            if self.model is not None:
                listener(self.model)

    async def refresh(self) -> None:
        """Load the published version if it changed; keep the current model if that fails.

        When this returns, the version that was published before the call answers.
        """
        async with self._refreshing:
            try:
                stamp = await asyncio.to_thread(self._read_registry)
            except OSError as error:  # an object store may not answer
                self._note_registry(error)
                return
            self._note_registry(None)
            if stamp[0] is None and self.model is None:
                self._warn_no_model()
            if stamp != self._stamp and stamp[0] is not None and await self._load_published():
                self._stamp = stamp

    def _warn_no_model(self) -> None:
        """Log once that there is no model."""
        if not self._warned:
            self._warned = True
            why = self._registry.missing() or f"{self._registry.place}: nothing was ever published"
            log.warning("requests get 503 until a model is published: %s", why)

    def _note_registry(self, error: OSError | None) -> None:
        """Record whether the registry can be read; log each change once."""
        if error is not None and self.registry_error is None:
            log.warning("the registry cannot be read: %s", error)
        elif error is None and self.registry_error is not None:
            log.info("the registry can be read again")
        self.registry_error = None if error is None else str(error)
        self._metrics.registry_read(error is None)

    async def _load_published(self) -> bool:
        """Load the published version; return whether no retry is needed."""
        try:
            model = await asyncio.to_thread(self._load)
        # Whatever is wrong with a new model, the service keeps running and polling.
        except Exception as error:
            # An object store may answer again, and without a model only a retry can help.
            retry = isinstance(error, OSError) or self.model is None
            if not retry or self.failure != str(error):
                self._note_failure(error)
            return not retry
        self._swap_model(model)
        return True

    def _note_failure(self, error: Exception) -> None:
        self._metrics.model_failed()
        self.failure = str(error)
        fallback = f"{self.model.version} still answers" if self.model else "there is no other"
        log.error("the published model cannot be loaded; %s: %s", fallback, error)

    def _swap_model(self, model: LoadedModel) -> None:
        if self.model is None or self.model.version != model.version:
            self.since = datetime.now(UTC)
        if self.model is not None:
            model.follow(self.model)
        with self._swapping:
            self.model, self.failure = model, None
            self._listener(model)
        self._metrics.model_loaded(model)
        log.info("model %s (%s, %s) answers now", model.version, model.kind, model.point)

    def _read_registry(self) -> tuple[Hashable, Hashable]:
        self._read_night()
        return self._registry.stamp(), self._registry.stamp(THRESHOLDS)

    def _read_night(self) -> None:
        """Read the state of the last nightly run, if it changed."""
        stamp = self._registry.stamp(state.STATE)
        if stamp == self._night_stamp:
            return
        try:
            self.night = state.read(self._registry)
        except RegistryError as error:
            log.warning("the state of the last nightly run cannot be read: %s", error)
        self._metrics.night_known(self.night)
        self._night_stamp = stamp

    def _load(self) -> LoadedModel:
        tallies = self._metrics.tallies
        model = load_model(self._registry, *self._options, tallies=tallies, live=self._live)
        _ = model.hints  # compiled here, so that no request waits for it
        return model
