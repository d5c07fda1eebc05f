"""What a comparison is asked for in words, as the command line has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from birthmark.data.common.durations import duration
from birthmark.data.common.sizes import size
from birthmark.layout_hint.compare import Plan, read_policies
from birthmark.layout_hint.comparison import MODES, STATES, Settings
from birthmark.layout_hint.days import Hours, read_dates
from birthmark.layout_hint.disks import DEFAULT
from birthmark.layout_hint.region import geometry, region_start
from birthmark.predictor.answers.point import Point

BOTH, ALL = "both", "all"
AGE = {"fill": 0.7, "rounds": 8}
"""How a file system is aged: filled so far, and so often partly emptied and filled again."""

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Options:
    """Options of ``birthmark layout``, by their names."""

    region: str = "4M"
    region_start: str = "0"
    policies: str = "all"
    mode: str = ALL
    state: str = "fresh"
    nvram: bool = True
    seeds: int = 3
    seed: int = 1
    days: str | None = None
    first: str = "10:00"
    last: str = "16:00"
    warmup: str | None = None
    pace: str = "fast"
    cache: str = "800M"
    geometry: str = "freebsd48"
    partition: str = "40G"
    disk: str = ""
    point: Point | None = None

    def settings(self) -> Settings:
        """Return what all runs have in common; a warm-up that was not given is 0.

        Raises:
            ValueError: an option is not what it should be; the message begins with its name.
        """
        partition = _read("--partition", size, self.partition)
        length = _read("--region", size, self.region)
        sizes = geometry(self.geometry, partition)
        start = _read(
            "--region-start", lambda text: region_start(text, length, sizes), self.region_start
        )
        return Settings(
            geometry=self.geometry,
            partition=partition,
            region_start=start,
            region_length=length,
            cache=_read("--cache", size, self.cache),
            warmup=_read("--warmup", duration, self.warmup) / 1e6 if self.warmup else 0.0,
            pace=self.pace,
            disk=self.disk or DEFAULT,
            seeds=tuple(range(self.seed, self.seed + self.seeds)),
            age=None if self.state == "fresh" else AGE,
        )

    def plan(self) -> Plan:
        """Return which runs are made; errors as above."""
        return Plan(
            _read("--policies", read_policies, self.policies),
            tuple(each for each in MODES if self.mode in (each, ALL)),
            tuple(each for each in STATES if self.state in (each, BOTH)),
            self.nvram,
        )

    def hours(self) -> Hours:
        """Return the part of each day; errors as above."""
        return _read("--from, --to", lambda first: Hours.read(first, self.last), self.first)

    def dates(self) -> list[date] | None:
        """Return the days asked for, None for all; errors as above."""
        return _read("--days", read_dates, self.days) if self.days else None


def _read(option: str, reader: Callable[[str], _Value], text: str) -> _Value:
    try:
        return reader(text)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None
