"""Conditions of replays: the policies, and the settings that all runs share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from birthmark.layout_hint.replay.region import Place, Region, geometry
from birthmark_native import HINTS

BLOCK = 4096
"""Bytes of the blocks that are counted (thesis section 7.1)."""

DEFAULT = "Default"
"""The baseline policy: the unmodified file system."""

_BITS = {hint.key: hint.bit for hint in HINTS}
POLICIES = {
    DEFAULT: 0,
    "HotDir": _BITS["HotDir"],
    "HotName": _BITS["HotName"],
    "HotDir+HotName": _BITS["HotDir"] | _BITS["HotName"],
    "all three": sum(_BITS.values()),
}
"""The verdicts that a policy follows, in the tables' order."""

ORACLE, INVERTED, RANDOM = "oracle", "inverted", "random"
"""Further policies with hints from other sources: see `hint_sources`."""

HOT_WRITE = "HotWrite"
"""A model's HotWrite alone. The hook refuses that; it is run to measure why."""

MASKS = POLICIES | {HOT_WRITE: _BITS[HOT_WRITE]}
"""The verdicts that are followed, if not all are."""


@dataclass(frozen=True)
class Settings:
    """Settings that all runs of a comparison share. Sizes and places are in bytes."""

    geometry: str
    partition: int
    region_start: int
    region_length: int
    region_inodes: int  # number from the first of its group; 0: those in its bytes
    cache: int
    warmup: float  # seconds of the trace
    pace: str
    disk: str  # the name of the drive
    seeds: tuple[int, ...]
    age: Mapping[str, Any] | None = None  # options of ageing
    journal: bool = False  # of soft updates
    allocator: str | None = None  # name of the allocator; None: the kernel's

    @property
    def region(self) -> Region:
        """Size of the region; ``ValueError`` if there is no such region."""
        place = (self.region_start, self.region_length, self.region_inodes)
        return Region.of(self.geometry, self.partition, *place)

    @property
    def places(self) -> list[Place]:
        """The bytes of the region."""
        sizes = geometry(self.geometry, self.partition)
        return sizes.places(self.region_start, self.region_length, self.region_inodes)
