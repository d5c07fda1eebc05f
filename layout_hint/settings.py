"""Settings of builds, of comparisons of layouts and of F2FS: defaults, ranges and vocabularies.

Commands make their options of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field

from birthmark.data.settings import Strict
from birthmark.predictor.answers.point import Point
from birthmark.predictor.parameters import REGION

Unnamed = Literal["invent", "discard"]
"""The treatment, in a replay, of files whose names the trace does not show."""

Geometry = Literal["freebsd48", "freebsd14", "freebsd15"]
"""A file system's sizes and its allocation policies."""

Mode = Literal["reserved", "data", "preferred"]
MODES: tuple[Mode, ...] = get_args(Mode)
"""Modes of the region: reserved for hot files, its data blocks alone reserved, or open to all."""

State = Literal["fresh", "aged"]
STATES: tuple[State, ...] = get_args(State)
"""States of a file system: as the build leaves it, or after ageing."""

Pace = Literal["fast", "trace"]
"""When the next operation starts: at once, or at its time in the trace."""

Rate = Annotated[
    float, Field(gt=0, le=100, description="share of the thesis's load and of its users")
]
"""The rate of a generated workload."""

KERNEL = "kernel"
"""The kernel's own allocator."""

ALL: Literal["all"] = "all"
BOTH: Literal["both"] = "both"


class Replay(Strict):
    """The settings of building a replay."""

    unnamed: Unnamed = Field(
        default="invent",
        description="files whose names the trace does not show: invent names, or discard them",
    )


class Options(Strict):
    """Options of a comparison.

    ``comparison.options`` parses sizes, times and lists.
    """

    point: Point | None = Field(
        default=None, description="threshold of the model's answers; default: as published"
    )
    region: str = Field(default=REGION, description="size of the region, as 4M")
    region_start: str = Field(
        default="0", description="first byte of the region; or tables-end, middle or data"
    )
    region_inodes: int | None = Field(
        default=None,
        ge=0,
        description="inodes of the region, from the first of its group on; default: those in its"
        " bytes, and with `data` as many bytes of them as of data",
    )
    policies: str = Field(
        default=ALL,
        description="hints to follow, separated by commas, as hotdir,hotname,hotdir+hotname;"
        " all: those of the thesis, all three, and the oracle; package.module:function: your own",
    )
    mode: Literal[Mode, "all"] = Field(
        default=ALL,
        description="keep other files out of: the region, its data, nothing; or all three",
    )
    state: Literal[State, "both"] = Field(
        default="fresh", description="file system before each run: new, or aged"
    )
    nvram: bool = Field(
        default=True, description="run HotDir+HotName with the region in memory, too"
    )
    seeds: int = Field(default=3, ge=1, description="number of runs of each policy")
    seed: int = Field(default=1, ge=0, description="seed of the first run; others count on from it")
    days: str | None = Field(
        default=None, description="days to simulate, YYYY-MM-DD, with commas or A..B; default: all"
    )
    first: str = Field(default="10:00", description="begin each day at this time, UTC")
    last: str = Field(default="16:00", description="end each day at this time, UTC")
    warmup: str | None = Field(
        default=None,
        description="warm-up time that is not counted, as 1h; default: a sixth, 1h at most",
    )
    pace: Pace = Field(
        default="fast", description="make operations as fast as the disk can, or as in the trace"
    )
    cache: str = Field(default="800M", description="size of the buffer cache, as 800M")
    geometry: Geometry = Field(default="freebsd48", description="file system")
    journal: bool = Field(
        default=False, description="give the file system a soft-updates journal, as newfs -j does"
    )
    allocator: str = Field(default=KERNEL, description="block allocator: the kernel's, or packed")
    partition: str = Field(default="40G", description="size of the file system, as 40G")
    disk: str = Field(default="wd1200bb", description="drive: a name, or a file that ends in .toml")
    jobs: int = Field(default=2, ge=1, description="number of runs at a time")


class Wanted(Strict):
    """A region to suggest for a file system."""

    region: str = Field(default=REGION, description="size of the region's data, as 4M")
    group: int | None = Field(
        default=None,
        ge=0,
        description="cylinder group of the region; default: the first with enough free space",
    )


class Places(Strict):
    """The folders of ``birthmark layout f2fs``."""

    before: Path = Field(
        default=Path("/var/lib/birthmark/f2fs"),
        description="folder for the lists as they were before the first change",
    )
    kernel: Path = Field(
        default=Path("/sys/fs/f2fs"),
        description="folder in which the kernel shows mounted F2FS",
    )
