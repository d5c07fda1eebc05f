"""Drives' parameter files.

Tests also layout_hint/disks/drive.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from birthmark.layout_hint.disks import DRIVES, Drive, drive_path, read_disk, read_drive
from birthmark.layout_hint.disks.read import MEASURED


def seeks(drive: Drive) -> np.ndarray:
    """Milliseconds for each distance from 0."""
    times = np.interp(np.arange(drive.cylinders), *zip(*drive.seek, strict=True))
    times[0] = 0
    return np.asarray(times)


def mean_seek(drive: Drive) -> float:
    """Over pairs of cylinders at random."""
    all_, distances = drive.cylinders, np.arange(drive.cylinders)
    return float((seeks(drive) * 2 * (all_ - distances)).sum() / all_**2)


def test_the_drives_are_the_files_beside_the_module() -> None:
    folder = drive_path(DRIVES[0]).parent
    assert [*DRIVES] == sorted((path.stem for path in folder.glob("*.toml")), key=str.lower)


def test_the_drives_have_their_published_speeds_sizes_and_seeks() -> None:
    # Block count, revolutions and heads of each model, and the first time of its seek curve.
    expected = {
        "atlas10k": (17_938_986, 10_025, 6, 1.245),
        "atlas_III": (17_783_250, 7_200, 10, 1.663),
        "barracuda": (4_110_000, 7_200, 5, 1.943),
        "cheetah4LP": (8_887_200, 10_033, 8, 0.636),
        "cheetah9LP": (17_783_240, 10_045, 12, 0.831),
        "ibm18es": (17_916_240, 7_200, 5, 1.062),
    }
    for name, published in expected.items():
        drive = read_drive(name)
        assert (drive.sectors, drive.rpm, drive.heads, drive.seek[0][1]) == published


def test_each_file_says_where_its_parameters_are_from_and_the_notice_is_beside_it() -> None:
    for name in MEASURED:
        path = drive_path(name)
        assert f"{path.stem}.diskspecs" in path.read_text().splitlines()[0]
        assert "Carnegie Mellon University" in path.with_name("COPYING").read_text()


def test_the_cheetah_has_its_published_mean_seek() -> None:
    assert mean_seek(read_drive("cheetah9LP")) == pytest.approx(5.47, abs=0.01)
    assert not read_drive("cheetah9LP").assumed


def test_the_drive_like_the_thesiss_has_the_data_sheets_figures_and_says_what_is_assumed() -> None:
    drive = read_drive("wd1200bb")
    assert "zones" in drive.assumed
    assert mean_seek(drive) == pytest.approx(8.9, abs=0.01)
    assert seeks(drive)[1] == pytest.approx(2.0, abs=0.02)
    assert seeks(drive)[-1] == pytest.approx(21.0, abs=0.01)
    assert drive.sectors == 234_441_648
    ends = (drive.zones[0], drive.zones[-1])
    assert [round(zone.sectors * 512 * 120 / 1e6) for zone in ends] == [42, 25]


def test_skews_leave_time_for_the_moves_that_they_are_for() -> None:
    drive = read_drive("wd1200bb")
    for zone in drive.zones:
        sector = 60e3 / drive.rpm / zone.sectors
        assert zone.track_skew * sector >= drive.head_switch_ms
        assert zone.cylinder_skew * sector >= seeks(drive)[1]


def test_a_disk_is_json_and_without_a_name_it_is_that_like_the_thesiss() -> None:
    for name in DRIVES:
        assert json.loads(json.dumps(read_disk(name))) == read_disk(name)
    assert read_disk("") == read_disk("wd1200bb") == read_drive("wd1200bb").parameters()


@pytest.mark.parametrize(
    ("old", "new", "result"),
    [
        ("rpm = 7200", "rpm = 0", "rpm: expected 1 to 1000000"),
        ("rpm = 7200", "rpm = 7200\nrpms = 1", "rpms: there is no such setting"),
        ("heads = 5", "heads = 'a'", "heads: "),
        ("heads = 5", "heads = -5", "heads: "),
        ("heads = 5", "heads = 5000", "heads: expected 1 to 1024"),
        ("[1, 1.943]", "[2, 1.943]", "seek: expected points for distances that rise from 1"),
        ("[1, 1.943]", "[1, -1.943]", "seek.0.1: "),
        ("sectors = 4110000", "sectors = 9110000", "sectors: expected 1 to 4217582, as zones have"),
        ("first_cylinder = 1129", "first_cylinder = 1128", ""),
        ("first_cylinder = 1129", "first_cylinder = 3", "zones.1: expected rising cylinders below"),
        ("track_skew = 37", "track_skew = 186", "zones.0: expected offset and skews below its 186"),
        ("spares = 88", "spares = 0", "zones.0.spares: expected as many as slips"),
        ("segments = 3", "segments = 0", "buffer.segments: expected 1 to 1024"),
        ('read_ahead = "most"', 'read_ahead = "all"', "buffer.read_ahead: "),
        ("name =", "name", "expected a TOML file: "),
    ],
)
def test_a_file_that_is_no_drive_is_refused_with_its_name_and_the_key(
    tmp_path: Path, old: str, new: str, result: str
) -> None:
    text = drive_path("barracuda").read_text()
    assert old in text
    path = tmp_path / "own.toml"
    path.write_text(text.replace(old, new, 1))
    if not result:  # a gap between zones may be of any width
        assert read_drive(path).zones[1].first_cylinder == 1128
        return
    for read in (read_drive, read_disk):
        with pytest.raises(ValueError, match=r"own\.toml") as error:
            read(path)
        assert str(error.value).startswith(f"{path}: {result}")


def test_a_name_that_is_no_drives_gets_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"drive 'floppy': expected atlas10k, .* or a file"):
        read_disk("floppy")


def test_a_drive_that_is_too_small_for_the_partition_is_refused() -> None:
    size = read_drive("cheetah9LP").sectors * 512
    assert read_disk("cheetah9LP", size - 63 * 512) == read_disk("cheetah9LP")
    with pytest.raises(ValueError, match=r"drive cheetah9LP: expected 9\.1 GB .*, found 9\.1 GB"):
        read_disk("cheetah9LP", size - 62 * 512)
    with pytest.raises(ValueError, match=r"expected 42\.9 GB for the partition, found 9\.1 GB"):
        read_disk("cheetah9LP", 40 << 30)
    read_disk("", 40 << 30)
