"""F2FS with hints at create: what the device writes, and the cleaner moves, for what is written.

    python -m benchmarks.linux.f2fs BUILD --registry REGISTRY --days DAY... --mark TIME
        [--policies none,own,learned,image,history,perfect] [--seeds 1 ...] [--full 80] [--mode lfs]
        [--small 16] [--scratch DIR] [--json OUT]

BUILD is what ``birthmark replay build`` made of the datasets DAY; REGISTRY has a model of earlier
days. What comes before TIME (ISO 8601, UTC) ages the file system, and what comes from then on is
counted. In a virtual machine (``machine.py``) F2FS is made new, filled (``filling.py``), and the
load played (``player.c``), once for each policy and seed:

- ``none``: both lists are empty;
- ``own``: the lists that ``mkfs.f2fs`` brings;
- ``learned``: those of ``birthmark f2fs lists``;
- ``image``: no lists; each file gets at its create the write-life hint that the model's answer
  calls for (``hinted.py``), told nothing of earlier files;
- ``history``: the same, told what was seen before the create;
- ``perfect``: no lists; each file gets the hint of its own future (``knowledge.py``).

Of a file of which at most ``--small`` blocks are dirty when it is written out F2FS says by itself
that its data are hot (``min_hot_blocks``), whatever the hint; not of files of the cold list.

The file system is as large as makes what the load needs at its fullest three fifths of it, and is
``--full`` percent full then. In the mode ``lfs``, that of zoned drives, F2FS writes every block to
the end of a log, and the cleaner alone makes room; ``adaptive`` also writes into holes. The
background cleaner, which goes by the clock of the wall and not of the trace, is off.

Printed for each: blocks that the device wrote for each block that the load wrote, blocks that the
cleaner moved, and by how many percent fewer these are than with F2FS's own lists.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.linux import machine
from benchmarks.linux.counters import Counters, read_counters
from benchmarks.linux.filling import fill
from benchmarks.linux.hinted import hints
from benchmarks.linux.knowledge import begins, perfect, room_needed
from benchmarks.linux.load import Step, steps, write
from birthmark.layout_hint.f2fs.extensions import Lists
from birthmark.layout_hint.f2fs.learned import learn
from birthmark.layout_hint.f2fs.sysfs import changes
from birthmark.predictor import TrainedModel
from birthmark.training.registry.published import read_published
from birthmark.training.registry.versions import Registry

POLICIES = ("none", "own", "learned", "image", "history", "perfect")
NEEDED = 0.6
"""The part of a file system that a load fills at its fullest."""

SMALL = 16
"""The greatest number of dirty blocks of a file that F2FS takes for hot unless it is told."""

_PLAYER = Path(__file__).with_name("player.c")
_MB = 1 << 20
_LISTS = "/sys/fs/f2fs/vda/extension_list"
_CLEAR = f"""
while read line; do
    case "$line" in
        "cold file extension:") list=c ;;
        "hot file extension:") list=h ;;
        ?*) echo "[$list]!$line" ;;
    esac
