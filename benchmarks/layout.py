"""Effect of hints on locality and time on disk, with the thesis's Tables 7.1 to 7.4; and speed.

    python -m benchmarks.layout [WORKLOAD...] [--rate 0.1] [--days 4] [--captures DAY...]
                                [--seeds 3] [--geometry freebsd48] [--region-start 0]
                                [--mode all] [--state fresh] [--scratch DIR] [--json OUT]

Of each generated workload five days are made; a model learns from Monday's, and Tuesday's to
Friday's are replayed from 10:00 to 16:00, each on a new file system, as in thesis section 7.1.
``--rate`` is the part of the thesis's load; the cache has as great a part of the thesis's. Of
captures, the first trains, and each of the others is a day, with a cache of ``--cache``.

Locality is from replays at the trace's own pace: with a part of the users each has more of the
operations that follow one another at full speed, and the syncer's half minute would make one
write of many that the thesis's machine made apart. Gains in time are from replays at full speed.

A row is a day: the writes in the region, in percent, by default, with HotDir and HotName, with
HotWrite besides, with an oracle's hints, and at most (Optimal); then the gain of elapsed time of
both heuristics, of all three, and the least of any policy. Under a generated day stands the
thesis's. The verdict says whether both heuristics raise the writes in the region on each day,
whether reads hardly move (by less than ``READS``), whether all three get half of what is possible,
and whether no policy is slower than Default by more than the spread of the seeds.

Replays make ``rate`` operations per second, beside ``decode``: the rows per second at which pyarrow
reads the same operations from Parquet.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.ingest.run import ingest
from birthmark.data.schema import OPERATIONS
from birthmark.layout_hint.comparison.figures import Comparison, Result
from birthmark.layout_hint.replay.conditions import DEFAULT, ORACLE
from birthmark.layout_hint.report import to_json
from birthmark.layout_hint.report.thesis import NVRAM, improvement, locality
from birthmark.layout_hint.rewrite import build
from birthmark.layout_hint.settings import Options
from birthmark.layout_hint.study import study
from birthmark.research.workloads import WORKLOADS, Workload
from birthmark.research.workloads.output import write
from birthmark.research.workloads.profile import read_profile
from birthmark.training.config import Settings
from birthmark.training.learn.train import read_lives, train
from birthmark.training.registry.versions import Registry

CACHE_MB = 800
READS = 0.01
BOTH, ALL = "HotDir+HotName", "all three"
ASKED = ("seeds", "geometry", "region_start", "mode", "state", "cache", "jobs")
DEFAULTS = Options()
SHOWN = (DEFAULT, BOTH, ALL, ORACLE)


@dataclass(frozen=True)
class Site:
    """Days to replay, and a model from a day before."""

    name: str
    traces: list[Path]
    model: Path
    options: Options


def generated(name: str, rate: float, number: int, options: Options, scratch: Path) -> Site:
    """Generate a week, and train on its Monday; so many days follow."""
    start = date.fromisoformat(read_profile(name).start)
    week, monday = scratch / f"{name}.parquet", scratch / f"{name}-monday.parquet"
    if not week.exists():
        write(Workload(name, options.seed, start.isoformat(), 5, rate), week)
        cut(week, monday, start + timedelta(days=1))
    days = f"{start + timedelta(days=1)}..{start + timedelta(days=number)}"
    own = options.model_copy(update={"days": days, "cache": f"{max(1, round(CACHE_MB * rate))}M"})
    return Site(name, [week], trained(name, monday, scratch), own)


def cut(week: Path, out: Path, end: date) -> None:
    """Write the operations before a day."""
    until = pa.scalar(
        datetime(end.year, end.month, end.day, tzinfo=UTC), OPERATIONS.field("time").type
    )
    file = pq.ParquetFile(week)
    with pq.ParquetWriter(out, file.schema_arrow, compression="zstd") as writer:
        for batch in file.iter_batches(1 << 16):
            writer.write_batch(batch.filter(pc.less(batch["time"], until)))


def captured(days: list[Path], options: Options, scratch: Path) -> Site:
    """Take captures as days, the first to train on."""
    builds = []
    for day in days[1:]:
        builds.append(scratch / f"captured-{day.stem}")
        if not builds[-1].exists():
            build([day], builds[-1])
    return Site("captured", builds, trained("captured", days[0], scratch), options)


def trained(name: str, trace: Path, scratch: Path) -> Path:
    """Train on a trace; return the registry."""
    registry, dataset = scratch / f"{name}-models", scratch / f"{name}-first"
    if not registry.exists():
        ingest([trace], dataset)
        model, manifest = train(read_lives([dataset]), Settings())
        Registry(registry).publish(model.save, manifest)
    return registry


def decode_rate(build_directory: Path) -> float:
    """Return pyarrow's rate of reading a build, in operations per second."""
    began, rows = time.monotonic(), 0
    for batch in pq.ParquetFile(build_directory / "operations.parquet").iter_batches(1 << 16):
        rows += len(batch)
    return rows / (time.monotonic() - began)


def published(name: str, day: str) -> dict[str, float] | None:
    """Return the thesis's figures for a workload's day, or for that weekday, in percent."""
    title = name.upper()
    default, both = (locality(title, day, policy) for policy in (DEFAULT, BOTH))
    gains = improvement(title, day, BOTH), improvement(title, day, NVRAM)
    if default is None or both is None or gains[0] is None or gains[1] is None:
        return None
    shares = {
        "default": default.target[2],
        "both": both.target[2],
        "reads": both.target[1] - default.target[1],
        "optimal": both.optimal[2],
        "gain_both": gains[0],
        "nvram": gains[1],
    }
    return {column: 100 * share for column, share in shares.items()}


