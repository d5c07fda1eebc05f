"""The drives of the IBM Ultrastar 73LZX family, with assumptions for unknown parameters.

Hsu and Smith (section 3) print: 10,000 revolutions per minute; an average seek of 4.9 ms; 29 to 57
MB/s from the inner to the outer tracks, which hold 160 to 340 KB; 27,000 tracks an inch; and seek
times that are a power of the distance below 5,000 tracks and a straight line above. Other
parameters are chosen to match these.
"""

from __future__ import annotations

from itertools import pairwise

from birthmark.layout_hint.disks.drive import Buffer, Drive, Overheads, Sparing, Zone

ASSUMED = (
    "cylinders, heads, zones, both seek curves, head switch, overheads and bus: only"
    " rotation, average seek, data rates and the size of tracks are printed"
)
MEMBERS = {2: 17_800, 3: 24_000, 6: 24_000, 12: 24_000}
"""Heads and cylinders of the members with 9.1, 18.3, 36.7 and 73.4 GB, about."""

ZONES = 11
OUTER, INNER = 680, 320
"""Sectors of the outermost and the innermost tracks: 340 and 160 KB."""

POWER_UP_TO = 5_000
REVOLUTION_MS = 6.0
HEAD_SWITCH_MS = 0.7
READ_SEEK = (0.6, 4.9, 10.5)
"""Milliseconds of the shortest, the average and the longest seek to read."""

WRITE_SEEK = (0.8, 5.4, 11.0)


def ultrastar(heads: int) -> Drive:
    """Return the member of the family with this number of heads."""
    cylinders = MEMBERS[heads]
    zones = [_zone(number, cylinders) for number in range(ZONES)]
    tracks = (zone.last_cylinder - zone.first_cylinder + 1 for zone in zones)
    sectors = sum(count * zone.sectors for count, zone in zip(tracks, zones, strict=True)) * heads
    return Drive(
        name=f"Ultrastar 73LZX, {sectors * 512 / 1e9:.1f} GB",
        assumed=ASSUMED,
        sectors=sectors,
        rpm=60_000 / REVOLUTION_MS,
        heads=heads,
        cylinders=cylinders,
        mapping="ascending",
        head_switch_ms=HEAD_SWITCH_MS,
        write_settle_ms=0,
        bus_ms_per_sector=512 / 160e6 * 1e3,
        seek=_seek(*READ_SEEK, cylinders),
        write_seek=_seek(*WRITE_SEEK, cylinders),
        sparing=Sparing(at_end_of="zone", range_cylinders=1),
        overheads_ms=_overheads(hit=0.03, miss=0.2),
        buffer=_buffer(),
        zones=zones,
    )


def smallest(storage_bytes: float) -> Drive:
    """Return the smallest member with a fifth more than a size; `ValueError` if none is."""
    for heads in MEMBERS:
        drive = ultrastar(heads)
        if drive.sectors * 512 >= 1.25 * storage_bytes:
            return drive
    raise ValueError(f"{storage_bytes / 1e9:.1f} GB: expected less than the largest drive holds")


def _zone(number: int, cylinders: int) -> Zone:
    bounds = [round(cylinders * at / ZONES) for at in (number, number + 1)]
    sectors = round(OUTER - (OUTER - INNER) * number / (ZONES - 1))
    return Zone(
        first_cylinder=bounds[0],
        last_cylinder=bounds[1] - 1,
        sectors=sectors,
        offset=0,
        empty=0,
        track_skew=-int(-HEAD_SWITCH_MS / REVOLUTION_MS * sectors // 1),
        cylinder_skew=-int(-WRITE_SEEK[0] / REVOLUTION_MS * sectors // 1),
        spares=0,
        slips=[],
        defects=[],
    )


def _seek(single: float, average: float, full: float, cylinders: int) -> list[tuple[int, float]]:
    """Return points of a curve; its initial slope is solved for the average."""
    low, high = 0.0, full
    for _ in range(60):
        middle = (low + high) / 2
        if _average(_points(single, middle, full, cylinders), cylinders) < average:
            low = middle
        else:
            high = middle
    return [(distance, round(ms, 4)) for distance, ms in _points(single, low, full, cylinders)]


def _points(single: float, rise: float, full: float, cylinders: int) -> list[tuple[int, float]]:
    """Return points: a square root with this rise, up to a straight line."""
    distances = [
        1,
        2,
        4,
        8,
        16,
        32,
        64,
        125,
        250,
        500,
        1000,
        1500,
        2000,
        2500,
        3000,
        3500,
        4000,
        4500,
    ]
    points = [(each, single + rise * ((each - 1) / POWER_UP_TO) ** 0.5) for each in distances]
    return [*points, (POWER_UP_TO, single + rise), (cylinders - 1, full)]


def _average(points: list[tuple[int, float]], cylinders: int) -> float:
    """Return the average over two random cylinders; long distances are rarer."""
    total = weight = 0.0
    for (near, soon), (far, late) in pairwise(points):
        middle = (near + far) / 2
        # Simpson's rule, which is exact for the product of two straight lines.
        for at, ms, times in ((near, soon, 1), (middle, (soon + late) / 2, 4), (far, late, 1)):
            share = times * (far - near) * (1 - at / cylinders)
            total += share * ms
            weight += share
    return total / weight


def _overheads(hit: float, miss: float) -> Overheads:
    times = {
        f"{what}_{found}_after_{before}": hit if found == "hit" else miss
        for what in ("read", "write")
        for found in ("hit", "miss")
        for before in ("read", "write")
    }
    return Overheads.model_validate(times)


def _buffer() -> Buffer:
    """Return a drive's own memory: 4 MB as in its data sheet, with plain policies."""
    return Buffer(
        segments=16,
        segment_sectors=512,
        write_segments=1,
        separate_write_segment=False,
        read_ahead="most",
        read_ahead_sectors=512,
        read_passing_sectors=False,
        zero_latency_reads=False,
        zero_latency_writes=False,
        read_hits_on_writes=True,
        combine_writes=True,
        fast_writes=False,
    )
