"""What F2FS and the disk count, as the player (``player.c``) prints it."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

_SECTORS_OF_A_BLOCK = 8
_WRITTEN = 6  # the place of sectors written in /sys/block/DISK/stat
_MOVED = re.compile(r"^Try to move (\d+) blocks", re.MULTILINE)
_OF_DATA = re.compile(r"^Try to move .*\n  - data blocks : (\d+)", re.MULTILINE)
_UTILIZATION = re.compile(r"^Utilization: (\d+)%", re.MULTILINE)
_TEMPERATURE = re.compile(
    r"^  - (COLD|WARM|HOT) +data:" + r" +-?\d+" * 5 + r" +(\d+)", re.MULTILINE
)


@dataclass(frozen=True)
class Counters:
    """Counts of blocks of 4 KB since the mount; the last four are as things stand.

    ``user`` were touched by the load's writes, ``device`` written to the disk, and ``moved`` by the
    cleaner, of which ``moved_data`` are no nodes. ``cold``, ``warm`` and ``hot`` blocks of data are
    valid in segments of each temperature; ``utilization`` is in percent. ``refused`` steps of the
    load failed, and ``hinted`` files were given a hint.
    """

    user: int
    device: int
    moved: int
    moved_data: int
    refused: int
    hinted: int
    cold: int
    warm: int
    hot: int
    utilization: int

    def since(self, earlier: Counters) -> Counters:
        """Return what was counted since ``earlier``."""
        then = asdict(earlier)
        standing = ("cold", "warm", "hot", "utilization")
        found = {key: n - (0 if key in standing else then[key]) for key, n in asdict(self).items()}
        return Counters(**found)


def read_counters(printed: str, when: str) -> Counters:
    """Return the counters that the player printed at ``mark`` or ``end``.

    Raises ``ValueError`` where they are not there.
    """
    status = _shown(printed, when, "/sys/kernel/debug/f2fs/status")
    disk = _shown(printed, when, "/sys/block/vda/stat").split()
    own = dict(re.findall(rf"^{when}\.(\w+) (\d+)$", printed, re.MULTILINE))
    valid = {name.lower(): int(n) for name, n in _TEMPERATURE.findall(status)}
    try:
        return Counters(
            user=int(own["user_blocks"]),
            device=int(disk[_WRITTEN]) // _SECTORS_OF_A_BLOCK,
            moved=_number(_MOVED, status),
            moved_data=_number(_OF_DATA, status),
            refused=int(own["refused"]),
            hinted=int(own["hinted"]),
            utilization=_number(_UTILIZATION, status),
            **valid,
        )
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"expected the counters of F2FS at {when!r}, found no {error}") from error


def _shown(printed: str, when: str, path: str) -> str:
    found = re.search(rf"^<{when} {path}>\n(.*?)^</{when}>$", printed, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ValueError(f"expected {path} at {when!r}, found none")
    return found[1]


def _number(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    if found is None:
        raise ValueError(f"expected {pattern.pattern!r} in the status of F2FS, found none")
    return int(found[1])
