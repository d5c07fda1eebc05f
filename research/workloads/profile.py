"""The definition of a workload: ``campus.toml``, ``deas03.toml`` and ``eecs03.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

from pydantic import Field

from birthmark.data.settings import WORKLOADS, Strict

MIX = ("read", "write", "lookup", "getattr", "access", "create", "remove")
"""The operations whose shares Tables 4.1 and 4.2 give."""


class Hours(Strict):
    """One row of Table 4.1 or 4.2: thousands of operations an hour, and shares in percent."""

    total: float
    read: float
    write: float
    lookup: float
    getattr: float
    access: float
    create: float
    remove: float


class Load(Strict):
    """The hours of a day."""

    weekday: list[float] = Field(min_length=24, max_length=24)
    weekend: list[float] = Field(min_length=24, max_length=24)
    variation: float = Field(ge=0, description="of an hour's load from day to day: deviation/mean")


class Run(Strict):
    """How older files are read or written: sequentially, in transfers of a size."""

    length: float = Field(gt=0, description="mean operations in a run")
    sizes: list[int] = Field(description="sizes of transfers, bytes")
    shares: list[float] = Field(description="of the runs with each size")


class Kind(Strict):
    """A kind of files that exist before the trace begins, and stay."""

    name: str
    directory: str = "home"
    count: int = Field(default=1, description="for each user, or in all where shared")
    shared: bool = False
    size: tuple[int, int] = Field(description="least and greatest, bytes")
    mode: int = 0o644
    read: float = Field(description="weight among the files read")
    write: float = Field(description="weight among the files written")


class FileClass(Strict):
    """A class of created files: alike in their names and futures."""

    name: str = Field(description="pattern of the name; see research.workloads.naming")
    share: float = Field(gt=0, description="percent of the files created")
    directory: str = "home"
    lock: str | None = Field(default=None, description="the name that a lock file is linked to")
    mode: int = 0o644
    hosts: list[str] | None = Field(default=None, description="where created; None: anywhere")
    sizes: list[float] = Field(min_length=5, max_length=5, description="shares; see SIZES")
    lives: list[float] = Field(min_length=5, max_length=5, description="shares; see LIVES")
    uses: list[float] = Field(default=[1, 0, 0], min_length=3, max_length=3, description="see USES")


SIZES = ((0, 0), (64, 16_384), (16_385, 65_536), (65_537, 1_000_000), (1_100_000, 4_000_000))
"""Bytes of the sizes that `FileClass.sizes` gives the shares of: the bounds of Table 6.5."""

LIVES = ((0.05, 0.98), (1.05, 4.9), (5.1, 29.5), (31.0, 21_600.0), (None, None))
"""Seconds of the lifespans that `FileClass.lives` gives the shares of; the last never die."""

USES = ("written", "read", "rewritten")
"""The use of a file after it is written: none; read; read, and written again."""


class Profile(Strict):
    """A workload."""

    title: str
    source: str
    start: str = Field(description="the day to begin with, a Monday")
    server: str
    network: str = Field(description="the first two bytes of the clients' addresses")
    transport: Literal["tcp", "udp"]
    hosts: list[str] = Field(description="clients that users share")
    workstations: float = Field(description="clients of a single user, for each user")
    users: int = Field(description="at rate 1")
    first_uid: int
    activity: float = Field(description="exponent of the users' shares of the load, by rank")
    shared: list[str] = Field(description="directories that all users share")
    private: list[str] = Field(description="directories that each user has in their home")
    missing: list[str] = Field(description="names that are looked for in vain")
    missed: float = Field(description="share of lookups that are in vain")
    other: dict[Literal["commit", "fsstat"], float] = Field(
        description="shares of the operations that Table 4.2 does not list"
    )
    peak: Hours = Field(description="Table 4.2")
    all: Hours = Field(description="Table 4.1")
    load: Load
    read: Run
    write: Run
    kinds: list[Kind]
    files: list[FileClass]


def read_profile(workload: str) -> Profile:
    """Return the workload of that name, one of `WORKLOADS`.

    Raises `ValueError` for any other name.
    """
    if workload not in WORKLOADS:
        raise ValueError(f"workload: expected one of {', '.join(WORKLOADS)}, found {workload!r}")
    path = Path(__file__).with_name(f"{workload}.toml")
    return Profile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
