"""The helper that hints files, as it is handed out, in a real kernel: Debian's, in a machine.

It watches an F2FS there: files that programs and the kernel's NFS server create are hinted, and
where it is killed the file system goes on as without it. The trial of its hints goes by what F2FS's
own cleaner moves.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from benchmarks.linux import machine
from tests import needs
from tests.layout_hint.hintd import CRATE, ROOT
from tests.layout_hint.write_life import EXTREME, IMAGE, LONG, MEDIUM, RULE, SHORT

pytestmark = pytest.mark.deep

MB = 1 << 20
BLOCKS = MB // 4096
KILLS = 12
BEGIN = (
    "".join(f"export {name}='{keys}'\n" for name, keys in RULE.items())
    + """
set -e
mount -t f2fs -o mode=lfs,background_gc=off /dev/vda /mnt
begin() {
    busybox rm -f /tmp/log
    birthmark-hintd --write-life /mnt --image /bin/image ${@:---unmeasured} 2> /tmp/log &
    helper=$!
}
start() {
    begin "$@"
    until busybox grep -s "hints what is created" /tmp/log; do
        kill -0 $helper || { cat /tmp/log; return 1; }
        busybox usleep 10000
    done
}
stop() {
    kill $helper
    wait $helper
    cat /tmp/log
}
hinted() {
    files wait "$@" || { stop; return 1; }
}
"""
)
"""Commands for the helper in the machine."""

BY_NAME = f"""
start
for name in a.tmp b.log c.txt d.iso e.other; do
    busybox dd if=/dev/zero of=/mnt/$name bs=1M count=1 2> /dev/null
done
hinted {SHORT} /mnt/a.tmp
hinted {MEDIUM} /mnt/b.log
hinted {LONG} /mnt/c.txt
hinted {EXTREME} /mnt/d.iso
hinted 0 /mnt/e.other
busybox sync
cat /sys/kernel/debug/f2fs/status
stop
"""

# What mountd tells nfsd of who may see what, and a program that keeps NFS 4's clients.
BY_NFS = rf"""
busybox ifconfig lo 127.0.0.1 up
busybox mkdir /nfs3 /nfs4 /sbin
echo '#!/bin/sh' > /sbin/nfsdcltrack
busybox chmod 755 /sbin/nfsdcltrack
mount -t nfsd none /proc/fs/nfsd
echo 'nfsd 127.0.0.1 2147483647 here' > /proc/net/rpc/auth.unix.ip/channel
echo 'here /mnt 2147483647 8192 65534 65534 0' > /proc/net/rpc/nfsd.export/channel
echo 'here 1 \x00000000 2147483647 /mnt' > /proc/net/rpc/nfsd.fh/channel
files portmapper
echo 'tcp 2049' > /proc/fs/nfsd/portlist
echo 2 > /proc/fs/nfsd/threads
echo Y > /proc/fs/nfsd/v4_end_grace
files mount3 /nfs3
files mount4 /nfs4
start
for version in 3 4; do
    echo data > /nfs$version/by$version.tmp
    echo data > /nfs$version/by$version.iso
    echo data > /nfs$version/by$version.other
    hinted {SHORT} /mnt/by$version.tmp
    hinted {EXTREME} /mnt/by$version.iso
    hinted 0 /mnt/by$version.other
    umount /nfs$version
done
stop
echo 0 > /proc/fs/nfsd/threads
for cache in nfsd.fh nfsd.export; do busybox date +%s > /proc/net/rpc/$cache/flush; done
"""

BY_NOBODY = """
busybox mkdir /mnt/churn
files churn /mnt/churn /tmp/over > /tmp/churned &
churning=$!
{kills}
start
echo > /mnt/after.tmp
hinted {short} /mnt/after.tmp
stop
kill -0 $churning
echo > /tmp/over
wait $churning
cat /tmp/churned
"""
KILL = """
{start}
busybox usleep {after}
kill -9 $helper
wait $helper || echo "killed with $?"
kill -0 $churning
"""
END = "\numount /mnt\n"

# A round of which no period moved anything leaves the evidence, or sets it to 1.
TRIAL = (
    BEGIN
    + r"""
busybox mkdir /mnt/moved
start --trial-seconds 0.1 --state /tmp/state
files move /mnt/moved /tmp/over &
moving=$!
until busybox grep -sE '"rounds":([3-9]|[0-9]{2})' /tmp/state |
    busybox grep -vE '"evidence":1(\.0)?[,}]'; do
    kill -0 $helper
    busybox usleep 10000
