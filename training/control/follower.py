"""Control of thresholds in a follower: it counts outcomes and writes thresholds for services."""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from birthmark.data.common import durable
from birthmark.data.follow.mirror import Seen
from birthmark.data.settings import Following
from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.control import Control, ControlSettings, FollowedControl
from birthmark.predictor.parts import DamagedModelError, read_table, write_table
from birthmark.predictor.trained import TrainedModel
from birthmark.training.control.refreshes import Refreshes
from birthmark.training.registry import thresholds
from birthmark.training.registry.published import NoModelError, Published, read_published
from birthmark.training.registry.thresholds import MovedThreshold, MovedThresholds
from birthmark.training.registry.versions import Registry

EVERY = 1.0
"""Interval at which outcomes are counted and thresholds written, seconds."""

SAVE_EVERY = 10.0
"""Interval at which the state is saved for the next follower, seconds."""

MOST_WAITING = 50_000
"""Greatest number of births that wait to be scored."""

MOST_OUTCOMES = 400_000
"""Greatest number of outcomes that wait to be counted."""

_STATE, _COUNTED = ".control", b"birthmark.counted_until"

log = logging.getLogger(__name__)


class FollowerControl:
    """Moves the thresholds of a registry's published version during a follower's run.

    Its input is from the mirror of the live history (``data.follow.mirror.Mirror.heed``). It works
    in a separate thread; births that exceed its speed or capacity are left out, and counted in
    ``skipped``. It writes the thresholds beside ``history``, and saves its state in ``out``, from
    which the next control resumes. With ``refresh`` it also refreshes the version
    (``training.control.refreshes``). Use it as a context manager.
    """

    def __init__(
        self, registry: Registry, history: Path, out: Path, refresh: bool = Following().refresh
    ) -> None:
        self._skipped = 0
        self._registry = registry
        self._place, self._state = thresholds.beside(history), out / _STATE
        self._stamp: Hashable = None
        self._refreshes: Refreshes | None = None
        self._refresh_error = ""
        self._is_refreshing = refresh
        self._control: FollowedControl | None = None
        self._waiting: list[Seen] = []
        self._rows = self._outcomes = 0
        self._begun = self._saved = time.monotonic()
        self._pool = ThreadPoolExecutor(1)
        self._running: Future[None] | None = None

    def __enter__(self) -> FollowerControl:
        """Return this control."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Count the pending outcomes, and save the state."""
        self._submit()
        self._pool.shutdown()
        if self._running is not None:
            self._log_failure(self._running)
        self._save()

    @property
    def skipped(self) -> int:
        """The number of births and outcomes left out."""
        return self._skipped + (self._control.left_out if self._control else 0)

    def heed(self, seen: Seen) -> None:
        """Queue new births and outcomes; returns at once, as it is called often."""
        if self._rows + len(seen.births) > MOST_WAITING:
            self._skipped += len(seen.births)
            seen = Seen(seen.births.slice(0, 0), seen.outcomes, seen.clock)
        if self._outcomes + len(seen.outcomes) > MOST_OUTCOMES:
            self._skipped += len(seen.outcomes)
            seen = Seen(seen.births, seen.outcomes.slice(0, 0), seen.clock)
        self._rows += len(seen.births)
        self._outcomes += len(seen.outcomes)
        self._waiting.append(seen)
        is_free = self._running is None or self._running.done()
        if is_free and time.monotonic() - self._begun >= EVERY:
            if self._running is not None:
                self._log_failure(self._running)
            self._submit()

    def _submit(self) -> None:
        self._begun = time.monotonic()
        self._running = self._pool.submit(self._work, self._waiting)
        self._waiting, self._rows, self._outcomes = [], 0, 0

    def _log_failure(self, done: Future[None]) -> None:
        """Log the failure of a step. The follower continues, with fixed thresholds."""
        if (error := done.exception()) is not None:
            log.error("thresholds do not move: %s", error, exc_info=error)

    def _work(self, seen: list[Seen]) -> None:
        self._reload()
        control = self._control
        if control is None or not seen:
            return
        control.born(pa.Table.from_batches([each.births for each in seen]))
        control.became(pa.Table.from_batches([each.outcomes for each in seen]))
        control.count(seen[-1].clock)
        self._publish(control)
        self._refresh()
        if time.monotonic() - self._saved >= SAVE_EVERY:
            self._save()

    def _reload(self) -> None:
        """Load the published version if it has changed."""
        stamp = self._registry.stamp()
        if stamp == self._stamp:
            return
        with suppress(NoModelError):
            published = read_published(self._registry)
            model = TrainedModel.load(published.directory, False, published.kind)
            if self._control is None or published.base != self._control.control.version:
                self._refreshes = self._refreshes_of(published)
                self._control = self._of(published, model)
            else:
                self._control.models = model.of_kind(published.kind)
        self._stamp = stamp

    def _refreshes_of(self, published: Published) -> Refreshes | None:
        """Return what refreshes a version; None if that is off, or not possible."""
        try:
            return Refreshes(self._registry, published) if self._is_refreshing else None
        except (OSError, ValueError) as error:
            log.warning("%s is not refreshed: %s", published.base, error)
            return None

    def _refresh(self) -> None:
        """Refresh the version if it is time; thresholds move on if that fails."""
        try:
            if self._refreshes is not None:
                self._refreshes.refresh()
            self._refresh_error = ""
        except (OSError, ValueError) as error:
            if str(error) != self._refresh_error:
                log.warning("the published version is not refreshed: %s", error)
            self._refresh_error = str(error)

    def _of(self, published: Published, model: TrainedModel) -> FollowedControl:
        """Return the control of a version, resumed from the saved state."""
        models = model.of_kind(published.kind)
        static = {
            (key, scope): models.point(key, scope).bounded
            for key in models
            for scope in HISTORY_SCOPES
        }
        settings = ControlSettings(bound=model.parameters["bound"])
        control, counted_until = Control(static, settings, published.base), 0
        saved = self._read()
        if saved is not None and saved[0].version == published.base:
            control, counted_until = saved
        refresher = None if self._refreshes is None else self._refreshes.refresher
        return FollowedControl(
            models, model.predicates, control, counted_until, refresher=refresher
        )

    def _read(self) -> tuple[Control, int] | None:
        if not self._state.exists():
            return None
        try:
            table = read_table(self._state, None)
            return Control.from_table(table), int(table.schema.metadata[_COUNTED])
        except (DamagedModelError, ValueError, KeyError) as error:
            log.warning("%s: thresholds begin as calibrated: %s", self._state, error)
            return None

    def _publish(self, control: FollowedControl) -> None:
        rows = []
        for (key, scope), score in control.put_in_force().items():
            own = control.control.controllers[key, scope]
            least = control.models.least_sum(key, score, scope)
            assert least is not None
            rows.append(
                MovedThreshold(
                    predicate=key,
                    told=scope,
                    calibrated=own.static,
                    score=score,
                    sum=least,
                    outcomes=int(own.ledger.outcomes),
                    false_positives=int(own.ledger.false_positives),
                )
            )
        moved = MovedThresholds(
            version=control.control.version,
            kind=control.models.kind,
            bound=control.control.settings.bound,
            clock=control.counted_until,
            thresholds=rows,
        )
        thresholds.write(self._place, moved)

    def _save(self) -> None:
        """Save the state."""
        self._saved = time.monotonic()
        if (control := self._control) is None:
            return
        table = control.control.to_table()
        counted = {_COUNTED: str(control.counted_until).encode()}
        state = table.replace_schema_metadata({**table.schema.metadata, **counted})
        with durable.replaced(self._state) as path:
            write_table(path, state)
