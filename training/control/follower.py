"""A control at work beside a follower: it knows what is published, counts, and tells services."""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from birthmark.data.common import durable
from birthmark.data.follow.mirror import Seen
from birthmark.features.told import TOLD
from birthmark.predictor.control import Control, ControlSettings, FollowedControl, Row
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.parts import DamagedModelError, read_table, write_table
from birthmark.predictor.trained import TrainedModel
from birthmark.training.control import thresholds
from birthmark.training.control.regaining import Regaining
from birthmark.training.control.thresholds import MovedThreshold, MovedThresholds
from birthmark.training.registry.abstentions import ABSTAINING
from birthmark.training.registry.published import NoModelError, Published, read_published
from birthmark.training.registry.versions import Registry

EVERY = 1.0
"""How often outcomes are counted, and thresholds told, seconds."""

KEEP_EVERY = 10.0
"""How often what is known is written down, for the next follower, seconds."""

MOST_WAITING = 50_000
"""Of so many births that wait to be scored no more are taken."""

_STATE, _COUNTED = ".control", b"birthmark.counted_until"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Controlled:
    """The published version, and what moves its thresholds."""

    published: Published
    models: ModelSet[Any]
    control: FollowedControl


class FollowerControl:
    """Moves the thresholds of whatever a registry publishes, while a follower is at work.

    Give it what the mirror of the live history sees (``data.follow.mirror.Mirror.heed``). It works
    in a thread of its own; when that does not keep up, births are left out, and counted in
    ``skipped``, as are those that it has no room for. The thresholds are told beside ``history``;
    what the control knows is kept in ``out``, from which the next one goes on. Use it as a context
    manager.
    """

    def __init__(self, registry: Registry, history: Path, out: Path) -> None:
        self._skipped = 0
        self._registry = registry
        self._place, self._state = thresholds.beside(history), out / _STATE
        self._stamp: Hashable = None
        self._controlled: _Controlled | None = None
        self._abstaining: Mapping[str, str] = {}
        self._regaining: dict[Row, Regaining] = {}
        self._waiting: list[Seen] = []
        self._rows = 0
        self._begun = self._kept = time.monotonic()
        self._pool = ThreadPoolExecutor(1)
        self._running: Future[None] | None = None

    def __enter__(self) -> FollowerControl:
        """Begin."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Count what has come, and keep it."""
        self._submit()
        self._pool.shutdown()
        if self._running is not None:
            self._tell(self._running)
        self._keep()

    @property
    def skipped(self) -> int:
        """How many births were left out."""
        controlled = self._controlled
        return self._skipped + (controlled.control.left_out if controlled else 0)

    def heed(self, seen: Seen) -> None:
        """Take what came to be known; called often, it returns at once."""
        if self._rows + len(seen.births) > MOST_WAITING:
            self._skipped += len(seen.births)
            seen = Seen(seen.births.slice(0, 0), seen.outcomes, seen.clock)
        self._rows += len(seen.births)
        self._waiting.append(seen)
        is_free = self._running is None or self._running.done()
        if is_free and time.monotonic() - self._begun >= EVERY:
            if self._running is not None:
                self._tell(self._running)
            self._submit()

    def _submit(self) -> None:
        self._begun = time.monotonic()
        self._running = self._pool.submit(self._work, self._waiting)
        self._waiting, self._rows = [], 0

    def _tell(self, done: Future[None]) -> None:
        """Log why a step failed: answers must not end because thresholds no longer move."""
        if (error := done.exception()) is not None:
            log.error("thresholds do not move: %s", error, exc_info=error)

    def _work(self, seen: list[Seen]) -> None:
        self._look()
        if self._controlled is None or not seen:
            return
        control = self._controlled.control
        control.born(pa.Table.from_batches([each.births for each in seen]))
        control.became(pa.Table.from_batches([each.outcomes for each in seen]))
        control.count(seen[-1].clock)
        self._publish(self._controlled)
        if time.monotonic() - self._kept >= KEEP_EVERY:
            self._keep()

    def _look(self) -> None:
        """Take up what is published now, if it is another than before."""
        stamp = self._registry.stamp(), self._registry.stamp(ABSTAINING)
        if stamp == self._stamp:
            return
        with suppress(NoModelError):
            published = read_published(self._registry)
            if self._controlled is None or published.version != self._controlled.published.version:
                self._controlled = self._of(published)
                self._regaining.clear()
            self._abstaining = published.abstaining
        self._stamp = stamp

    def _of(self, published: Published) -> _Controlled:
        """Return what moves the thresholds of a version: what was kept of it goes on."""
        model = TrainedModel.load(published.directory, False, published.kind)
        models = model.of_kind(published.kind)
        static = {(key, told): models.point(key, told).bounded for key in models for told in TOLD}
        settings = ControlSettings(bound=model.parameters["bound"])
        control, counted_until = Control(static, settings, published.version), 0
        kept = self._read()
        if kept is not None and kept[0].version == published.version:
            control, counted_until = kept
        followed = FollowedControl(models, model.predicates, control, counted_until)
        return _Controlled(published, models, followed)

    def _read(self) -> tuple[Control, int] | None:
        if not self._state.exists():
            return None
        try:
            table = read_table(self._state, None)
            return Control.from_table(table), int(table.schema.metadata[_COUNTED])
        except (DamagedModelError, ValueError, KeyError) as error:
            log.warning("%s: thresholds begin as calibrated: %s", self._state, error)
            return None

    def _publish(self, controlled: _Controlled) -> None:
        control, models = controlled.control, controlled.models
        rows = []
        for (key, told), score in control.put_in_force().items():
            own = control.control.controllers[key, told]
            least = models.least_sum(key, score, told)
            assert least is not None
            rows.append(
                MovedThreshold(
                    predicate=key,
                    told=told,
                    calibrated=own.static,
                    score=score,
                    sum=least,
                    outcomes=own.outcomes,
                    false_positives=own.false_positives,
                    regained=self._has_regained((key, told), control),
                )
            )
        published = controlled.published
        moved = MovedThresholds(
            version=published.version,
            kind=published.kind,
            bound=control.control.settings.bound,
            clock=control.counted_until,
            thresholds=rows,
        )
        thresholds.write(self._place, moved)

    def _has_regained(self, row: Row, control: FollowedControl) -> bool:
        """Tell whether a predicate that abstains may be a yes again where so much is told."""
        if row[0] not in self._abstaining:
            return False
        own = control.control.controllers[row]
        counts = own.outcomes, own.false_positives
        bound = control.control.settings.bound
        regaining = self._regaining.setdefault(row, Regaining(bound, *counts))
        return regaining.count(control.counted_until, *counts)

    def _keep(self) -> None:
        """Write down what is known."""
        self._kept = time.monotonic()
        if self._controlled is None:
            return
        control = self._controlled.control
        table = control.control.to_table()
        counted = {_COUNTED: str(control.counted_until).encode()}
        told = table.replace_schema_metadata({**table.schema.metadata, **counted})
        with durable.replaced(self._state) as path:
            write_table(path, told)
