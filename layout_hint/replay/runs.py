"""Runs of the replay: one day under one policy from one seed, and their outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import birthmark.layout_hint.native as native
from birthmark.data.datasets import row_groups
from birthmark.layout_hint.replay import hint_sources
from birthmark.layout_hint.replay.conditions import (
    DEFAULT,
    HOT_WRITE,
    INVERTED,
    MASKS,
    ORACLE,
    RANDOM,
    Settings,
)
from birthmark.layout_hint.replay.days import MANIFEST, OPERATIONS, Day
from birthmark.layout_hint.replay.lifetimes import lifetimes
from birthmark.layout_hint.replay.locality import Locality, locality
from birthmark.layout_hint.replay.rules import Rule

ROWS = 1 << 16
"""Rows of a batch for the replay."""


@dataclass(frozen=True)
class Run:
    """Parameters of a run on a day."""

    policy: str
    mode: str | None  # of MODES; None: without hints
    state: str  # fresh or aged
    seed: int
    nvram: bool = False


@dataclass(frozen=True)
class Outcome:
    """Results of a run."""

    run: Run
    locality: Locality
    elapsed: float  # seconds by the model's clock, after the warm-up
    summary: dict[str, Any]  # as the replay returns it
    counts: pa.Table | None  # operations of each block, if requested


class Replay:
    """A decoded day, on which policies are run.

    Args:
        day: the build.
        settings: the settings that all runs share.
        image: the compiled model that hints.
        disk: the drive's parameters.
        rules: policies besides the model's.

    Raises:
        ValueError: a rule does not return a verdict for each create.
    """

    def __init__(
        self,
        day: Day,
        settings: Settings,
        image: bytes,
        disk: dict[str, Any],
        rules: Iterable[Rule] = (),
    ) -> None:
        self._day, self._settings, self._image = day, settings, image
        self._disk = json.dumps(disk)
        rows = (_batches(day, MANIFEST), _batches(day, OPERATIONS))
        self._trace = native.LayoutTrace(*rows)
        self._creates = self._trace.creates()
        self._oracle: pa.Array | None = None
        self._of_rules = {rule.name: rule.verdicts(self._creates) for rule in rules}

    def learn(self, run: Run) -> Outcome:
        """Run by default, and compute the oracle's knowledge from the results."""
        found = self._run(run)
        lives, region = lifetimes(self._day.path), self._settings.region
        self._oracle = hint_sources.oracle(found.objects(), lives, len(self._creates), region)
        return self._outcome(run, found, True)

    def run(self, run: Run, keep: bool = False) -> Outcome:
        """Run; ``keep`` the counts."""
        return self._outcome(run, self._run(run), keep)

    def _run(self, run: Run) -> native.LayoutRun:
        given, image = self._hints(run)
        return self._trace.run(json.dumps(self._config(run)), given, image, self._disk)

    def _hints(self, run: Run) -> tuple[pa.Array | None, bytes | None]:
        """Return hints, or the image that the hook is to use."""
        if run.policy in self._of_rules:
            return self._of_rules[run.policy], None
        if run.policy == ORACLE:
            return self._oracle, None
        if run.policy == INVERTED:
            return hint_sources.inverted(hint_sources.of_model(self._image, self._creates)), None
        if run.policy == HOT_WRITE:
            return hint_sources.of_model(self._image, self._creates), None
        if run.policy == RANDOM:
            return hint_sources.at_random(len(self._creates), run.seed), None
        return None, None if run.policy == DEFAULT else self._image

    def _config(self, run: Run) -> dict[str, Any]:
        settings = self._settings
        region = {
            "start": settings.region_start,
            "length": settings.region_length,
            "inodes": settings.region_inodes,
            "mode": run.mode,
        }
        return {
            "geometry": settings.geometry,
            "allocator": settings.allocator,
            "bytes": settings.partition,
            "journal": settings.journal,
            "region": None if run.policy == DEFAULT else region,
            "policy": MASKS.get(run.policy, hint_sources.ALL),
            "seed": run.seed,
            "cache_bytes": settings.cache,
            "warmup_seconds": settings.warmup,
            "pace": settings.pace,
            "age": {**(settings.age or {}), "seed": run.seed} if run.state == "aged" else None,
            "nvram": run.nvram,
        }

    def _outcome(self, run: Run, found: native.LayoutRun, keep: bool) -> Outcome:
        counts, summary = found.counts(), json.loads(found.summary)
        if not summary["measured"]:
            raise ValueError(
                f"--warmup: expected less than the trace has, found {self._settings.warmup:g} s"
            )
        return Outcome(
            run,
            locality(counts, self._settings.places),
            summary["measured_elapsed"],
            summary,
            counts if keep else None,
        )


def _batches(day: Day, name: str) -> list[pa.RecordBatch]:
    return list(row_groups.batches(pq.ParquetFile(day.path / name), ROWS))


def run_all(replay: Replay, runs: list[Run], counted: set[Run], jobs: int) -> Iterator[Outcome]:
    """Yield the outcome of each run, as they end; the first must be by default.

    ``jobs`` run at a time; the counts of those in ``counted`` are stored.
    """
    first, *others = runs
    yield replay.learn(first)
    with ThreadPoolExecutor(jobs) as pool:
        for future in as_completed(
            [pool.submit(replay.run, each, each in counted) for each in others]
        ):
            yield future.result()
