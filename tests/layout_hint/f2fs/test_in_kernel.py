"""Lists and hints in a real kernel: Debian's, with F2FS, in a virtual machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.linux import machine
from benchmarks.linux.counters import read_counters
from benchmarks.linux.f2fs import compile_player, make_disk, script
from benchmarks.linux.knowledge import Hint
from benchmarks.linux.load import Op, Step, write
from birthmark.layout_hint.f2fs.extensions import Lists
from birthmark.layout_hint.f2fs.learned import MKFS_ROOM, Claim, Learned, Suffix
from birthmark.layout_hint.f2fs.sysfs import changes
from tests import needs

pytestmark = pytest.mark.deep

MB = 1 << 20
BLOCKS = MB // 4096
SMALL = 2
"""Blocks that are rewritten alone: of so few F2FS says by itself that they are hot."""

LISTS = Lists(cold=("html",), hot=("tmp", "#tmp#"))
LATER = Lists(cold=("tmp",), hot=("html", "db"))
LOAD = [
    Step(Op.FOLDER),
    Step(Op.CREATE, 1, (0, b"a.TMP~"), count=MB),
    Step(Op.CREATE, 2, (0, b"b.html"), count=2 * MB),
    Step(Op.CREATE, 3, (0, b"tmp"), count=3 * MB),
    Step(Op.CREATE, 4, (0, b"short"), count=4 * MB),
    Step(Op.CREATE, 5, (0, b"extreme"), count=5 * MB),
    Step(Op.CREATE, 6, (0, b"gone"), count=MB),
    Step(Op.MARK),
    Step(Op.WRITE, 3, (0, b"tmp"), offset=MB - 1, count=2),
    Step(Op.SYNC, 3, (0, b"tmp")),
    Step(Op.FLUSH, 3, (0, b"tmp")),
    Step(Op.LINK, 3, (0, b"tmp"), (0, b"link")),
    Step(Op.RENAME, 3, (0, b"link"), (0, b"renamed")),
    Step(Op.TRUNCATE, 3, (0, b"renamed"), offset=2 * MB),
    Step(Op.REMOVE, 6, (0, b"gone")),
    Step(Op.REMOVE, 7, (0, b"never there")),
]
HINTS = {4: Hint.SHORT, 5: Hint.EXTREME}


def shown(lists: Lists) -> str:
    """Return the commands that change the lists from ``LISTS``, show them, and take them back."""
    path = "/sys/fs/f2fs/vda/extension_list"
    forth, back = changes(LISTS, lists), changes(lists, LISTS)
    commands = [f"echo '{line}' > {path}" for line in forth]
    commands += [f"cat {path}", *(f"echo '{line}' > {path}" for line in back), f"cat {path}"]
    return "\n".join(commands)


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what one machine prints that changes lists, plays a load, and changes lists again."""
    for package in machine.missing():
        needs.missing(f"needs {package} (Debian: apt-get install {package})")
    folder = tmp_path_factory.mktemp("machine")
    player, disk, load = folder / "player", folder / "disk", folder / "load"
    compile_player(player)
    make_disk(disk, 64 * MB)
    with load.open("wb") as file:
        write(file, LOAD, HINTS)
    commands = script("lfs", LISTS).replace("umount", f"{shown(LATER)}\numount")
    return machine.run(commands, disk, folder, [player], load, memory="512M", seconds=600)


def test_a_kernel_takes_the_lines_of_a_change_and_of_taking_it_back(printed: str) -> None:
    first, _, after = printed.partition("mark.operations")
    assert first == str(LISTS)
    last = after.split("</end>\n")[-1]
    changed, heading, back = last.rpartition("cold file extension:\n")
    assert changed == str(LATER)
    assert Lists.parse(heading + back, "kernel") == Lists(LISTS.cold, LISTS.hot)


def test_data_lie_where_lists_and_hints_say(printed: str) -> None:
    found = read_counters(printed, "end")
    assert found.hinted == len(HINTS)
    assert found.cold == (2 + 5) * BLOCKS
    assert found.warm == 2 * BLOCKS - SMALL, "that of the file called tmp, which has no suffix"
    directories = found.hot - (1 + 4) * BLOCKS - SMALL
    assert 0 <= directories < 8


def test_counts_writes_of_load_and_disk_from_the_mark_on(printed: str) -> None:
    mark, end = read_counters(printed, "mark"), read_counters(printed, "end")
    assert mark.user == sum(step.count for step in LOAD if step.op is Op.CREATE) // 4096
    assert mark.device >= mark.user
    since = end.since(mark)
    assert since.user == SMALL, "two bytes at the border of two blocks"
    assert since.device >= SMALL
    assert (since.moved, since.refused) == (0, 1)


def test_mkfs_takes_the_options_that_are_printed(tmp_path: Path) -> None:
    mkfs = needs.program("mkfs.f2fs", "f2fs-tools")
    many = [Suffix(f"x{n}", "hot" if n % 2 else "cold", 9, 9, 1.0) for n in range(99)]
    claim = Claim(99, 0, 0.0, 1.0)
    options = Learned(tuple(many), 99, claim, claim).mkfs_options()
    disk = tmp_path / "disk"
    with disk.open("wb") as file:
        file.truncate(64 * MB)
    subprocess.run([mkfs, "-q", *options.split(), str(disk)], check=True)
    superblock = disk.read_bytes()[1024 : 1024 + 4096]
    assert all(f"x{n}\0".encode() in superblock for n in range(MKFS_ROOM))