done < {_LISTS} > /tmp/lines
while read line; do echo "$line" > {_LISTS}; done < /tmp/lines
"""


@dataclass(frozen=True)
class Load:
    """The steps of a load, how it fills a file system, and what each policy knows.

    ``needed`` bytes are filled at the fullest, ``grows`` more than at first.
    """

    steps: Sequence[Step]
    needed: int
    grows: int
    learned: Lists
    hints: Mapping[str, Mapping[int, int]]

    @property
    def room(self) -> int:
        """Return how many bytes users can fill of the file system."""
        return round(self.needed / NEEDED)


def read_load(given: argparse.Namespace) -> Load:
    """Return the load that the command line names, and what each policy knows of it."""
    marked = datetime.fromisoformat(given.mark).replace(tzinfo=UTC)
    played = list(steps(given.build, round(marked.timestamp() * 1e6)))
    needed, grows = room_needed(played)
    published = read_published(Registry(given.registry))
    model = TrainedModel.load(published.directory)
    free = round(needed / NEEDED * (1 - given.full / 100))
    known = {
        "image": lambda: hints(model, published, given.build, given.days, told=False),
        "history": lambda: hints(model, published, given.build, given.days, told=True),
        "perfect": lambda: perfect(played, free),
    }
    own = {policy: known[policy]() for policy in given.policies if policy in known}
    return Load(played, needed, grows, learn(model, published.abstaining).lists, own)


def compile_player(out: Path) -> None:
    """Compile the player, to run without any library."""
    flags = ["-O2", "-std=gnu11", "-static"]
    subprocess.run(["cc", *flags, str(_PLAYER), "-o", str(out)], check=True)


def make_disk(disk: Path, room: int) -> None:
    """Make an F2FS of which users can fill about ``room`` bytes."""
    with disk.open("wb") as file:
        file.truncate(round((room * 1.05 + 150 * _MB) / (2 * _MB)) * 2 * _MB)
    subprocess.run(["mkfs.f2fs", "-q", "-f", str(disk)], check=True)


def script(mode: str, lists: Lists | None, small: int = SMALL) -> str:
    """Return the script of a machine that plays a load; ``lists`` None leaves F2FS's own."""
    lines = [] if lists is None else changes(Lists(), lists)
    return "\n".join(
        [
            "set -e",
            # When a block is written out goes by the trace's clock, not by the wall's.
            "echo 0 > /proc/sys/vm/dirty_writeback_centisecs",
            "echo 60 > /proc/sys/vm/dirty_background_ratio",
            "echo 80 > /proc/sys/vm/dirty_ratio",
            f"mount -t f2fs -o mode={mode},background_gc=off /dev/vda /mnt",
            f"echo {small} > /sys/fs/f2fs/vda/min_hot_blocks",
            "" if lists is None else _CLEAR,
            *(f"echo '{line}' > {_LISTS}" for line in lines),
            f"cat {_LISTS}",
            "player /dev/vdb /mnt",
            "umount /mnt",
        ]
    )


def play(load: Load, policy: str, seed: int, given: argparse.Namespace, scratch: Path) -> Counters:
    """Play a load under a policy on a new file system; return what was counted from the mark on."""
    scratch.mkdir(parents=True)
    player, disk, recorded = scratch / "player", scratch / "disk", scratch / "load"
    compile_player(player)
    make_disk(disk, load.room)
    percent = round(given.full - 100 * load.grows / load.room)
    first = begins(load.steps)
    there, done = load.steps[:first], load.steps[first:]
    with recorded.open("wb") as file:
        every = [*there, *fill(there, percent, load.room, seed), *done]
        write(file, every, load.hints.get(policy, {}))
    lists = {"own": None, "learned": load.learned}.get(policy, Lists())
    printed = machine.run(script(given.mode, lists, given.small), disk, scratch, [player], recorded)
    disk.unlink()
    recorded.unlink()
    (scratch / "printed").write_text(printed)
    return read_counters(printed, "end").since(read_counters(printed, "mark"))


def show(policy: str, seed: int, found: Counters, own: Counters | None) -> None:
    """Print a run, beside that with F2FS's own lists."""
    fewer = f"{100 * (1 - found.moved / own.moved):6.1f}%" if own and own.moved else f"{'':>7}"
    print(
        f"{policy:8} {seed:4} {found.device / found.user:7.3f} {found.moved:10,}"
        f" {found.moved_data:10,} {fewer} {found.user:10,} {found.device:10,}"
        f" {found.refused:6,} {found.hinted:7,} {found.utilization:4}%",
        flush=True,
    )


def run(given: argparse.Namespace, scratch: Path) -> list[dict[str, object]]:
    """Play the load under each policy with each seed; print and return what was counted."""
    load = read_load(given)
    print(
        f"{len(load.steps):,} steps, {load.room / _MB:,.0f} MB of which it fills"
        f" {load.needed / _MB:,.0f} at most"
    )
    print(
        f"{'policy':8} {'seed':>4} {'written':>7} {'moved':>10} {'of data':>10} {'fewer':>7}"
        f" {'user':>10} {'device':>10} {'failed':>6} {'hinted':>7} {'full':>5}"
    )
    rows: list[dict[str, object]] = []
    for seed in given.seeds:
        own = None
        for policy in given.policies:
            found = play(load, policy, seed, given, scratch / f"{policy}-{seed}")
            own = found if policy == "own" else own
            show(policy, seed, found, own)
            rows.append({"policy": policy, "seed": seed, **asdict(found)})
    return rows


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--registry", required=True)
    parser.add_argument("--days", type=Path, nargs="+", required=True)
    parser.add_argument("--mark", required=True)
    parser.add_argument("--policies", type=lambda text: text.split(","), default=[*POLICIES])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--full", type=int, default=80)
    parser.add_argument("--mode", choices=("lfs", "adaptive"), default="lfs")
    parser.add_argument("--small", type=int, default=SMALL)
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = run(given, given.scratch or Path(folder))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
