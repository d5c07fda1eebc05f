"""Small disks, which fill up soon, and may become read-only."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Disk:
    """A directory, and whether it is a separate file system, in memory (tmpfs)."""

    path: Path
    own: bool

    def free(self) -> int:
        """Return how many bytes are free."""
        space = os.statvfs(self.path)
        return space.f_bavail * space.f_frsize

    @contextmanager
    def filled(self, free: int = 0) -> Iterator[None]:
        """Leave ``free`` bytes free, in whole pages; skip the test if the disk is shared.

        A shared disk must not be filled.
        """
        if not self.own:
            pytest.skip("needs root, and to be allowed to mount a small disk")
        ballast = self.path / ".ballast"
        with ballast.open("wb") as file:
            size = 0
            while (room := self.free() - free) > 0:
                try:
                    os.posix_fallocate(file.fileno(), size, room)
                    size += room
                except OSError as error:  # others also write to it
                    if error.errno != errno.ENOSPC:
                        raise
        try:
            yield
        finally:
            ballast.unlink()


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], check=False, capture_output=True).returncode == 0


def _unmount(path: Path) -> None:
    subprocess.run(["umount", "--lazy", str(path)], check=True)


@contextmanager
def mounted(path: Path, size: str) -> Iterator[Disk]:
    """Mount a disk of a `size` at a directory, if that is allowed."""
    own = os.geteuid() == 0 and _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path))
    try:
        yield Disk(path, own)
    finally:
        if own:
            _unmount(path)


@contextmanager
def read_only(path: Path) -> Iterator[str]:
    """Make a directory read-only; yield the system's error message, or skip the test."""
    if os.geteuid():
        before = {each: each.stat().st_mode for each in (path, *path.rglob("*")) if each.is_dir()}
        for each in before:
            each.chmod(0o555)
        try:
            yield "Permission denied"
        finally:
            for each, mode in before.items():
                each.chmod(mode)
    elif _mount("--bind", str(path), str(path)):
        try:
            assert _mount("-o", "remount,bind,ro", str(path))
            yield "Read-only file system"
        finally:
            _unmount(path)
    else:
        pytest.skip("root writes anywhere, and is not allowed to mount read-only here")
