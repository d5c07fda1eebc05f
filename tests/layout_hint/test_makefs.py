"""Blocks are placed as makefs places them, whose allocator is that of the kernel at that time."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from birthmark._native import place_files
from tests.layout_hint.ufs import ROOT, Image

PATH = f"{os.environ['PATH']}:/usr/sbin"


@pytest.fixture
def makefs() -> str:
    """Return the program, or skip: it is a package of its own."""
    found = shutil.which("makefs", path=PATH)
    if found is None:
        pytest.skip("needs makefs (on Debian: apt-get install makefs)")
    return found


def grow(folder: Path, chance: random.Random, depth: int, largest: int) -> None:
    """Make some files in a folder, most of them small, and folders in it."""
    folder.mkdir()
    for i in range(chance.randrange(3, 12)):
        size = chance.choice([0, chance.randrange(4000), chance.randrange(100_000)])
        (folder / f"file-{i}").write_bytes(bytes(chance.choice([size, size, largest // 9])))
    (folder / "large").write_bytes(bytes(largest))
    for i in range(chance.randrange(1, 4) if depth else 0):
        grow(folder / f"folder-{i}", chance, depth - 1, largest)


def written(image: Image, directory: int) -> Iterator[int]:
    """Yield the inodes in the order in which makefs writes them.

    That is a directory, its files in the order of their inodes, and then its directories.
    """
    yield directory
    children = sorted(image.children(image.inode(directory)))
    yield from (child for child in children if not image.inode(child).directory)
    for child in children:
        if image.inode(child).directory:
            yield from written(image, child)


@pytest.mark.parametrize(
    ("bsize", "fsize", "group", "largest"),
    [
        (16384, 2048, 4000, 3_000_000),
        (8192, 1024, 3000, 2_000_000),
        (8192, 2048, 1200, 2_000_000),
        (4096, 4096, 700, 5_000_000),
    ],
    ids=["eight fragments", "small blocks", "four fragments", "double indirect"],
)
def test_all_blocks_are_where_makefs_has_them(
    bsize: int, fsize: int, group: int, largest: int, makefs: str, tmp_path: Path
) -> None:
    grow(tmp_path / "tree", random.Random(bsize + fsize), 2, largest)
    options = f"version=1,bsize={bsize},fsize={fsize},density=8192,maxbpcg={group}"
    command = [makefs, "-t", "ffs", "-s", "96m", "-o", options, "image", "tree"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    image = Image(tmp_path / "image")
    order = list(written(image, ROOT))
    inodes = {number: image.inode(number) for number in order}
    files = [(number, inodes[number].directory, inodes[number].size) for number in order]
    placed = place_files(image.size, image.fpg, image.ipg, bsize, fsize, files)
    assert image.ncg > 1
    assert dict(zip(order, placed, strict=True)) == {
        number: image.addresses(inode) for number, inode in inodes.items()
    }