done
echo > /tmp/over
wait $moving
cat /sys/fs/f2fs/vda/moved_blocks_foreground
stop
"""
    + END
)


def kills() -> str:
    """Return commands that kill the helper at random instants: before it watches, and while."""
    random_ = random.Random(18)
    whens = [
        KILL.format(start=random_.choice(["begin", "start"]), after=random_.randrange(300_000))
        for _ in range(KILLS)
    ]
    return "".join(whens)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return the helper, built as `layout_hint/hintd/build` does, its image, and `files.c`."""
    for package in machine.missing():
        needs.missing(f"needs {package} (Debian: apt-get install {package})")
    folder = tmp_path_factory.mktemp("programs")
    answer = subprocess.run([needs.program("rustc"), "-vV"], capture_output=True, text=True).stdout
    host = answer.partition("host: ")[2].split()[0]
    build = ["build", "--locked", "--quiet", "--profile=hintd", f"--target={host}"]
    static = os.environ | {"RUSTFLAGS": "-C target-feature=+crt-static"}
    subprocess.run([needs.program("cargo"), *build], cwd=CRATE, env=static, check=True)
    source, files, image = Path(__file__).with_name("files.c"), folder / "files", folder / "image"
    flags = ["-O2", "-std=gnu11", "-static", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([needs.program("cc", "gcc"), *flags, source, "-o", files], check=True)
    image.write_bytes(IMAGE)
    return [ROOT / "target" / host / "hintd" / "birthmark-hintd", files, image]


def ran(script: str, programs: list[Path], folder: Path, *modules: str) -> str:
    """Return what a script prints in a machine, after which its file system is sound."""
    disk = folder / "disk"
    with disk.open("wb") as file:
        file.truncate(256 * MB)
    subprocess.run(["mkfs.f2fs", "-q", "-f", disk], check=True)
    printed = machine.run(
        script, disk, folder, programs, memory="512M", seconds=900, modules=modules
    )
    checked = subprocess.run(["fsck.f2fs", "--dry-run", disk], capture_output=True, text=True)
    assert "[Fail]" not in checked.stdout, checked.stdout
    return printed


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory, programs: list[Path]) -> str:
    """Return what one machine prints, in which files are made by all sorts of programs."""
    by_nobody = BY_NOBODY.format(kills=kills(), short=SHORT)
    script = "\necho NEXT\n".join([BEGIN + BY_NAME, BY_NFS, by_nobody]) + END
    return ran(script, programs, tmp_path_factory.mktemp("machine"), "nfsd", "nfsv3", "nfsv4")


def counts(part: str) -> dict[str, int]:
    """Return what the helper counted, as it says when it ends."""
    listed = part.rpartition("ends; files keep their hints; ")[2].splitlines()[0]
    return {name: int(count) for name, count in (pair.split() for pair in listed.split(", "))}


def test_files_get_the_hints_that_their_names_call_for_and_lie_in_those_logs(printed: str) -> None:
    part = printed.split("NEXT\n")[0]
    found = re.findall(r"^  - (COLD|WARM|HOT) +data:" + r" +-?\d+" * 5 + r" +(\d+)", part, re.M)
    valid = {name: int(blocks) for name, blocks in found}
    directories = valid["HOT"] - BLOCKS
    assert 0 <= directories < 8
    assert (valid["WARM"], valid["COLD"]) == (3 * BLOCKS, BLOCKS)
    counted = counts(part)
    classes = [counted[f"hinted_{name}"] for name in ("short", "medium", "long", "extreme")]
    assert (counted["births"], classes, counted["unhinted"]) == (5, [1, 1, 1, 1], 1)


def test_files_that_the_nfs_server_creates_are_hinted(printed: str) -> None:
    counted = counts(printed.split("NEXT\n")[1])
    assert counted["births"] == 6, "three files by each of NFS 3 and NFS 4.1"
    assert [counted[name] for name in ("hinted_short", "hinted_extreme", "unhinted")] == [2, 2, 2]


def test_where_the_helper_is_killed_the_file_system_goes_on_as_without(printed: str) -> None:
    part = printed.split("NEXT\n")[2]
    assert part.count("killed with 137") == KILLS
    churned = re.search(r"^churned (\d+), of which (\d+) are wrong$", part, re.M)
    assert churned, part
    assert int(churned[1]) > KILLS
    assert int(churned[2]) == 0
    assert counts(part)["overflows"] == 0


def test_a_trial_goes_by_what_f2fs_says_that_its_cleaner_moves(
    programs: list[Path], tmp_path: Path
) -> None:
    printed = ran(TRIAL, programs, tmp_path)
    found = re.search(r"^(\{.*\})\n?(\d+)$", printed, re.M)
    assert found, printed
    state, moved = found.groups()
    assert int(moved) > 0
    assert "hints are not measured" not in printed, "the counters are found"
    assert json.loads(state)["evidence"] != 1, "a rank among periods of which none moved anything"
    counted = counts(printed)
    assert counted["rounds"] >= 3
    assert counted["withheld"] > 0
