"""What a drive is: the parameters of ``Parameters`` in ``layout_hint/sim/src/disk``."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any

from pydantic import Field, model_validator

from birthmark.data.settings import Strict

SECTOR = 512
_LARGEST = 1e6  # far above what any drive has: what is larger was written in another unit

Time = Annotated[float, Field(ge=0, le=_LARGEST, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=_LARGEST, allow_inf_nan=False)]


class Zone(Strict):
    """Cylinders with the same number of sectors in a track."""

    first_cylinder: int = Field(ge=0, description="the outermost")
    sectors: int = Field(ge=1, le=1 << 20, description="in each track")
    head_skew: int = Field(ge=0, description="sectors that a track begins after the head before's")
    cylinder_skew: int = Field(
        ge=0, description="sectors that a cylinder begins after the last track of the one before"
    )

    @model_validator(mode="after")
    def _skews(self) -> Zone:
        if max(self.head_skew, self.cylinder_skew) >= self.sectors:
            raise ValueError("expected skews of fewer sectors than the track has")
        return self


class Curve(Strict):
    """A seek of the share x of the full stroke takes base + root * sqrt(x) + linear * x ms."""

    base: Time
    root: Time
    linear: Time


class Seek(Strict):
    """Either points, with straight lines between, or a curve."""

    points: list[tuple[int, Time]] | None = Field(
        default=None, description="cylinders, rising from 1, and milliseconds"
    )
    curve: Curve | None = None

    @model_validator(mode="after")
    def _one(self) -> Seek:
        if (self.points is None) == (self.curve is None):
            raise ValueError("expected either points or a curve")
        if self.points is not None:
            distances = [distance for distance, _ in self.points]
            rising = all(a < b for a, b in pairwise(distances))
            if not rising or distances[:1] != [1]:
                raise ValueError("expected points for distances that rise from 1")
        return self


class Disk(Strict):
    """A drive. Times are in milliseconds, as in data sheets."""

    name: str
    assumption: bool = Field(description="whether some of it was assumed for want of a publication")
    rpm: Positive
    heads: int = Field(ge=1, le=1024)
    cylinders: int = Field(ge=2, le=1 << 22)
    head_switch_ms: Time
    write_settle_ms: Time = Field(description="longer before a write, after the arm or head moved")
    overhead_ms: Time = Field(description="of the controller, for each request")
    interface_mb_per_s: Positive = Field(description="10**6 bytes a second")
    segments: int = Field(ge=0, le=256, description="of memory to read ahead into; 0: none")
    segment_kib: int = Field(ge=1, le=1 << 20)
    write_cache: bool = Field(default=False, description="a write is done once in that memory")
    zones: list[Zone] = Field(min_length=1)
    seek: Seek

    @model_validator(mode="after")
    def _inside(self) -> Disk:
        firsts = [zone.first_cylinder for zone in self.zones]
        if firsts[0] != 0 or any(a >= b for a, b in pairwise(firsts)):
            raise ValueError("expected zones whose first_cylinder rises from 0")
        if firsts[-1] >= self.cylinders:
            raise ValueError(f"expected zones in {self.cylinders} cylinders, found {firsts[-1]}")
        if self.seek.points and self.seek.points[-1][0] >= self.cylinders:
            raise ValueError(f"expected seeks over fewer than {self.cylinders} cylinders")
        return self

    @property
    def bytes(self) -> int:
        """How much it holds."""
        ends = [zone.first_cylinder for zone in self.zones[1:]] + [self.cylinders]
        tracks = zip(self.zones, ends, strict=True)
        sectors = sum((end - zone.first_cylinder) * zone.sectors for zone, end in tracks)
        return sectors * self.heads * SECTOR

    def parameters(self) -> dict[str, Any]:
        """Return it as the engine has it, which is JSON."""
        return self.model_dump(mode="json", exclude_none=True)
