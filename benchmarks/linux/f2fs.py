"""F2FS with hints at create: what the device writes, and the cleaner moves, for what is written.

    python -m benchmarks.linux.f2fs BUILD --registry REGISTRY --days DAY... --mark TIME
        [--policies none,own,learned,image,history,both,created,perfect] [--seeds 1 2 3 4 5]
        [--point accurate] [--full 80] [--mode lfs] [--small 16] [--machine uml] [--uml /usr]
        [--scratch DIR] [--json OUT]

BUILD is what ``birthmark research replay build`` made of the datasets DAY; REGISTRY has a model of
earlier days. What comes before TIME (ISO 8601, UTC) ages the file system, and what comes from then
on is counted. In a kernel that runs as a program (``user_mode.py``), or in a virtual machine
(``machine.py``, with ``--machine qemu``), F2FS is made new, filled (``filling.py``), and the load
played (``player.c``), once for each policy and seed:

- ``none``: both lists are empty;
- ``own``: the lists that ``mkfs.f2fs`` brings;
- ``learned``: those of ``birthmark layout f2fs lists``;
- ``image``: no lists; each file gets at its create the write-life hint that the daemon gives by
  default, which asks the image of ``birthmark models image --point``, without history
  (``hinted.py``);
- ``history``: the same, with the history before the create;
- ``both``: the lists of ``learned``, and the hints of ``history``;
- ``beside``: F2FS's own lists, and the hints of ``history``;
- ``created``: no lists; each file that is created gets the hint of its own future
  (``knowledge.py``), by the daemon's rule: short-lived data get no hint;
- ``perfect``: the same, and so do files that were there before, of whose create nobody hears;
- ``perfect-short``: the same, and short-lived data get a hint, too.

A seed is of the filling. Of a file of which at most ``--small`` blocks are dirty when it is written
out F2FS says by itself that its data are hot (``min_hot_blocks``), whatever the hint; not of files
of the cold list.

The file system is as large as makes what the load needs at its fullest three fifths of it, and is
``--full`` percent full then. In the mode ``lfs``, that of zoned drives, F2FS writes every block to
the end of a log, and the cleaner alone makes room; ``adaptive`` also writes into holes. The
background cleaner, which goes by the clock of the wall and not of the trace, is off.

Printed for each run: blocks that the device wrote for each block that the load wrote, and blocks
that the cleaner moved; then for each policy the mean over the seeds with the least and the most,
by how many percent fewer it moved than F2FS's own lists, and how much that is of what perfect
knowledge saves. OUT is written after each run; what it has of an earlier one is not run again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.linux import machine, user_mode
from benchmarks.linux.counters import Counters, read_counters
from benchmarks.linux.filling import fill
from benchmarks.linux.hinted import daemon_rule, hints
from benchmarks.linux.knowledge import Hint, begins, perfect, room_needed
from benchmarks.linux.load import Op, Step, steps, write
from birthmark.layout_hint.f2fs.extensions import Lists
from birthmark.layout_hint.f2fs.learned import KIND, learn
from birthmark.layout_hint.f2fs.sysfs import changes
from birthmark.predictor import TrainedModel
from birthmark.predictor.answers.point import POINTS
from birthmark.serving.models.loaded import load_model
from birthmark.training.registry.versions import Registry

POLICIES = ("none", "own", "learned", "image", "history", "both", "created", "perfect")
ALSO = ("beside", "perfect-short")
"""Variants that are played only on request."""

LEARNED, OWN = ("learned", "both"), ("own", "beside")
"""Those with learned lists, and with F2FS's own."""

NEEDED = 0.6
"""The part of a file system that a load fills at its fullest."""

SMALL = 16
"""The greatest number of dirty blocks of a file that F2FS takes for hot without a hint."""

WORTH = 0.05
"""The least share that perfect knowledge saves for parts of that to be hinted."""

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


Row = dict[str, Any]
"""A policy, a seed, and what was counted."""


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
        """Return the bytes of the file system that users can fill."""
        return round(self.needed / NEEDED)


def read_load(given: argparse.Namespace) -> Load:
    """Return the load that the command line names, and what each policy knows of it."""
    marked = datetime.fromisoformat(given.mark).replace(tzinfo=UTC)
    played = list(steps(given.build, round(marked.timestamp() * 1e6)))
    needed, grows = room_needed(played)
    model = load_model(Registry(given.registry), point=given.point, counts=True)
    free, rule = round(needed / NEEDED * (1 - given.full / 100)), daemon_rule()
    known = {
        "image": lambda: hints(model, given.build, given.days, False, rule),
        "history": lambda: hints(model, given.build, given.days, True, rule),
        "both": lambda: hints(model, given.build, given.days, True, rule),
        "beside": lambda: hints(model, given.build, given.days, True, rule),
        "created": lambda: _of_created(played, _unshort(perfect(played, free))),
        "perfect": lambda: _unshort(perfect(played, free)),
        "perfect-short": lambda: perfect(played, free),
    }
    own = {policy: known[policy]() for policy in given.policies if policy in known}
    rules = TrainedModel.load(model.directory, only=KIND)
    learned = learn(rules, model.abstaining, hot=not given.small)
    return Load(played, needed, grows, learned.lists, own)


