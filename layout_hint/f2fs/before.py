"""Backups of file systems' lists, to restore them."""

from __future__ import annotations

from pathlib import Path

from birthmark.data.common.durable import remove, write_text
from birthmark.layout_hint.f2fs import sysfs
from birthmark.layout_hint.f2fs.extensions import Lists


class Before:
    """A folder with a file for each device: its original lists, in the kernel's format.

    ``kernel`` is the folder in which the kernel shows mounted file systems.
    """

    def __init__(self, folder: Path, kernel: Path) -> None:
        self._folder, self._kernel = folder, kernel

    def change(self, device: str, wanted: Lists) -> list[str]:
        """Change the lists of a device to ``wanted``; return the lines that were written.

        The original lists are saved before the first write. Raises as ``sysfs.read`` and
        ``sysfs.write``; a second call continues after a refused write.
        """
        there = sysfs.read(device, self._kernel)
        lines = sysfs.changes(there, wanted)
        backup = self._folder / device
        if lines and not backup.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            write_text(backup, str(there))
        sysfs.write(device, lines, self._kernel)
        return lines

    def take_back(self, device: str) -> list[str]:
        """Restore the lists of a device; return the lines that were written.

        Raises ``ValueError`` without a valid backup.
        """
        backup = self._folder / device
        if not backup.exists():
            raise ValueError(
                f"{backup}: expected the original lists, found none: nothing was changed"
            )
        was = Lists.parse(backup.read_text(encoding="ascii", errors="replace"), str(backup))
        lines = sysfs.changes(sysfs.read(device, self._kernel), was)
        sysfs.write(device, lines, self._kernel)
        remove(backup)
        return lines
