"""A dry run of a night: the traces that it would ingest, and the datasets that it would remove."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from birthmark.training.config import Config
from birthmark.training.nightly.horizon import horizon
from birthmark.training.nightly.intake import datasets, new_traces, waiting
from birthmark.training.nightly.retention import removable
from birthmark.training.nightly.trace_files import unmatched, unreachable
from birthmark.training.registry.versions import Registry


@dataclass(frozen=True)
class Rehearsal:
    """Paths of new `traces` and of `waiting` ones; `refused` paths with reasons.

    `warnings` are as in `training.nightly.run.Night`. `removed` are the datasets and followed
    hours, and `pruned` the versions, that retention would remove before anything is ingested.
    """

    traces: list[str]
    waiting: list[str]
    refused: dict[str, str]
    warnings: list[str]
    removed: list[str]
    pruned: list[str]

    def to_json(self) -> dict[str, Any]:
        """Return the rehearsal as JSON objects."""
        return vars(self)


def rehearse(config: Config, now: datetime | None = None) -> Rehearsal:
    """Return the actions of a night in the present state."""
    directory, settings = config.datasets.directory, config.training
    sources = config.traces, directory, config.servers
    held = datasets(directory)
    found = horizon(held, settings.window_days, settings.least_births, now or datetime.now(UTC))
    believed = found.datasets if found else []
    going = removable(config, Registry(config.registry.directory), believed)
    return Rehearsal(
        [entry.path for entries in new_traces(*sources).values() for entry in entries],
        waiting(*sources),
        unreachable(config.globs),
        unmatched(config.globs),
        [path.name for path in (*going.datasets, *going.hours)],
        going.versions,
    )