def _unshort(hinted: Mapping[int, int]) -> Mapping[int, int]:
    """Return hints without those of short-lived data."""
    return {file: hint for file, hint in hinted.items() if hint != Hint.SHORT}


def _of_created(played: Sequence[Step], hinted: Mapping[int, int]) -> Mapping[int, int]:
    """Return the hints of files that were not there before the load."""
    there = {step.file for step in played[: begins(played)] if step.op is Op.CREATE}
    return {file: hint for file, hint in hinted.items() if file not in there}


def compile_player(out: Path) -> None:
    """Compile the player, to run without any library."""
    flags = ["-O2", "-std=gnu11", "-static"]
    subprocess.run(["cc", *flags, str(_PLAYER), "-o", str(out)], check=True)


def make_disk(disk: Path, room: int) -> None:
    """Make an F2FS whose users can fill about ``room`` bytes."""
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
    lists = load.learned if policy in LEARNED else None if policy in OWN else Lists()
    commands = script(given.mode, lists, given.small)
    if given.machine == "qemu":
        printed = machine.run(commands, disk, scratch, [player], recorded)
    else:
        printed = user_mode.run(commands, disk, scratch, [player], recorded, given.uml)
    disk.unlink()
    recorded.unlink()
    (scratch / "printed").write_text(printed)
    return read_counters(printed, "end").since(read_counters(printed, "mark"))


def show(policy: str, seed: int, found: Counters) -> None:
    """Print a run."""
    print(
        f"{policy:8} {seed:4} {found.device / found.user:7.3f} {found.moved:10,}"
        f" {found.user:10,} {found.device:10,} {found.refused:6,} {found.hinted:7,}"
        f" {found.full:4}%",
        flush=True,
    )


def run(given: argparse.Namespace, scratch: Path) -> list[Row]:
    """Play the load under each policy with each seed; print and return what was counted."""
    load = read_load(given)
    print(
        f"{len(load.steps):,} steps, {load.room / _MB:,.0f} MB to fill"
        f" {load.needed / _MB:,.0f} at most"
    )
    print(
        f"{'policy':8} {'seed':>4} {'written':>7} {'moved':>10}"
        f" {'user':>10} {'device':>10} {'failed':>6} {'hinted':>7} {'full':>5}"
    )
    rows: list[Row] = []
    if given.json and given.json.exists():
        rows = json.loads(given.json.read_text())
    done = {(row["policy"], row["seed"]) for row in rows}
    for seed in given.seeds:
        for policy in given.policies:
            if (policy, seed) not in done:
                found = play(load, policy, seed, given, scratch / f"{policy}-{seed}")
                show(policy, seed, found)
                rows.append({"policy": policy, "seed": seed, **asdict(found)})
                if given.json:
                    given.json.write_text(json.dumps(rows, indent=1) + "\n")
    return rows


def summary(rows: Sequence[Row]) -> list[str]:
    """Return a line for each policy: moved blocks, what was written, and how that compares."""
    moved: dict[str, list[int]] = {}
    written: dict[str, list[float]] = {}
    for row in rows:
        moved.setdefault(row["policy"], []).append(row["moved"])
        written.setdefault(row["policy"], []).append(row["device"] / row["user"])
    means = {policy: statistics.fmean(own) for policy, own in moved.items()}
    own, best = means.get("own"), means.get("perfect")
    saves = own - best if own and best and own - best >= WORTH * own else 0
    lines = [
        f"{'policy':8} {'seeds':>5} {'written':>7} {'moved':>10} {'least':>10} {'most':>10}"
        f" {'fewer':>7} {'of perfect':>10}"
    ]
    for policy, mean in means.items():
        fewer = f"{100 * (1 - mean / own):.1f}%" if own else ""
        share = f"{100 * (own - mean) / saves:.0f}%" if own and saves else ""
        lines.append(
            f"{policy:8} {len(moved[policy]):5} {statistics.fmean(written[policy]):7.3f}"
            f" {mean:10,.0f} {min(moved[policy]):10,} {max(moved[policy]):10,}"
            f" {fewer:>7} {share:>10}"
        )
    return lines


def policies(text: str) -> list[str]:
    """Return the policies that a text names, between commas; others are refused."""
    named = text.split(",")
    if unknown := [name for name in named if name not in (*POLICIES, *ALSO)]:
        known = ", ".join((*POLICIES, *ALSO))
        raise argparse.ArgumentTypeError(f"expected {known}, found {unknown[0]!r}")
    return named


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--registry", required=True)
    parser.add_argument("--days", type=Path, nargs="+", required=True)
    parser.add_argument("--mark", required=True)
    parser.add_argument("--policies", type=policies, default=[*POLICIES])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--point", choices=POINTS, default="accurate")
    parser.add_argument("--full", type=int, default=80)
    parser.add_argument("--mode", choices=("lfs", "adaptive"), default="lfs")
    parser.add_argument("--small", type=int, default=SMALL)
    parser.add_argument("--machine", choices=("uml", "qemu"), default="uml")
    parser.add_argument("--uml", type=Path, default=user_mode.PACKAGE)
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = run(given, given.scratch or Path(folder))
    print(*summary(rows), sep="\n")


if __name__ == "__main__":
    main()
