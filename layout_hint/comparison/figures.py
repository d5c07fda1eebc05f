"""Results of a comparison of layout policies: the figures of thesis Tables 7.1 to 7.4.

A *run* replays one day on one file system, under one policy, from one seed; a :class:`Result` is
the runs of one policy that differ in their seeds only. Shares are fractions, 0 to 1, of the 4 KB
blocks that the disk read or wrote after the warm-up (thesis section 7.1).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from birthmark.data.common.plurals import counted
from birthmark.data.generated import Mark
from birthmark.layout_hint.replay.conditions import DEFAULT, Settings
from birthmark.layout_hint.settings import MODES, STATES


@dataclass(frozen=True)
class Spread:
    """A figure over several seeds."""

    values: tuple[float, ...]  # in the order of the seeds

    @property
    def n(self) -> int:
        """Number of runs."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Mean; NaN if empty."""
        return statistics.fmean(self.values) if self.values else math.nan

    @property
    def deviation(self) -> float | None:
        """Sample standard deviation (n - 1); None for fewer than two."""
        return statistics.stdev(self.values) if self.n > 1 else None

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {"mean": self.mean, "deviation": self.deviation, "n": self.n, "values": self.values}


@dataclass(frozen=True)
class Shares:
    """Shares of all operations, of the reads and of the writes, as fractions."""

    total: Spread
    read: Spread
    write: Spread

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {name: getattr(self, name).to_json() for name in ("total", "read", "write")}


@dataclass(frozen=True)
class Result:
    """One policy on one day: a row of Tables 7.1 to 7.3, and a cell of Table 7.4."""

    day: str  # YYYY-MM-DD, or the name of the build
    policy: str  # a key of POLICIES, or ORACLE, HOT_WRITE, INVERTED, RANDOM; or a rule's
    mode: str | None  # of MODES; None: without hints the region is only a range of bytes
    state: str  # of STATES
    nvram: bool  # whether the region was memory instead of disk
    target: Shares  # operations in the region
    optimal: Shares  # operations on the hottest blocks, as many as the region has
    random: Spread  # expected share of a random region: its blocks among all touched ones
    reads: Spread  # blocks read after the warm-up
    writes: Spread  # and written
    elapsed: Spread  # seconds by the model's clock, after the warm-up
    improvement: Spread  # of elapsed against Default's run of the same seed, as a fraction
    speed: Spread  # operations per second of the machine's time, the manifest's creates besides
    inconsistency: str | None  # what the check of the file system found, in any run

    @property
    def of_optimal(self) -> float:
        """The mean share of writes in the region, as a fraction of the optimal one."""
        return self.target.write.mean / self.optimal.write.mean if self.optimal.write.mean else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        shallow = {name: getattr(self, name) for name in self.__dataclass_fields__}
        members = {k: v.to_json() if hasattr(v, "to_json") else v for k, v in shallow.items()}
        return members | {"of_optimal": self.of_optimal}


@dataclass(frozen=True, repr=False)
class Comparison:
    """The results of one ``birthmark layout``."""

    title: str  # what was replayed, as CAMPUS
    settings: Settings
    days: tuple[str, ...]
    results: tuple[Result, ...]  # by day, in the order of the days and of the policies
    heat: Mapping[tuple[str, str, str | None, str], pa.Table]
    """Counts of the first seed's run by (day, policy, mode, state): ``block`` (int64, 4 KB, from
    the partition's start), ``reads``, ``writes`` (uint32). Runs with NVRAM are left out."""
    generated: Sequence[Mark] = field(default_factory=tuple)  # by which workloads, if not real

    def __repr__(self) -> str:
        policies = ", ".join(dict.fromkeys(each.policy for each in self.results))
        days = counted(len(self.days), "days")
        return f"<Comparison of {policies} on {days} of {self.title}>"

    def find(
        self, day: str, policy: str, mode: str | None, state: str = STATES[0], nvram: bool = False
    ) -> Result | None:
        """Return one result; None if there was no such run. Default's mode is always None."""
        wanted = (day, policy, None if policy == DEFAULT else mode, state, nvram)
        for each in self.results:
            if (each.day, each.policy, each.mode, each.state, each.nvram) == wanted:
                return each
        return None

    def of_state(self, state: str, nvram: bool = False) -> Iterator[Result]:
        """Yield the results of fresh, or of aged, file systems."""
        return (each for each in self.results if (each.state, each.nvram) == (state, nvram))

    @property
    def states(self) -> tuple[str, ...]:
        """The states that were run, in their order."""
        found = {each.state for each in self.results}
        return tuple(state for state in STATES if state in found)

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes that were run, in their order."""
        found = {each.mode for each in self.results}
        return tuple(mode for mode in MODES if mode in found)

    def to_json(self) -> dict[str, Any]:
        """Return all but the heat, for JSON."""
        return {
            "title": self.title,
            "generated": list(self.generated),
            "settings": asdict(self.settings),
            "days": list(self.days),
            "results": [each.to_json() for each in self.results],
        }
