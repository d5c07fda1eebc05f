"""Drives' parameter files."""

from __future__ import annotations

from pathlib import Path

import pytest

from birthmark.storage.drives import DRIVES, drive_path, read_drive
from birthmark.storage.validate import validate

REQUEST = "R Hit 0 1 2 3\n"


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
    for name in DRIVES:
        path = drive_path(name)
        source = "Ellard and Seltzer" if read_drive(name).assumed else f"{path.stem}.diskspecs"
        assert source in path.read_text().splitlines()[0]
        assert "Carnegie Mellon University" in path.with_name("COPYING").read_text()


@pytest.mark.parametrize(
    ("old", "new", "told"),
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
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    text = drive_path("barracuda").read_text()
    assert old in text
    path, trace = tmp_path / "own.toml", tmp_path / "trace"
    path.write_text(text.replace(old, new, 1))
    trace.write_text(REQUEST)
    if not told:  # a gap between zones may be of any width
        assert validate(trace, path)["requests"] == 1
        return
    with pytest.raises(ValueError, match=r"own\.toml") as error:
        validate(trace, path)
    assert str(error.value).startswith(f"{path}: {told}")
