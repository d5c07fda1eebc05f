"""Measures one commit; ``benchmarks.compare`` hands this to the Python of each commit's build.

    python -P compare_measure.py WHAT INPUTS SCRATCH SECONDS

Older commits lack much of what there is here, so this imports what all of them have: the standard
library, the names that ``birthmark`` offers, the command line and ``benchmarks.lookup``. Printed
is a JSON object with an object for each figure: its ``rate``, by the clock, and its ``work_rate``,
by the processor time that it took. More is better in all of them.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

BIRTHMARK = [sys.executable, "-m", "birthmark"]
CPUS = sorted(os.sched_getaffinity(0))
LOOKUPS = {"rules": 2_000_000, "forest": 100_000}
"""Number of files at once, by the type of models: about a second's work."""

Rates = dict[str, dict[str, float]]


def rates(count: float, clock: float, work: float | None = None) -> dict[str, float]:
    """Return rates of so many things in so many seconds by the clock and of processor time."""
    return {"rate": count / clock} | ({"work_rate": count / work} if work else {})


def timed(run: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return a call's result, and its seconds by the clock and of processors."""
    clock, work = time.perf_counter(), worked()
    found = run()
    return found, time.perf_counter() - clock, worked() - work


def worked() -> float:
    """Return the processor time until now, of this process and those that it waited for."""
    kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def called(*command: object) -> bytes:
    """Return a command's output."""
    return subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE).stdout


def prepare(inputs: Path, scratch: Path) -> None:
    """Make what is measured on and belongs to the commit: a model, images, a replay, creates."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    for day in ("day1", "day2"):
        called(*BIRTHMARK, "ingest", inputs / f"{day}.parquet", "--out", scratch / day)
    registry = scratch / "registry"
    called(*BIRTHMARK, "train", scratch / "day1", "--registry", registry, "--no-test")
    for kind in LOOKUPS:
        image = ["--registry", registry, "--model", kind, "--out", scratch / kind]
        called(*BIRTHMARK, "image", *image)  # the old spelling: older commits know no other
    called(*BIRTHMARK, "replay", "build", inputs / "day2.parquet", "--out", scratch / "replay")
    prepare_lookup(scratch)


def prepare_lookup(scratch: Path) -> None:
    """Compile the commit's ``lookup.c``, and write creates as it reads them."""
    from benchmarks import lookup

    source = Path(lookup.__file__).with_name("lookup.c")
    include = source.parents[1] / "layout_hint/include"
    called("cc", "-O2", "-std=gnu11", "-I", include, source, "-o", scratch / "lookup")
    (scratch / "creates").write_bytes(lookup.packed(creates(scratch)))


def creates(scratch: Path) -> Any:
    """Return the creates of the second day, as a table."""
    import pyarrow.dataset as ds

    import birthmark

    # files with births that were seen, as models are asked of
    table = ds.dataset(scratch / "day2" / "files", partitioning="hive").to_table()
    return birthmark.from_files(table.filter(table["birth_seen"]))


def ingest(inputs: Path, scratch: Path, seconds: float) -> Rates:
    """Decode text and a capture, and ingest the text; beside ``gzip -dc | wc -l`` on it."""
    import birthmark

    def decode(name: str) -> int:
        return sum(len(batch) for batch in birthmark.open_trace(str(inputs / name)))

    text = inputs / "trace.txt.gz"
    _, *gunzip = timed(lambda: called("sh", "-c", f"gzip -dc '{text}' | wc -l"))
    rows, *decoding = timed(lambda: decode("trace.txt.gz"))
    packets, *capture = timed(lambda: decode("trace.pcap"))
    out = scratch / "ingested"
    _, *whole = timed(lambda: called(*BIRTHMARK, "ingest", text, "--out", out))
    called("rm", "-r", out)
    return {
        "decode text.gz, rows/s": rates(rows, *decoding),
        "decode text.gz, speed of gunzip's": {
            key: gone / own
            for key, gone, own in zip(("rate", "work_rate"), gunzip, decoding, strict=True)
        },
        "decode pcap, rows/s": rates(packets, *capture),
        "ingest text.gz, rows/s": rates(rows, *whole),
    }


