"""Drives of DiskSim become drives of this project.

Tests also layout_hint/disks/libparam.py.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from birthmark.layout_hint.disks import drive_path, read_drive
from birthmark.layout_hint.disks.disksim import REQUIRED, convert, header, toml
from birthmark.layout_hint.disks.drive import Drive
from birthmark.layout_hint.disks.read import MEASURED

MODEL = """\
dm_disk MADE_UP {
   Number of data surfaces = 2, Number of cylinders = 6, # a comment
   Block count = 57,
   Layout Model = dm_layout_g1 {
      LBN-to-PBN mapping scheme = 1, Sparing scheme used = 8, Rangesize for sparing = 3,
      Zones = [
         dm_layout_g1_zone {
            First cylinder number = 0, Last cylinder number = 5, Blocks per track = 5,
            Offset of first block = 0.000000, Empty space at zone front = 0,
            Skew for track switch = 1.000000, Skew for cylinder switch = 2.000000,
            Number of spares = 1, slips = [ 40, 7 ], defects = [ 3, 59 ]
         }
      ]
   },
   Mechanical Model = dm_mech_g1 {
      Access time type = trackSwitchPlusRotation, Seek type = extracted,
      Full seek curve = made.seek, Add. write settling delay = 0.25,
      Head switch time = 0.5, Rotation speed (in rpms) = 6000, Percent error in rpms = 0.0
   }
}
"""

SPECS = """\
disksim_disk MADE_UP_specs {
   Model = source made.model,
   Bulk sector transfer time = 0.1,
   Number of buffer segments = 3, Segment size (in blks) = 8,
   Maximum number of write segments = 1, Use separate write segment = 0,
   Buffer continuous read = 3, Maximum read-ahead (blks) = 6, Read any free blocks = 1,
   Immediate buffer read = 0, Immediate buffer write = 1,
   Allow read hits on write data = 1, Combine seq writes = 0, Fast write level = 2,
   Read hit over. after read = 0.01, Read hit over. after write = 0.02,
   Read miss over. after read = 0.03, Read miss over. after write = 0.04,
   Write hit over. after read = 0.05, Write hit over. after write = 0.06,
   Write miss over. after read = 0.07, Write miss over. after write = 0.08,
   SPECIAL
}
"""

MECHANICAL = ("Access time type", "Seek type", "Percent error in rpms")


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    special = [f"{key} = {value}" for key, value in REQUIRED.items() if key not in MECHANICAL]
    (tmp_path / "made.model").write_text(MODEL)
    (tmp_path / "made.seek").write_text("Seek distances measured: 2\n1,\t1.00000\n4,\t2.50000\n")
    path = tmp_path / "made.diskspecs"
    path.write_text(SPECS.replace("SPECIAL", ", ".join(special)))
    return path


def test_each_parameter_goes_where_it_is_meant(specs: Path) -> None:
    drive = Drive.model_validate(convert(specs, "made up"))
    assert (drive.name, drive.sectors, drive.rpm, drive.heads) == ("made up", 57, 6000, 2)
    assert (drive.mapping, drive.sparing.at_end_of) == ("serpentine", "range")
    assert drive.sparing.range_cylinders == 3
    assert (drive.head_switch_ms, drive.write_settle_ms, drive.bus_ms_per_sector) == (
        0.5,
        0.25,
        0.1,
    )
    assert drive.seek == [(1, 1.0), (4, 2.5)]
    assert [*drive.overheads_ms.model_dump().values()] == [n / 100 for n in range(1, 9)]
    assert drive.buffer.model_dump() == {
        "segments": 3,
        "segment_sectors": 8,
        "write_segments": 1,
        "separate_write_segment": False,
        "read_ahead": "most",
        "read_ahead_sectors": 6,
        "read_passing_sectors": True,
        "zero_latency_reads": False,
        "zero_latency_writes": True,
        "read_hits_on_writes": True,
        "combine_writes": False,
        "fast_writes": True,
    }
    (zone,) = drive.zones
    assert (zone.first_cylinder, zone.last_cylinder, zone.sectors) == (0, 5, 5)
    assert (zone.track_skew, zone.cylinder_skew, zone.spares) == (1, 2, 1)
    assert (zone.slips, zone.defects) == ([7, 40], [(3, 59)])


def test_prints_the_drive(specs: Path) -> None:
    words = [sys.executable, "-m", "birthmark.layout_hint.disks.disksim", str(specs), "made up"]
    printed = subprocess.run(words, capture_output=True, check=True, text=True).stdout
    assert printed.startswith("# As in DiskSim 4.0's made.diskspecs")
    assert tomllib.loads(printed) == convert(specs, "made up")


@pytest.mark.parametrize("key", [key for key in REQUIRED if key not in MECHANICAL])
def test_refuses_features_that_the_model_lacks(specs: Path, key: str) -> None:
    text = specs.read_text()
    specs.write_text(text.replace(f"{key} = {REQUIRED[key]}", f"{key} = 7"))
    with pytest.raises(ValueError, match=r"made\.diskspecs: .* found 7") as error:
        convert(specs, "made up")
    assert f": {key}: expected {REQUIRED[key]}" in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "result"),
    [
        ("Block count = 57,", "", "there is no 'Block count'"),
        ("Sparing scheme used = 8", "Sparing scheme used = 3", "Sparing scheme used: expected"),
        ("   }\n}\n", "   }\n", "expected more: the file ends within"),
        ("Block count = 57", "Block count : 57", "expected '=', found ','"),
    ],
)
def test_a_file_that_cannot_be_converted_is_named(
    specs: Path, old: str, new: str, result: str
) -> None:
    model = specs.with_suffix(".model")
    model.write_text(MODEL.replace(old, new))
    with pytest.raises(ValueError, match=r"made\.") as error:
        convert(specs, "made up")
    assert result in str(error.value)


@pytest.mark.parametrize("name", MEASURED)
def test_the_drives_that_come_along_are_as_they_were_published(shared: Path, name: str) -> None:
    published = shared / "reference/disksim" / f"{name}.diskspecs"
    if not published.exists():
        pytest.skip(f"needs {published.name}, which is not in {published.parent}")
    lines = [header(published), *toml(convert(published, read_drive(name).name))]
    assert "\n".join(lines) + "\n" == drive_path(name).read_text()
