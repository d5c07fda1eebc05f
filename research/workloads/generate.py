"""Workloads as operations: generated window by window, from one seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.durations import HOUR
from birthmark.data.common.setting_errors import check
from birthmark.data.settings import WORKLOADS
from birthmark.research.settings import Generating
from birthmark.research.workloads.clock import Clock, Window, shares
from birthmark.research.workloads.nursery import Nursery
from birthmark.research.workloads.profile import Profile, read_profile
from birthmark.research.workloads.rows import OPS, ROW, Rows
from birthmark.research.workloads.sessions import Sessions
from birthmark.research.workloads.site import Site
from birthmark.research.workloads.table import OperationsTable

_PILOT = 4_000  # sample of births to estimate the operations per birth


@dataclass(frozen=True)
class Workload:
    """A workload to generate; equal workloads always give equal operations.

    `name` is one of `WORKLOADS`; `start` a date as 2001-10-22, midnight UTC; `rate` the part of the
    thesis's load (and of its users), 1 for all.
    """

    name: str
    seed: int
    start: str
    days: float = Generating.model_fields["days"].default
    rate: float = Generating.model_fields["rate"].default

    def __post_init__(self) -> None:
        read_profile(self.name)
        check(Generating, **asdict(self))

    def to_json(self) -> dict[str, Any]:
        """Return the workload as a JSON object."""
        return asdict(self)


def generate(workload: Workload) -> Iterator[pa.RecordBatch]:
    """Yield the operations, in the order of their replies (`data.schema.OPERATIONS`).

    A batch has the replies of one window of time; about 60,000 rows are in memory at once, for any
    trace length. Operations whose reply would come after the end are left out.
    """
    source = Source(workload)
    for rows in source.plan():
        yield source.table.batch(rows)


class Source:
    """The sources of a workload's operations: the site, its new files, its sessions.

    Attributes:
        site: users, hosts and files, whose state advances with the plan.
        table: makes batches of the rows of `plan`, in order.
    """

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        profile = read_profile(workload.name)
        self._seed = [workload.seed, WORKLOADS.index(workload.name)]
        self._clock = Clock(profile, workload.rate)
        start = int(np.datetime64(workload.start, "us").astype(np.int64))
        self.site, self._nursery = _population(profile, workload.rate, start, self._seed)
        each = operations_per_birth(profile, workload.rate, start, self._seed)
        self._sessions = Sessions(self.site, each)
        self.table = OperationsTable(self.site, workload.to_json())

    def plan(self) -> Iterator[Rows]:
        """Yield the rows of each window of time, in the order of their replies."""
        workload, pending = self._workload, np.zeros(0, ROW)
        start = date.fromisoformat(workload.start)
        for window in self._clock.windows(start, workload.days, self._seed):
            rng = np.random.default_rng([*self._seed, 2, window.index])
            begun = [*self._nursery.plan(window, rng), *self._sessions.plan(window, rng)]
            rows = np.concatenate([pending, *begun])
            due = rows["reply"] < window.end
            pending, rows = rows[~due], rows[due]
            yield rows[np.argsort(rows["reply"], kind="stable")]
            self.site.objects.release(rows["obj"][rows["last"]].astype(np.int64))


def _population(profile: Profile, rate: float, start: int, seed: list[int]) -> tuple[Site, Nursery]:
    site = Site(profile, rate, start, np.random.default_rng([*seed, 3]))
    return site, Nursery(site)


def operations_per_birth(
    profile: Profile, rate: float, start: int, seed: list[int]
) -> dict[str, float]:
    """Return the mean operations of each name during the life of a new file.

    They are estimated from a sample of some thousand files.
    """
    _, nursery = _population(profile, rate, start, seed)
    window = Window(0, start, start + HOUR, dict.fromkeys(shares(profile.peak), _PILOT))
    rows = np.concatenate(nursery.plan(window, np.random.default_rng([*seed, 4])))
    counts = np.bincount(rows["op"], minlength=len(OPS))
    created = counts[OPS.index("create")]
    each = {op: float(count / created) for op, count in zip(OPS, counts, strict=True)}
    listed = set(shares(profile.peak)) - {"other"}
    return each | {"other": sum(n for op, n in each.items() if op not in listed)}
