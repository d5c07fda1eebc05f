"""What the lists of file systems were before they were changed, to take them back to."""

from __future__ import annotations

from pathlib import Path

from birthmark.data.common.durable import remove, write_text
from birthmark.layout_hint.f2fs import sysfs
from birthmark.layout_hint.f2fs.extensions import Lists


class Before:
    """A folder with a file for each device: its lists as they were, as a kernel shows them.

    ``kernel`` is the folder in which the kernel shows file systems that are mounted.
    """

    def __init__(self, folder: Path, kernel: Path) -> None:
        self._folder, self._kernel = folder, kernel

    def change(self, device: str, wanted: Lists) -> list[str]:
        """Make the lists of a device what is wanted; return the lines that did.

        What they were the first time is kept before anything is written. Raises as
        ``sysfs.read`` and ``sysfs.write``; called again it goes on where a write was refused.
        """
        there = sysfs.read(device, self._kernel)
        lines = sysfs.changes(there, wanted)
        kept = self._folder / device
        if lines and not kept.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            write_text(kept, str(there))
        sysfs.write(device, lines, self._kernel)
        return lines

    def take_back(self, device: str) -> list[str]:
        """Make the lists of a device what they were; return the lines that did.

        Raises ``ValueError`` where nothing was kept, or what was kept is none.
        """
        kept = self._folder / device
        if not kept.exists():
            raise ValueError(
                f"{kept}: expected what the lists were, found none: nothing was changed"
            )
        was = Lists.parse(kept.read_text(encoding="ascii", errors="replace"), str(kept))
        lines = sysfs.changes(sysfs.read(device, self._kernel), was)
        sysfs.write(device, lines, self._kernel)
        remove(kept)
        return lines
