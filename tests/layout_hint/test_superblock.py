"""The region that suits a file system is where its superblock says that data begin."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from birthmark.layout_hint.superblock import UfsError, suggest
from tests import needs

MB = 1 << 20


@dataclass(frozen=True)
class Made:
    """The sizes of a file system that newfs makes, by their names in ``fs.h``."""

    place: int  # of the superblock
    magic: int
    cblkno: int
    iblkno: int
    dblkno: int
    ncg: int
    bsize: int
    fsize: int
    inopb: int
    ipg: int
    fpg: int


# what newfs makes of 40 GB: FreeBSD 4.8's of UFS1, the thesis's partition, and 15's of UFS2
THESIS = Made(8192, 0x011954, 16, 24, 1424, 231, 16384, 2048, 128, 22400, 91136)
TODAY = Made(65536, 0x19540119, 32, 40, 5048, 66, 32768, 4096, 128, 80128, 160056)


def image(path: Path, made: Made, order: str = "<", **other: int) -> Path:
    """Write a file with a superblock and the maps of the first group, all else being holes.

    Of the inodes 100 are used, of the fragments for data the first ten.
    """
    block = bytearray(8192)
    numbers = {
        12: made.cblkno,
        16: made.iblkno,
        20: made.dblkno,
        36: made.ncg * made.fpg,
        44: made.ncg,
        48: made.bsize,
        52: made.fsize,
        120: made.inopb,
        152: made.dblkno,
        156: made.ncg * 16,
        184: made.ipg,
        188: made.fpg,
        1372: made.magic,
    }
    for offset, value in (
        numbers | {int(name[1:]): value for name, value in other.items()}
    ).items():
        struct.pack_into(f"{order}i", block, offset, value)
    struct.pack_into(f"{order}q", block, 1080, made.ncg * made.fpg)
    struct.pack_into(f"{order}q", block, 1096, made.dblkno)
    used, free = 168, 168 + made.ipg // 8
    group = bytearray(made.bsize)
    struct.pack_into(f"{order}I", group, 4, 0x090255)
    struct.pack_into(f"{order}2I", group, 92, used, free)
    for at in range(100):
        group[used + at // 8] |= 1 << at % 8
    first = made.dblkno + -(-made.ncg * 16 // made.fsize)
    for at in range(first + 10, made.fpg):
        group[free + at // 8] |= 1 << at % 8
    with path.open("wb") as file:
        file.truncate(made.fpg * made.fsize * 2)
        for place, content in ((made.place, block), (made.cblkno * made.fsize, group)):
            file.seek(place)
            file.write(content)
    return path


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_region_of_the_thesis_has_all_inodes_of_its_group_and_data_behind_them(
    tmp_path: Path, order: str
) -> None:
    found = suggest(image(tmp_path / "image", THESIS, order), 4 * MB)
    assert (found.format, found.groups, found.block_bytes) == ("UFS1", 231, 16384)
    assert (found.region_start, found.region_length) == (1426 * 2048, 4 * MB)
    assert (found.region_inodes, found.inodes) == (22400, 22397)
    assert (found.inodes_free, found.bytes_free) == (22300, 4 * MB - 10 * 2048)


def test_a_default_ufs2_gets_as_many_bytes_of_its_first_inodes_as_of_data(tmp_path: Path) -> None:
    found = suggest(image(tmp_path / "image", TODAY), 4 * MB)
    assert (found.format, found.groups, found.group_bytes) == ("UFS2", 66, 160056 * 4096)
    assert (found.region_start, found.region_length) == (5049 * 4096, 4 * MB)
    assert (found.region_inodes, found.inodes, found.inodes_free) == (16384, 16381, 16284)


def test_what_no_group_has_is_refused_with_what_it_has(tmp_path: Path) -> None:
    path = image(tmp_path / "image", THESIS)
    most = (91136 - 1426) * 2048
    with pytest.raises(UfsError, match=f"from 2,048 to {most:,} bytes"):
        suggest(path, most + 2048)
    with pytest.raises(UfsError, match="bytes, which group 0 has for data; found 2,047"):
        suggest(path, 2047)
    with pytest.raises(UfsError, match="expected a cylinder group below 231; found 231"):
        suggest(path, MB, 231)
    with pytest.raises(UfsError, match="expected the maps of group 1 at byte"):
        suggest(path, MB, 1)


@pytest.mark.parametrize(
    "damage",
    [{"_48": 5000}, {"_52": 0}, {"_188": 0}, {"_184": 10**9}, {"_44": 10**6}, {"_20": 8}],
)
def test_a_superblock_that_cannot_be_is_refused(tmp_path: Path, damage: dict[str, int]) -> None:
    with pytest.raises(UfsError, match="expected a UFS1 whose groups begin with their tables"):
        suggest(image(tmp_path / "image", THESIS, **damage), MB)


def test_a_file_that_is_no_file_system_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("no file system")
    with pytest.raises(UfsError, match="a superblock at one of bytes 65536, 8192, 0, 262144"):
        suggest(path, MB)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "birthmark", "region", *arguments], capture_output=True, text=True
    )


def test_the_command_gives_the_helpers_options(tmp_path: Path) -> None:
    path = str(image(tmp_path / "image", TODAY))
    done = command(path, "--region", "8M")
    options = "--region-start 20680704 --region-length 8388608 --region-inodes 32768"
    assert options in " ".join(done.stdout.split())
    told = json.loads(command(path, "--json").stdout)
    assert (told["region_start"], told["region_inodes"]) == (20680704, 16384)


@pytest.mark.deep
@pytest.mark.parametrize(("version", "bsize", "fsize"), [(1, 16384, 2048), (2, 32768, 4096)])
def test_an_image_that_makefs_made_has_its_region_behind_its_tables(
    tmp_path: Path, version: int, bsize: int, fsize: int
) -> None:
    makefs = needs.program("makefs", path=f"{os.environ['PATH']}:/usr/sbin")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "file").write_bytes(bytes(100_000))
    sizes = f"version={version},bsize={bsize},fsize={fsize},density=8192"
    made = [makefs, "-t", "ffs", "-s", "400m", "-o", sizes, "image", "tree"]
    subprocess.run(made, cwd=tmp_path, check=True, capture_output=True)
    found = suggest(tmp_path / "image", 4 * MB)
    assert found.format == f"UFS{version}"
    # the root, in its directory, and the file, of which all lies in the region
    assert found.inodes - found.inodes_free == 1
    used = found.region_length - found.bytes_free
    assert 100_000 <= used <= 100_000 + 3 * bsize
