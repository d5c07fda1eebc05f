"""Blocks are placed as makefs places them, whose allocator is that of the kernel at that time."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import needs
from tests.layout_hint.ufs import ROOT, Image

pytestmark = pytest.mark.deep

CHECKOUT = Path(__file__).parents[2]
PATH = f"{os.environ['PATH']}:/usr/sbin"


@pytest.fixture
def makefs() -> str:
    """Return the program, or skip: it is a package of its own."""
    return needs.program("makefs", path=PATH)


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


def build(makefs: str, folder: Path, megabytes: int, options: str) -> Image | None:
    """Return the image of the folder's tree; None if the tree does not fit."""
    size = ["-s", f"{megabytes}m", "-o", f"version=1,minfree=0,{options}"]
    command = [makefs, "-t", "ffs", *size, "image", "tree"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return Image(folder / "image") if done.returncode == 0 else None


def both(image: Image) -> tuple[dict[int, str], dict[int, str]]:
    """Return the addresses of every file as the model places them, and as the image has them."""
    inodes = {number: image.inode(number) for number in written(image, ROOT)}
    files = [(number, inode.directory, inode.size) for number, inode in inodes.items()]
    geometry = (image.size, image.fpg, image.ipg, image.bsize, image.fsize)
    ours = dict(zip(inodes, placed(geometry, files), strict=True))
    return ours, {number: image.addresses(inode) for number, inode in inodes.items()}


def placed(geometry: tuple[int, ...], files: list[tuple[int, bool, int]]) -> list[str]:
    """Return the addresses of files that the model writes one after the other."""
    command = ["cargo", "run", "--quiet", "--locked", "--package", "birthmark-sim"]
    command += ["--example", "place", "--", *map(str, geometry)]
    lines = (f"{inode} {int(directory)} {size}\n" for inode, directory, size in files)
    given = {"input": "".join(lines), "text": True, "cwd": CHECKOUT / "layout_hint"}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **given).stdout.splitlines()


SIZES = pytest.mark.parametrize(
    ("bsize", "fsize", "density", "group", "largest"),
    [
        (16384, 2048, 65536, 4000, 3_000_000),
        (8192, 1024, 32768, 3000, 2_000_000),
        (8192, 2048, 16384, 1200, 2_000_000),
        (4096, 4096, 65536, 700, 5_000_000),
    ],
    ids=["eight fragments", "small blocks", "four fragments", "double indirect"],
)


@SIZES
def test_all_blocks_are_where_makefs_has_them(
    bsize: int, fsize: int, density: int, group: int, largest: int, makefs: str, tmp_path: Path
) -> None:
    grow(tmp_path / "tree", random.Random(bsize + fsize), 2, largest)
    options = f"bsize={bsize},fsize={fsize},density={density},maxbpcg={group}"
    image = build(makefs, tmp_path, 96, options)
    assert image is not None
    assert image.ncg > 10
    placed, expected = both(image)
    assert placed == expected


@SIZES
def test_the_last_blocks_are_where_makefs_has_them(
    bsize: int, fsize: int, density: int, group: int, largest: int, makefs: str, tmp_path: Path
) -> None:
    """In the smallest image that holds the tree, it has hardly a block to spare."""
    grow(tmp_path / "tree", random.Random(bsize + fsize), 2, largest)
    options = f"bsize={bsize},fsize={fsize},density={density},maxbpcg={group}"
    images = (build(makefs, tmp_path, size, options) for size in range(1, 96))
    image = next(image for image in images if image is not None)
    assert image.free_blocks < image.size * fsize // bsize // 10
    placed, expected = both(image)
    assert placed == expected
