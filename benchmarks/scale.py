"""Cost of a night by step, and extrapolated to a site of many servers.

    python -m benchmarks.scale [TRACE] [--until STEP] [--json OUT]

Without a trace, half a day of a small generated server (`birthmark research workload eecs03`), as a
capture.
Each step runs in a process of its own, as a task does. Costs are processor seconds, all threads
together: elapsed time would tell more of what else runs.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from birthmark.data.ingest.decoded import Decoded, combine, decode
from birthmark.predictor.models.kinds import KINDS
from birthmark.research.workloads import Workload
from birthmark.research.workloads.output import write
from birthmark.research.workloads.profile import read_profile
from birthmark.training.config import Settings
from birthmark.training.learn.train import read_lives, train
from birthmark.training.registry.stored import load
from birthmark.training.registry.versions import Registry
from birthmark.training.reports.evaluation_run import EvaluationRun

WORKLOAD, SEED, DAYS, RATE = "eecs03", 1, 0.5, 0.1
MILLION = 1_000_000


def decoding(scratch: Path) -> None:
    """Decode the trace."""
    decode((scratch / "trace").resolve(), scratch / "decoded")


def tables(scratch: Path) -> None:
    """Make the dataset."""
    combine([scratch / "decoded"], scratch / "dataset")


def reading(scratch: Path) -> None:
    """Read lives, and what training does once whatever kinds there are: histories, labels."""
    _model(scratch, ())


def training(kind: str) -> Callable[[Path], None]:
    """Return the command that trains one type of models."""
    return lambda scratch: _model(scratch, (kind,))


def _model(scratch: Path, kinds: tuple[str, ...]) -> None:
    from birthmark.predictor import TrainedModel

    lives = read_lives([scratch / "dataset"])
    TrainedModel(**Settings().parameters()).train(lives.with_others(), lives.names, kinds=kinds)


def testing(scratch: Path) -> None:
    """Test a model on the dataset, and draw the report."""
    run = EvaluationRun(load(Registry(scratch / "registry")), scratch / "dataset")
    run.report()
    run.to_json()


STEPS: dict[str, Callable[[Path], None]] = {
    "decode": decoding,
    "tables": tables,
    "read": reading,
    **{f"train {kind}": training(kind) for kind in KINDS},
    "test": testing,
}


def run(step: str, scratch: Path) -> None:
    """Run a step in this process; print its processor seconds and the process's peak memory."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    STEPS[step](scratch)
    after = resource.getrusage(resource.RUSAGE_SELF)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"seconds": seconds, "peak_mb": after.ru_maxrss / 1024}))


def measured(step: str, scratch: Path) -> dict[str, float]:
    """Run a step in a process of its own; return what `run` prints."""
    command = [sys.executable, "-m", "benchmarks.scale", "--step", step, str(scratch)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(scratch: Path, until: str) -> list[dict[str, Any]]:
    """Measure steps in their order, `until` the last; return a row for each."""
    rows: list[dict[str, Any]] = []
    counts: dict[str, int] = {}
    steps = list(STEPS)
    for step in steps[: steps.index(until) + 1]:
        if step == "test":  # on a model that need not be good, only as large
            model, manifest = train(
                read_lives([scratch / "dataset"]), Settings(trees=32, rounds=60)
            )
            Registry(scratch / "registry").publish(model.save, manifest)
        spent = measured(step, scratch)
        if step == "decode":
            counts["operations"] = Decoded(scratch / "decoded").rows["operations"]
        if step == "tables":
            lives = read_lives([scratch / "dataset"])
            counts["births"] = len(lives.files) + len(lives.names)
        unit = "operations" if step in ("decode", "tables") else "births"
        seconds = spent["seconds"]
        rows.append(
            {
                "step": step,
                "unit": unit,
                "count": counts[unit],
                "seconds": round(seconds, 2),
                "seconds_per_million": round(seconds / counts[unit] * MILLION, 1),
                "peak_mb": round(spent["peak_mb"]),
            }
        )
        print(_line(rows[-1]), flush=True)
    return rows


def _line(row: dict[str, Any]) -> str:
    return (
        f"{row['step']:14}{row['count']:>12,} {row['unit']:11}{row['seconds']:9.1f} s"
        f"{row['seconds_per_million']:10.1f} s/million{row['peak_mb']:8,} MB"
    )


def size(folder: Path) -> int:
    """Return the total bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", nargs="?", type=Path)
    parser.add_argument("--until", choices=list(STEPS)[1:], default="test")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        run(arguments.step[0], Path(arguments.step[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        trace = arguments.trace
        if trace is None:
            trace = scratch / "generated.pcap"
            write(Workload(WORKLOAD, SEED, read_profile(WORKLOAD).start, DAYS, RATE), trace)
        (scratch / "trace").symlink_to(trace.resolve())
        rows = measure(scratch, arguments.until)
        operations = rows[0]["count"]
        sizes = {
            name: round(size(path) / operations, 1)
            for name, path in (("decoded", scratch / "decoded"), ("dataset", scratch / "dataset"))
        }
        sizes["trace"] = round(trace.stat().st_size / operations, 1)
    print(", ".join(f"{name} {each:,.0f} bytes an operation" for name, each in sizes.items()))
    if arguments.json:
        found = {"steps": rows, "bytes_per_operation": sizes}
        arguments.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
