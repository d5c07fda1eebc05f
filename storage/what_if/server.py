"""A server's settings, in users' notation and in the simulator's."""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from birthmark.data.settings import Strict
from birthmark.layout_hint.disks import read_drive
from birthmark.storage.what_if.ahead import Policy as ReadAhead
from birthmark.storage.what_if.ahead import Table, policy
from birthmark.storage.what_if.columns import CLASSES
from birthmark.storage.what_if.hints import FOLLOWED, REGION, Policy

Quantiles = list[tuple[float, Annotated[float, Field(gt=0)]]]


class Distribution(Strict):
    """Distribution of the duration of work."""

    quantiles: Quantiles = Field(
        description="shares from 0 to 1, and below what time that share of the work is done, μs"
    )
    ns_per_byte: float = Field(default=0, ge=0, description="nanoseconds for each byte besides")

    @classmethod
    def constant(cls, micros: float, ns_per_byte: float = 0) -> Self:
        """Return work of constant duration."""
        return cls(quantiles=[(0, micros), (1, micros)], ns_per_byte=ns_per_byte)

    def median(self) -> float:
        """Return the median in microseconds, without bytes."""
        at = next(place for place, own in enumerate(self.quantiles) if own[0] >= 0.5)
        (low, below), (high, above) = self.quantiles[max(at - 1, 0)], self.quantiles[at]
        part = (0.5 - low) / (high - low) if high > low else 1.0
        return float(below * (above / below) ** part)

    def scaled(self, factor: float) -> Self:
        """Return work that takes `factor` times as long."""
        times = [(share, time * factor) for share, time in self.quantiles]
        return type(self)(quantiles=times, ns_per_byte=self.ns_per_byte * factor)

    def for_simulator(self) -> dict[str, Any]:
        """Return it in the simulator's notation, in nanoseconds."""
        times = [(share, time * 1000) for share, time in self.quantiles]
        return {"quantiles": times, "per_byte": self.ns_per_byte}


ASSUMED_WORK = Distribution.constant(50)
"""Assumed processor time of a call without evidence in a capture."""


class Server(Strict):
    """A server's known and fitted settings. Sizes are in bytes."""

    threads: int = Field(default=8, ge=1, description="threads that answer calls (nfsd)")
    processors: int = Field(default=1, ge=1, description="processors")
    in_turn: bool = Field(
        default=False, description="whether calls of a connection are worked on one at a time"
    )
    connections: int = Field(
        default=1, ge=1, le=16, description="connections in place of each (nconnect)"
    )
    memory: int = Field(default=1 << 40, ge=4096, description="memory for data of files")
    warm: float = Field(
        default=0, ge=0, le=1, description="of what is read first, the share found in memory"
    )
    link: int = Field(default=0, ge=0, description="bytes a second; 0: no limit")
    read_ahead: ReadAhead = Field(default="none", description="policy of read-ahead")
    read_ahead_most: int = Field(default=128 << 10, ge=4096, description="most bytes; of linux")
    read_ahead_table: Table = Field(default="none", description="entries/probes of its table")
    write_buffer: int = Field(default=0, ge=0, description="bytes that outlast a power failure")
    changes_to_disk: bool = Field(
        default=False, description="whether changes of names are on disk before they are answered"
    )
    locks: bool = Field(
        default=False, description="whether a writer has exclusive access to the file"
    )
    disks: int = Field(default=1, ge=1, le=1000, description="how many disks")
    stripe: int = Field(default=64 << 10, ge=4096, description="bytes on a disk before the next")
    channels: int = Field(default=8, ge=1, description="requests that a disk serves at a time")
    drive: str | None = Field(
        default=None, description="a drive with an arm, in place of the times of reads and writes"
    )
    layout_hint: Policy = Field(default="Default", description="policy whose hints place the files")
    region: int = Field(
        default=REGION, ge=1 << 20, le=64 << 20, description="bytes for what is hot"
    )
    disk_read: Distribution = Field(
        default=Distribution.constant(100), description="a disk's time for a read"
    )
    disk_write: Distribution = Field(
        default=Distribution.constant(100), description="time until a write is stable"
    )
    work: dict[str, Distribution] = Field(
        default={}, description="processor time of calls, by class"
    )

    @model_validator(mode="after")
    def _known_classes(self) -> Self:
        if unknown := sorted(set(self.work) - set(CLASSES)):
            raise ValueError(f"work: expected any of {', '.join(CLASSES)}, found {unknown[0]!r}")
        return self

    def for_simulator(self) -> str:
        """Return it in the simulator's notation (storage/simulator/src/server/parameters.rs)."""
        return json.dumps(
            {
                "threads": self.threads,
                "processors": self.processors,
                "in_turn": self.in_turn,
                "connections": self.connections,
                "work": [self.work.get(name, ASSUMED_WORK).for_simulator() for name in CLASSES],
                "link": self.link,
                "memory": self.memory,
                "block": BLOCK,
                "warm": self.warm,
                "ahead": policy(self.read_ahead, self.read_ahead_table, self.read_ahead_most),
                "changes_to_disk": self.changes_to_disk,
                "locks": self.locks,
                "write_buffer": self.write_buffer,
                "write_back": WRITE_BACK_NS,
                "disks": self._disks(),
            }
        )

    def _disks(self) -> dict[str, Any]:
        hints = FOLLOWED[self.layout_hint]
        region = self.region if hints else 0
        return {
            "count": self.disks,
            "stripe": self.stripe,
            "kind": self._kind(),
            "region": region,
            "hints": hints,
        }

    def _kind(self) -> dict[str, Any]:
        if self.drive is not None:
            drive = read_drive(self.drive).parameters()
            drive["buffer"]["fast_writes"] = False  # data in its buffer is not stable
            return {"drive": drive}
        reads, writes = self.disk_read.for_simulator(), self.disk_write.for_simulator()
        return {"flash": {"channels": self.channels, "read": reads, "write": writes}}


BLOCK = 4096
"""The size of a block of the cache."""

WRITE_BACK_NS = 30_000_000_000
"""Time after which written data goes to disk unasked."""
