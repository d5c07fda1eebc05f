"""A drive's parameters: ``Parameters`` in ``storage/simulator/src/drive``.

Types are checked here. The native code checks whether the drive is possible, and names the key.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from birthmark.data.settings import Strict

Count = Annotated[int, Field(ge=0, le=2**32 - 1)]
Sectors = Annotated[int, Field(ge=0, le=2**53)]
Time = Annotated[float, Field(ge=0, le=1e5, allow_inf_nan=False)]


class Sparing(Strict):
    """Positions of spare sectors."""

    at_end_of: Literal["disk", "range", "zone"] = Field(
        description="of the drive, of each range of cylinders, or of each zone"
    )
    range_cylinders: Count = Field(description="cylinders of a range")


class Overheads(Strict):
    """Milliseconds of the controller for a request, by the kind of the previous one.

    A read hits if its first sector is in the buffer, a write if it is done before it is on the
    medium.
    """

    read_hit_after_read: Time
    read_hit_after_write: Time
    read_miss_after_read: Time
    read_miss_after_write: Time
    write_hit_after_read: Time
    write_hit_after_write: Time
    write_miss_after_read: Time
    write_miss_after_write: Time


class Buffer(Strict):
    """The drive's memory, and its policies."""

    segments: Count
    segment_sectors: Sectors = Field(description="room of each segment")
    write_segments: Count = Field(description="segments that may hold written data")
    separate_write_segment: bool = Field(description="one segment is for writes alone")
    read_ahead: Literal["none", "most", "track"] = Field(
        description="after a read: none, a number of sectors, or to the end of the track, and of"
        " the next one if the segment began before this one"
    )
    read_ahead_sectors: Sectors = Field(
        description="that are read on, unless to the end of the track"
    )
    read_passing_sectors: bool = Field(
        description="keep sectors before those asked for that pass under the head first"
    )
    zero_latency_reads: bool = Field(description="read a track's sectors in the order they pass")
    zero_latency_writes: bool = Field(description="write a track's sectors in the order they pass")
    read_hits_on_writes: bool = Field(description="reads hit written data")
    combine_writes: bool = Field(
        description="a sequential write joins the segment of the waiting write before it"
    )
    fast_writes: bool = Field(description="a write completes once it is in the buffer")


class WriteCache(Strict):
    """Memory for writes that are done before they are on the medium."""

    sectors: Sectors = Field(description="that fit in")
    runs: Count = Field(description="most runs of sectors")
    high_sectors: Sectors = Field(description="with more it writes whenever the arm is free")
    low_sectors: Sectors = Field(description="with so many it stops")
    idle_ms: Time = Field(description="of idling, after which all is written")
    order: Literal["arrival", "nearest"] = Field(description="by arrival, or by least access time")


class Zone(Strict):
    """Cylinders with the same number of sectors in a track. Areas are in sectors."""

    first_cylinder: Count = Field(description="the outermost")
    last_cylinder: Count = Field(description="the innermost")
    sectors: Count = Field(description="in each track")
    offset: Count = Field(description="from the index mark to the first sector of the zone")
    empty: Sectors = Field(description="at the beginning that no host can address")
    track_skew: Count = Field(description="that a track begins after the one before")
    cylinder_skew: Count = Field(description="that a cylinder begins after the track before")
    spares: Sectors = Field(description="of each range, or of the zone")
    slips: list[Sectors] = Field(description="bad and slipped over, from the zone's beginning")
    defects: list[tuple[Sectors, Sectors]] = Field(description="bad, and what replaces each")


class Drive(Strict):
    """A drive. Times are in milliseconds, as in data sheets."""

    name: str
    assumed: str = Field(
        default="", description="its unmeasured parameters; every output names them"
    )
    sectors: Sectors = Field(description="that a host can address")
    rpm: float = Field(allow_inf_nan=False, description="revolutions per minute")
    heads: Count
    cylinders: Count
    mapping: Literal["ascending", "serpentine"] = Field(
        description="order of a cylinder's tracks: by head, or backwards in every other cylinder"
    )
    head_switch_ms: Time
    write_settle_ms: Time = Field(
        description="more to settle before a write, after a move of arm or head"
    )
    bus_ms_per_sector: Time = Field(description="between drive and host")
    seek: list[tuple[Count, Time]] = Field(description="cylinders, rising from 1, and time to read")
    write_seek: list[tuple[Count, Time]] = Field(
        default=[], description="the same to write, if not as long; before settling"
    )
    sparing: Sparing
    overheads_ms: Overheads
    buffer: Buffer
    write_cache: WriteCache | None = Field(
        default=None, description="none if the buffer's segments take writes"
    )
    zones: list[Zone]

    def parameters(self) -> dict[str, Any]:
        """Return it for the native code, as JSON."""
        return self.model_dump(mode="json", exclude={"assumed"})
