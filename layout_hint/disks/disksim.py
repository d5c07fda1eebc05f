"""Conversion of DiskSim 4.0's drives.

``python -m birthmark.layout_hint.disks.disksim FILE NAME`` prints the drive of that name in TOML.
FILE ends in ``.diskspecs``; the files of the model and the seek curve lie in the same folder.
Parameters mean what DiskSim's manual says (Bucy, Schindler, Schlosser and Ganger, CMU-PDL-08-101,
2008). Features that the drive's model lacks are refused.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from birthmark.layout_hint.disks.libparam import Block, Parser

REQUIRED = {
    "Access time type": "trackSwitchPlusRotation",
    "Seek type": "extracted",
    "Percent error in rpms": 0,
    "Per-request overhead time": 0,
    "Time scale for overheads": 1,
    "Hold bus entire read xfer": 0,
    "Hold bus entire write xfer": 0,
    "Allow almost read hits": 0,
    "Allow sneaky full read hits": 0,
    "Allow sneaky partial read hits": 0,
    "Allow sneaky intermediate read hits": 0,
    "Allow write prebuffering": 0,
    "Preseeking level": 0,
    "Never disconnect": 0,
    "High (read) water mark": 0,
    "Enable caching in buffer": 1,
    "Minimum read-ahead (blks)": 0,
    "Read-ahead on idle hit": 0,
    "Write hit stop prefetch": 1,
    "Read directly to buffer": 1,
    "Immed transfer partial hit": 1,
    "Read completion overhead": 0,
    "Write completion overhead": 0,
    "Data preparation overhead": 0,
    "First reselect overhead": 0,
    "Other reselect overhead": 0,
    "Read disconnect afterread": 0,
    "Read disconnect afterwrite": 0,
    "Write disconnect overhead": 0,
    "Extra write disconnect": 0,
    "Minimum seek delay": 0,
}
"""Required values: the model here has no other behaviour."""

MAPPINGS = {0: "ascending", 1: "serpentine"}
SPARES = {7: "disk", 8: "range", 9: "zone"}
READ_AHEAD = {0: "none", 3: "most", 4: "track"}
OVERHEADS = {
    f"{kind} {found} over. after {last}": f"{kind}_{found}_after_{last}".lower()
    for kind in ("Read", "Write")
    for found in ("hit", "miss")
    for last in ("read", "write")
}


def convert(path: Path, name: str) -> Block:
    """Return the drive in a ``.diskspecs`` file; `ValueError` if the model cannot express it."""
    try:
        return _convert(path, name)
    except KeyError as error:
        raise ValueError(f"{path}: there is no {error}") from error


def _convert(path: Path, name: str) -> Block:
    spec = _read(path)
    model = _read(path.with_name(_file(spec["Model"])))
    layout, mechanics = model["Layout Model"], model["Mechanical Model"]
    given = {**mechanics, **spec}
    for key, value in REQUIRED.items():
        if given[key] != value:
            raise ValueError(f"{path}: {key}: expected {value}, found {given[key]}")
    return {
        "name": name,
        "sectors": model["Block count"],
        "rpm": mechanics["Rotation speed (in rpms)"],
        "heads": model["Number of data surfaces"],
        "cylinders": model["Number of cylinders"],
        "mapping": _word(path, layout, "LBN-to-PBN mapping scheme", MAPPINGS),
        "head_switch_ms": mechanics["Head switch time"],
        "write_settle_ms": mechanics["Add. write settling delay"],
        "bus_ms_per_sector": spec["Bulk sector transfer time"],
        "seek": _seek(path.with_name(_file(mechanics["Full seek curve"]))),
        "sparing": {
            "at_end_of": _word(path, layout, "Sparing scheme used", SPARES),
            "range_cylinders": layout["Rangesize for sparing"],
        },
        "overheads_ms": {ours: spec[theirs] for theirs, ours in OVERHEADS.items()},
        "buffer": _buffer(path, spec),
        "zones": [_zone(zone) for zone in layout["Zones"]],
    }


def _read(path: Path) -> Block:
    try:
        return Parser(path.read_text(encoding="ascii")).top()
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _word(path: Path, block: Block, key: str, words: dict[int, str]) -> str:
    """Return the word for a number."""
    if block[key] not in words:
        raise ValueError(
            f"{path}: {key}: expected {', '.join(map(str, words))}, found {block[key]}"
        )
    return words[block[key]]


def _file(word: str) -> str:
    return word.removeprefix("source ").strip()


def _seek(path: Path) -> list[list[float]]:
    lines = path.read_text(encoding="ascii").splitlines()[1:]
    points = [line.split(",") for line in lines if line.strip()]
    return [[int(distance), float(time)] for distance, time in points]


def _buffer(path: Path, spec: Block) -> Block:
    return {
        "segments": spec["Number of buffer segments"],
        "segment_sectors": spec["Segment size (in blks)"],
        "write_segments": spec["Maximum number of write segments"],
        "separate_write_segment": bool(spec["Use separate write segment"]),
        "read_ahead": _word(path, spec, "Buffer continuous read", READ_AHEAD),
        "read_ahead_sectors": spec["Maximum read-ahead (blks)"],
        "read_passing_sectors": bool(spec["Read any free blocks"]),
        "zero_latency_reads": bool(spec["Immediate buffer read"]),
        "zero_latency_writes": bool(spec["Immediate buffer write"]),
        "read_hits_on_writes": bool(spec["Allow read hits on write data"]),
        "combine_writes": bool(spec["Combine seq writes"]),
        "fast_writes": bool(spec["Fast write level"]),
    }


def _zone(zone: Block) -> Block:
    return {
        "first_cylinder": zone["First cylinder number"],
        "last_cylinder": zone["Last cylinder number"],
        "sectors": zone["Blocks per track"],
        "offset": int(zone["Offset of first block"]),
        "empty": zone["Empty space at zone front"],
        "track_skew": int(zone["Skew for track switch"]),
        "cylinder_skew": int(zone["Skew for cylinder switch"]),
        "spares": zone["Number of spares"],
        "slips": sorted(zone["slips"]),
        "defects": groups(zone["defects"], 2),
    }


def groups(values: list[Any], number: int) -> list[list[Any]]:
    """Return values in lists of ``number``, in order."""
    return [values[first : first + number] for first in range(0, len(values), number)]


def toml(drive: Block) -> Iterator[str]:
    """Yield the lines of a drive in TOML."""
    for key, value in drive.items():
        if isinstance(value, dict):
            yield f"\n[{key}]"
            yield from toml(value)
        elif key == "zones":
            for zone in value:
                yield "\n[[zones]]"
                yield from toml(zone)
        else:
            yield from _lines(key, value)


def _lines(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, bool):
        yield f"{key} = {str(value).lower()}"
    elif isinstance(value, str):
        yield f'{key} = "{value}"'
    elif isinstance(value, list) and len(f"{key} = {value}") > 100:
        yield f"{key} = ["
        for line in groups(value, 8):
            yield f"    {', '.join(str(each) for each in line)},"
        yield "]"
    else:
        yield f"{key} = {value}"


def header(path: Path) -> str:
    """Return the header of a converted file, which names its source."""
    files = ", ".join(path.with_suffix(kind).name for kind in (".diskspecs", ".model", ".seek"))
    return (
        f"# As in DiskSim 4.0's {files}: parameters extracted\n"
        "# from the drive, none of them fitted. The notice that they are under is in COPYING.\n"
    )


if __name__ == "__main__":
    source = Path(sys.argv[1])
    print(header(source), *toml(convert(source, sys.argv[2])), sep="\n")
