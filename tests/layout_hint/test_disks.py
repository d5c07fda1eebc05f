"""Drives' parameter files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from birthmark.layout_hint import disks
from birthmark.layout_hint.disks import DISKS, Disk, read_disk
from birthmark.layout_hint.disks.read import read


def seeks(disk: Disk) -> np.ndarray:
    """Milliseconds for each distance from 0."""
    distances = np.arange(disk.cylinders)
    if disk.seek.points:
        times = np.interp(distances, *zip(*disk.seek.points, strict=True))
    else:
        assert disk.seek.curve
        share, curve = distances / (disk.cylinders - 1), disk.seek.curve
        times = curve.base + curve.root * np.sqrt(share) + curve.linear * share
    times[0] = 0
    return np.asarray(times)


def mean_seek(disk: Disk) -> float:
    """Over pairs of cylinders at random."""
    all_, distances = disk.cylinders, np.arange(disk.cylinders)
    return float((seeks(disk) * 2 * (all_ - distances)).sum() / all_**2)


def test_the_cheetah_has_its_published_mean_seek_speed_and_size() -> None:
    disk = read("cheetah9lp")
    assert mean_seek(disk) == pytest.approx(5.47, abs=0.01)
    assert (disk.rpm, disk.heads, disk.cylinders) == (10045, 12, 6962)
    assert not disk.assumption
    # its 17,783,240 sectors, and spares
    assert disk.bytes / 512 == pytest.approx(17_783_240, rel=0.01)


def test_the_drive_like_the_thesiss_has_the_data_sheets_figures_and_says_that_it_is_assumed() -> (
    None
):
    disk = read("wd1200bb")
    assert disk.assumption
    assert mean_seek(disk) == pytest.approx(8.9, abs=0.01)
    assert seeks(disk)[1] == pytest.approx(2.0, abs=0.02)
    assert seeks(disk)[-1] == pytest.approx(21.0, abs=0.01)
    assert disk.bytes >= 234_441_648 * 512
    fastest, slowest = (zone.sectors * 512 * 120 / 1e6 for zone in (disk.zones[0], disk.zones[-1]))
    assert (round(fastest), round(slowest)) == (42, 25)


def test_skews_leave_time_for_the_moves_that_they_are_for() -> None:
    for name in DISKS:
        disk = read(name)
        for zone in disk.zones:
            sector = 60e3 / disk.rpm / zone.sectors
            assert zone.head_skew * sector >= disk.head_switch_ms
            assert zone.cylinder_skew * sector >= seeks(disk)[1]


def test_a_drive_is_json_and_without_a_name_it_is_that_like_the_thesiss() -> None:
    for name in DISKS:
        assert json.loads(json.dumps(read_disk(name))) == read_disk(name)
    assert read_disk("") == read_disk("wd1200bb")
    assert read_disk("cheetah9lp")["seek"]["points"][0] == [1, 0.831]
    assert "points" not in read_disk()["seek"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("rpm = 10045", "rpm = 0", "rpm: Input should be greater than 0, found 0"),
        ("rpm = 10045", "rpms = 10045", "rpms: there is no such setting"),
        ("heads = 12", "heads = 'a'", "heads: "),
        ("sectors = 167", "sectors = 40", "zones.10: expected skews of fewer"),
        ("first_cylinder = 848", "first_cylinder = 9848", "whose first_cylinder rises from 0"),
        ("cylinders = 6962", "cylinders = 6519", "over fewer than 6519 cylinders"),
        ("cylinders = 6962", "cylinders = 6000", "zones in 6000 cylinders, found 6518"),
        ("    [1, 0.831],\n", "", "seek: expected points for distances that rise"),
        ("[seek]\n", "[seek]\ncurve = { base = 1, root = 1, linear = 1 }\n", "either points or"),
        ("segments = 4", "segments = 4 4", "expected a TOML file"),
    ],
)
def test_a_file_that_is_no_drive_is_refused_by_file_and_key(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    good = Path(disks.__file__).with_name("cheetah9lp.toml").read_text()
    assert old in good
    path = tmp_path / "own.toml"
    path.write_text(good)
    assert read_disk(path) == read_disk("cheetah9lp")
    path.write_text(good.replace(old, new))
    with pytest.raises(ValueError, match=r"own\.toml: ") as error:
        read_disk(path)
    assert told in str(error.value)


def test_a_name_that_is_no_drives_gets_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"disk 'floppy': expected wd1200bb, cheetah9lp or a file"):
        read_disk("floppy")


def test_a_drive_that_is_too_small_for_the_partition_is_refused() -> None:
    size = read("cheetah9lp").bytes
    assert read_disk("cheetah9lp", size - 63 * 512) == read_disk("cheetah9lp")
    with pytest.raises(ValueError, match=r"disk cheetah9lp: expected 9\.2 GB .*, found 9\.2 GB"):
        read_disk("cheetah9lp", size - 62 * 512)
    with pytest.raises(ValueError, match=r"expected 42\.9 GB for the partition, found 9\.2 GB"):
        read_disk("cheetah9lp", 40 << 30)
    read_disk("", 40 << 30)
