"""Files that are made in a file system of their own, and their write-life hints."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import needs
from tests.layout_hint.hintd import Helper, eventually
from tests.layout_hint.test_hook import hints as image_of

IMAGE = image_of(
    **{"lifespan<=5": "tmp", "HotWrite": "log", "lifespan>5": "txt", "read-only": "iso"}
)
"""Calls files of a class each by the ends of their names."""

RULE = {
    "BIRTHMARK_HINTD_SHORT": "lock,lifespan<=5,lifespan<=30",
    "BIRTHMARK_HINTD_EXTREME": "read-only",
    "BIRTHMARK_HINTD_LONG": "lifespan>5",
}
"""Variables that have helpers say each class, which they do not by default."""

Hinting = Callable[..., Helper]
"""Starts a helper that hints (the fixture ``hinting``)."""

SHORT, MEDIUM, LONG, EXTREME = 2, 3, 4, 5
"""``RWH_WRITE_LIFE_…`` of ``linux/fcntl.h``; 0 is of a file that nobody hinted."""

GET_RW_HINT, SET_RW_HINT = 1035, 1036
"""Commands of ``fcntl``, of the inode."""


def hint_of(path: Path) -> int:
    """Return the write-life hint that a file has."""
    with path.open("rb") as file:
        return int(struct.unpack("Q", fcntl.fcntl(file, GET_RW_HINT, bytes(8)))[0])


def made(path: Path, hint: int = 0) -> Path:
    """Make a file, with a hint of its maker's if there is one."""
    with path.open("wb") as file:
        if hint:
            fcntl.fcntl(file, SET_RW_HINT, struct.pack("Q", hint))
    return path


def hinted(path: Path, hint: int) -> None:
    """Wait until a file has a hint."""
    eventually(lambda: hint_of(path) == hint, f"{path.name} has the hint {hint}", 20)


def older_than(path: Path, seconds: float) -> None:
    """Wait until a file is older than that."""
    born = path.stat().st_ctime
    eventually(lambda: time.time() - born > seconds, f"{path.name} is older than {seconds} s")


@contextmanager
def mounted(path: Path, kind: str) -> Iterator[Path]:
    """Mount a new file system of a kind at a directory, or skip the test."""
    if os.geteuid():
        pytest.skip("needs root, to mount a file system and to watch it")
    path.mkdir()
    if kind == "tmpfs":
        source, options = "tmpfs", ["-t", "tmpfs"]
    else:
        source, options = str(path.with_suffix(".img")), ["-o", "loop"]
        needs.program(f"mkfs.{kind}", "e2fsprogs")
        with path.with_suffix(".img").open("wb") as image:
            image.truncate(64 * 1024 * 1024)
        subprocess.run([f"mkfs.{kind}", "-q", source], check=True)
    done = subprocess.run(["mount", *options, source, str(path)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"needs to be allowed to mount {kind}: {done.stderr.strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)
