"""Small disks, which are soon full, and may become read-only."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Disk:
    """A file system of its own, in memory (tmpfs), mounted at `path`."""

    path: Path

    @contextmanager
    def filled(self, free: int = 0) -> Iterator[None]:
        """Leave so many bytes, in whole pages, of it free."""
        ballast = self.path / ".ballast"
        space = os.statvfs(self.path)
        size = space.f_bavail * space.f_frsize - free
        with ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
        try:
            yield
        finally:
            ballast.unlink()

    @contextmanager
    def read_only(self) -> Iterator[None]:
        """Let nothing be written."""
        _mount("-o", "remount,ro", str(self.path))
        try:
            yield
        finally:
            _mount("-o", "remount,rw", str(self.path))


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], check=False, capture_output=True).returncode == 0


@contextmanager
def mounted(path: Path, size: str) -> Iterator[Disk | None]:
    """Mount a disk of such a `size` at a directory; None where that is not allowed (not root)."""
    path.mkdir(exist_ok=True)
    if os.geteuid() != 0 or not _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)):
        yield None
        return
    try:
        yield Disk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)
