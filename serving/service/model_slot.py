"""The model that answers: loaded from the registry, and replaced when another is published."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Hashable
from datetime import UTC, datetime

from birthmark.predictor import Kind, Point
from birthmark.predictor.allocation.verdicts import Room
from birthmark.serving.metrics.metrics import Metrics
from birthmark.serving.models.loaded import LoadedModel
from birthmark.serving.models.published import load_model
from birthmark.training.nightly import state
from birthmark.training.nightly.state import NightState
from birthmark.training.registry import bounds
from birthmark.training.registry.abstentions import ABSTAINING
from birthmark.training.registry.bounds import BOUNDS
from birthmark.training.registry.versions import Registry, RegistryError
from birthmark_native import SharedHistory

log = logging.getLogger(__name__)


class ModelSlot:
    """Holds the model that answers, and looks for a newer one.

    A request takes `model` once and uses that to its end, so that each is answered from exactly
    one version, and none waits while another is loaded. `since` is when its version began to
    answer here; `failure` is why what is published cannot be loaded, if it cannot; `away` is why
    the registry cannot be asked what is published, while it cannot. `night` is what came of the
    last nightly run, if that is known.
    """

    def __init__(
        self,
        registry: Registry,
        kind: Kind | None,
        point: Point | None,
        room: Room,
        metrics: Metrics,
        live: SharedHistory | None = None,
    ) -> None:
        self.model: LoadedModel | None = None
        self.changed = asyncio.Event()
        """Set, once, when another model answers; then there is another event."""
        self.since: datetime | None = None
        self.failure: str | None = None
        self.away: str | None = None
        self.night: NightState | None = None
        self._registry = registry
        self._wanted = kind, point, room
        self._metrics = metrics
        self._live = live
        self._seen: Hashable = None
        self._seen_bounds: Hashable = None
        self._seen_night: Hashable = None
        self._refreshing = asyncio.Lock()
        self._told = False

    async def refresh(self) -> None:
        """Load what is published, if that changed; keep the model there is if it cannot be.

        Once this returns, what was published before it was called answers.
        """
        async with self._refreshing:
            try:
                seen = await asyncio.to_thread(self._look)
            except OSError as error:  # an object store that does not answer
                self._reached(error)
                return
            self._reached(None)
            if seen[0] is None and self.model is None:
                self._wait()
            if seen != self._seen and seen[0] is not None and await self._replace():
                self._seen = seen

    def _wait(self) -> None:
        """Tell, once, that there is nothing to answer from."""
        if not self._told:
            self._told = True
            why = self._registry.missing() or f"{self._registry.place}: nothing was ever published"
            log.warning("nothing can be answered until a model is published: %s", why)

    def _reached(self, error: OSError | None) -> None:
        """Take note of whether the registry can be read; tell of a change once."""
        if error is not None and self.away is None:
            log.warning("it is not known what is published: %s", error)
        elif error is None and self.away is not None:
            log.info("it is known again what is published")
        self.away = None if error is None else str(error)
        self._metrics.registry_read(error is None)

    async def _replace(self) -> bool:
        """Load what is published; return whether that need not be tried again."""
        try:
            model = await asyncio.to_thread(self._load)
        # Whatever is wrong with a new model, the service goes on and keeps looking.
        except Exception as error:
            # An object store may answer again; and without a model there is nothing else to do.
            again = isinstance(error, OSError) or self.model is None
            if not again or self.failure != str(error):
                self._failed(error)
            return not again
        self._go_over(model)
        return True

    def _failed(self, error: Exception) -> None:
        self._metrics.model_failed()
        self.failure = str(error)
        kept = f"{self.model.version} goes on" if self.model else "there is no other"
        log.error("the published model cannot be loaded; %s: %s", kept, error)

    def _go_over(self, model: LoadedModel) -> None:
        if self.model is None or self.model.version != model.version:
            self.since = datetime.now(UTC)
        self.model, self.failure = model, None
        self.changed.set()
        self.changed = asyncio.Event()
        self._metrics.model_loaded(model)
        log.info("model %s (%s, %s) answers from now on", model.version, model.kind, model.point)

    def _look(self) -> tuple[Hashable, Hashable]:
        self._look_at_bounds()
        self._look_at_night()
        return self._registry.stamp(), self._registry.stamp(ABSTAINING)

    def _look_at_bounds(self) -> None:
        """Tell the metrics what audits know of the bounds, if that changed."""
        seen = self._registry.stamp(BOUNDS)
        if seen == self._seen_bounds:
            return
        try:
            self._metrics.bounds_known(bounds.read(self._registry))
        except RegistryError as error:
            log.warning("it is not known what audits know of the bounds: %s", error)
        self._seen_bounds = seen

    def _look_at_night(self) -> None:
        """Take note of what came of the last nightly run, if that changed."""
        seen = self._registry.stamp(state.STATE)
        if seen == self._seen_night:
            return
        try:
            self.night = state.read(self._registry)
        except RegistryError as error:
            log.warning("it is not known what came of the last night: %s", error)
        self._metrics.night_known(self.night)
        self._seen_night = seen

    def _load(self) -> LoadedModel:
        tallies = self._metrics.tallies
        model = load_model(self._registry, *self._wanted, tallies=tallies, live=self._live)
        _ = model.hints  # compiled here, so that no request waits for it
        return model