def measured(found: Comparison, timed: Comparison, day: str, mode: str) -> dict[str, Any]:
    """Return the same of a day here, and more: of a comparison for locality, and one for time."""
    (state,) = {each.state for each in found.results}

    def of(policy: str) -> Result:
        return result_of(found, day, policy, mode, state)

    def gain(policy: str, nvram: bool = False) -> float:
        return 100 * result_of(timed, day, policy, mode, state, nvram).improvement.mean

    default, both, every = of(DEFAULT), of(BOTH), of(ALL)
    others = [each for each in timed.of_state(state) if each.day == day and each.mode == mode]
    runs = [each for each in (*found.results, *timed.results) if each.day == day]
    return {
        "default": 100 * default.target.write.mean,
        "both": 100 * both.target.write.mean,
        "reads": 100 * (both.target.read.mean - default.target.read.mean),
        "all": 100 * every.target.write.mean,
        "oracle": 100 * of(ORACLE).target.write.mean,
        "optimal": 100 * every.optimal.write.mean,
        "of_optimal": every.of_optimal,
        "gain_both": gain(BOTH),
        "gain_all": gain(ALL),
        "nvram": gain(BOTH, True),
        "least": 100 * min(each.improvement.mean for each in others),
        "raised": both.target.write.mean > default.target.write.mean,
        "reads_still": abs(both.target.read.mean - default.target.read.mean) < READS,
        "half": every.of_optimal >= 0.5,
        "none_slower": not any(slower(each) for each in others),
        "consistent": all(each.inconsistency is None for each in runs),
    }


def result_of(
    found: Comparison, day: str, policy: str, mode: str, state: str, nvram: bool = False
) -> Result:
    """Return a result that is there."""
    result = found.find(day, policy, mode, state, nvram)
    assert result is not None, (day, policy, mode)
    return result


def slower(result: Result) -> bool:
    """Return whether a policy is slower than Default, by more than seeds differ."""
    return result.improvement.mean < -(result.improvement.deviation or 0.0)


COLUMNS = ("default", "both", "all", "oracle", "optimal", "reads", "gain_both", "gain_all")
COLUMNS = (*COLUMNS, "nvram", "least")
CHECKS = ("raised", "reads_still", "half", "none_slower", "consistent")


def rows(site: Site, found: Comparison, timed: Comparison) -> Iterator[dict[str, Any]]:
    """Yield a row for each day and mode."""
    for day in found.days:
        for mode in found.modes:
            own = {"workload": site.name, "day": day, "mode": mode}
            yield own | measured(found, timed, day, mode) | {"thesis": published(site.name, day)}


def show(row: dict[str, Any]) -> None:
    """Print a row, and the thesis's under the last of a day."""
    wrong = [check for check in CHECKS if not row[check]]
    cells = "".join(f"{row[column]:10.2f}" for column in COLUMNS)
    name = f"{row['workload']} {row['day']} {row['mode']}"
    print(f"{name:38}{cells}  {', '.join(f'not {each}' for each in wrong)}")
    if row["thesis"] and row["mode"] == "preferred":
        beside = "".join(
            f"{row['thesis'][c]:10.2f}" if c in row["thesis"] else f"{'':10}" for c in COLUMNS
        )
        print(f"{'  thesis':38}{beside}")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", help="default: all, or with --captures none")
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--captures", nargs="+", type=Path, default=[])
    parser.add_argument("--days", type=int, default=4, choices=range(1, 5))
    for name in ASKED:
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, default=getattr(DEFAULTS, name))
    parser.add_argument("--scratch", type=Path, help="where to work, and what is there is reused")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    options = Options(**{name: getattr(given, name) for name in ASKED})
    names = given.workloads or ([] if given.captures else WORKLOADS)
    with tempfile.TemporaryDirectory() as folder:
        scratch = given.scratch or Path(folder)
        sites = [generated(name, given.rate, given.days, options, scratch) for name in names]
        if given.captures:
            sites.append(captured(given.captures, options, scratch))
        result = run(sites, scratch)
    if given.json:
        given.json.write_text(json.dumps(result, indent=2) + "\n")
    if not all(row[check] for row in result["days"] for check in CHECKS):
        raise SystemExit("not as it is to be")


def run(sites: list[Site], scratch: Path) -> dict[str, Any]:
    """Compare policies at all sites; print and return what was found."""
    print(f"{'writes in the region, %, and gains, %':38}{''.join(f'{c:>10}' for c in COLUMNS)}")
    days: list[dict[str, Any]] = []
    comparisons, speeds = {}, {}
    for site in sites:
        remaining = scratch / f"{site.name}-days"
        began = time.monotonic()
        still = site.options.model_copy(update={"pace": "trace", "nvram": False})
        found = study(site.traces, site.model, still, remaining)
        timed = study(site.traces, site.model, site.options, remaining)
        for row in rows(site, found, timed):
            show(row)
            days.append(row)
        comparisons[site.name] = {"locality": to_json(found), "elapsed": to_json(timed)}
        first = site.traces[0] if site.traces[0].is_dir() else remaining / found.days[0]
        speeds[site.name] = {
            "replay": max(speed for each in found.results for speed in each.speed.values),
            "decode": decode_rate(first),
            "seconds": time.monotonic() - began,
        }
    for name, speed in speeds.items():
        print(
            f"{name}: {speed['replay']:,.0f} operations/s, {speed['replay'] / speed['decode']:.2f} "
            f"of decode; {speed['seconds']:.0f} s in all"
        )
    return {"days": days, "speeds": speeds, "comparisons": comparisons}


if __name__ == "__main__":
    main()
