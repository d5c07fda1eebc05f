"""Counters of F2FS and the disk, as the player (``player.c``) prints them."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

_SECTORS_OF_A_BLOCK = 8
_WRITTEN = 6  # the place of sectors written in /sys/block/DISK/stat
_STATUS, _STAT = "/sys/kernel/debug/f2fs/status", r"/sys/block/\w+/stat"
_MOVED = [rf"/sys/fs/f2fs/\w+/moved_blocks_{who}" for who in ("foreground", "background")]
_TEMPERATURE = re.compile(
    r"^  - (COLD|WARM|HOT) +data:" + r" +-?\d+" * 5 + r" +(\d+)", re.MULTILINE
)


@dataclass(frozen=True)
class Counters:
    """Counts of blocks of 4 KB since the mount; the last four are as things stand.

    ``user`` were touched by the load's writes, ``device`` written to the disk, and ``moved`` by the
    cleaner. ``refused`` steps of the load failed, and ``hinted`` files were given a hint. The file
    system is ``full`` in percent. ``cold``, ``warm`` and ``hot`` blocks of data are valid in
    segments of each temperature; None where the kernel does not say.
    """

    user: int
    device: int
    moved: int
    refused: int
    hinted: int
    full: int
    cold: int | None = None
    warm: int | None = None
    hot: int | None = None

    def since(self, earlier: Counters) -> Counters:
        """Return the increments since ``earlier``."""
        then = asdict(earlier)
        standing = ("cold", "warm", "hot", "full")
        counted = asdict(self).items()
        found = {key: n if key in standing else n - then[key] for key, n in counted}
        return Counters(**found)


def read_counters(printed: str, when: str) -> Counters:
    """Return the counters that the player printed at ``mark`` or ``end``.

    Raises ``ValueError`` where they are not there.
    """
    disk = _shown(printed, when, _STAT).split()
    moved = [_shown(printed, when, path) for path in _MOVED]
    own = dict(re.findall(rf"^{when}\.(\w+) (\d+)$", printed, re.MULTILINE))
    status = _TEMPERATURE.findall(_find(printed, when, _STATUS) or "")
    try:
        return Counters(
            user=int(own["user_blocks"]),
            device=int(disk[_WRITTEN]) // _SECTORS_OF_A_BLOCK,
            moved=sum(map(int, moved)),
            refused=int(own["refused"]),
            hinted=int(own["hinted"]),
            full=int(own["full"]),
            **{name.lower(): int(n) for name, n in status},
        )
    except (KeyError, ValueError, IndexError) as error:
        raise ValueError(f"expected the counters of F2FS at {when!r}, found no {error}") from error


def _shown(printed: str, when: str, path: str) -> str:
    found = _find(printed, when, path)
    if found is None:
        raise ValueError(f"expected {path} at {when!r}, found none")
    return found


def _find(printed: str, when: str, path: str) -> str | None:
    found = re.search(rf"^<{when} {path}>\n(.*?)^</{when}>$", printed, re.MULTILINE | re.DOTALL)
    return found and found[1]