def lookup(inputs: Path, scratch: Path, seconds: float) -> Rates:
    """Look creates up in images, one by one in C and as a table from Python."""
    import pyarrow as pa

    asked = creates(scratch)
    found: Rates = {}
    for kind, count in LOOKUPS.items():
        in_c = json.loads(called(scratch / "lookup", scratch / kind, scratch / "creates", "10"))
        found[f"{kind} in C, creates/s"] = rates(1e9, in_c["stream_mean"])
        many = pa.concat_tables([asked] * (count // len(asked) + 1)).slice(0, count)
        image = native().Image((scratch / kind).read_bytes())
        _, *took = timed(partial(image.predict, many.combine_chunks().to_batches()[0]))
        found[f"{kind} of a table, creates/s"] = rates(count, *took)
    return found


def native() -> Any:
    """Return the extension module, wherever it is."""
    try:
        return import_module("birthmark_native")
    except ImportError:
        return import_module("birthmark._native")


def serving(inputs: Path, scratch: Path, seconds: float) -> Rates:
    """Ask the service for hints over a Unix socket, and for batches over TCP."""
    socket = scratch / "socket"
    with served(scratch, "--uds", socket) as (_, process):
        found = {"hint, answers/s": answers(inputs, "hint", f"unix:{socket}", process, seconds)}
    with served(scratch, "--port", "0") as (url, process):
        port = url.rpartition(":")[2]
        for body, files in (("json", "1,000 files in JSON"), ("arrow", "10,000 files in Arrow")):
            found[f"{files}, answers/s"] = answers(inputs, body, port, process, seconds)
    return found


@contextmanager
def served(scratch: Path, *options: str | Path) -> Iterator[tuple[str, int]]:
    """Run the service on the first processor; yield where it listens, and its process."""
    command = ["taskset", "-c", str(CPUS[0]), *BIRTHMARK, "serve", "--registry"]
    command += [str(scratch / "registry"), *map(str, options)]
    with (
        (scratch / "serve.log").open("a") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as server,
    ):
        try:
            assert server.stdout is not None
            yield server.stdout.readline().split()[-1], server.pid
        finally:
            server.terminate()


def answers(inputs: Path, body: str, place: str, process: int, seconds: float) -> dict[str, float]:
    """Ask from the last processor, one request at a time, for so many seconds."""
    request = (inputs / f"{body}.http").read_bytes()
    command = ["taskset", "-c", str(CPUS[-1]), str(inputs / "load"), place, "1"]

    def asked(seconds: float) -> dict[str, float]:
        done = subprocess.run([*command, str(seconds)], input=request, check=True, stdout=-1)
        result: dict[str, float] = json.loads(done.stdout)
        return result

    asked(seconds / 4)  # the first answers are slower: the caches are empty
    before = at_work(process)
    result = asked(seconds)
    if result["failed"] or not result["answers"]:
        raise SystemExit(f"{body}: {result} in {seconds} s; expected answers, and only such")
    return rates(result["answers"], result["seconds"], at_work(process) - before)


def at_work(process: int) -> float:
    """Return the processor time of a process that runs, seconds."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in threads) / 1e9


def layout(inputs: Path, scratch: Path, seconds: float) -> Rates:
    """Replay a day on a model of a disk, without hints and with them."""
    options = ["--policies", "hotdir+hotname", "--no-nvram", "--jobs", "1", "--json"]
    model = ["--model", scratch / "registry"]
    result = json.loads(called(*BIRTHMARK, "layout", scratch / "replay", *model, *options))
    return {
        f"replay under {each['policy']}, operations/s": {
            "rate": statistics.median(each["speed"]["values"])
        }
        for each in result["results"]
    }


MEASURES = {"ingest": ingest, "lookup": lookup, "serving": serving, "layout": layout}


def main() -> None:
    """Prepare what is missing, measure, and print."""
    what, inputs, scratch, seconds = sys.argv[1:]
    if what == "prepare":
        prepare(Path(inputs), Path(scratch))
    else:
        json.dump(MEASURES[what](Path(inputs), Path(scratch), float(seconds)), sys.stdout)


if __name__ == "__main__":
    main()
