"""The service beside bare applications that read and write the same JSON without predicting.

    python -m benchmarks.serving [--registry REGISTRY] [--seconds 2] [--rounds 5] [--realtime]
                                [--json OUT]

All in one run, in turns: one thread that answers each, on a processor of its own beside that of the
client (``load.c``), whose connections stay open. Bare are an application of Starlette and one of
FastAPI, on uvicorn; with granian installed, Starlette's is measured there, too.
Asked are one file (4 connections), a hint over a Unix socket (1 connection), 1,000 files in JSON
and 10,000 in Arrow; one file also with everything on that costs a request something: tokens, the
access log, a live history, and a prediction log of all that is answered, written while it is
measured; and one of the forest, with
the history of a follower that is at work: the bundled day passes through it at 2,000
operations a second (and on the client's processor, where the machine has two). Next to what the
clock says stands the time that the server itself was at work, which other work on the machine
changes less; with --realtime, which needs root, both ends go before all other work. Without a
registry a model is trained on the bundled samples.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from birthmark.serving.access import tokens

HERE = Path(__file__).parent
ROOT = HERE.parent
BIN = Path(sys.executable).parent
CPUS = sorted(os.sched_getaffinity(0))
MEDIA_TYPES = {"json": "application/json", "arrow": "application/vnd.apache.arrow.stream"}
FILE = {"name": "places.sqlite-journal", "mode": "0644", "uid": 1001, "gid": 100}
ONE, HINT, MANY, ARROW = (
    "one file",
    "a hint, Unix socket",
    "1,000 files, JSON",
    "10,000 files, Arrow",
)


EVERYTHING = "birthmark, everything on"
HISTORY, RULES = "birthmark, history", "birthmark, rules"
CREATE: dict[str, Any] = {**FILE, "client": "10.0.0.1", "directory_handle": "AQAGAXV1dXV1dXV1"}
"""Members of a create with which the service looks up its live history."""
BYTES_PER_SECOND = 700_000
"""Of text: some 2,000 operations."""


@dataclass(frozen=True)
class Server:
    """A server that listens at a TCP port, or at ``unix:`` and a path; and the token it wants."""

    name: str
    place: str
    process: int
    token: str | None = None

    def cpu(self) -> float:
        """Return its busy time until now, seconds."""
        threads = Path(f"/proc/{self.process}/task").glob("*/schedstat")
        return sum(int(each.read_text().split()[0]) for each in threads) / 1e9


def request(path: str, body: bytes, kind: str = "json", token: str | None = None) -> bytes:
    """Return a request as it is sent."""
    shown = f"authorization: Bearer {token}\r\n" if token else ""
    head = (
        f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {MEDIA_TYPES[kind]}\r\n"
        f"{shown}content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def names(count: int) -> list[str]:
    """Return so many names of the bundled day, over and over if there are fewer."""
    from birthmark.data import lives
    from birthmark.data.traces.reader import open_trace

    files, _ = lives.tables(open_trace(str(ROOT / "data/samples/day2.parquet")))
    known = [name.decode() for name in files["name"].to_pylist() if name]
    return (known * (count // len(known) + 1))[:count]


def in_arrow(named: Sequence[str], history: bool = False) -> bytes:
    """Return files as a stream in Arrow's format; `history` adds members that it needs."""
    count = len(named)
    known = {"mode": [0o644] * count, "uid": [1001] * count, "gid": [100] * count}
    if history:
        handles = [b64decode(CREATE["directory_handle"]) + b"%d" % (n % 500) for n in range(count)]
        known |= {"client": [CREATE["client"]] * count, "directory_handle": handles}
    table = pa.table({"name": named, **known})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


@contextmanager
def started(
    name: str, command: Sequence[str | Path], place: str, token: str | None = None, **env: str
) -> Iterator[Server]:
    """Run a server on the first processor until the block ends; wait until it answers."""
    pinned = ["taskset", "-c", str(CPUS[0]), *command]
    quiet = subprocess.DEVNULL
    errors = quiet if "--log-access" in command else None  # a line for each request
    process = subprocess.Popen(
        pinned, cwd=ROOT, env={**os.environ, **env}, stdout=quiet, stderr=errors
    )
    try:
        unix = place.removeprefix("unix:") if place.startswith("unix:") else None
        transport = httpx.HTTPTransport(uds=unix)
        base = "http://localhost" if unix else f"http://127.0.0.1:{place}"
        shown = {"authorization": f"Bearer {token}"} if token else {}
        with httpx.Client(transport=transport, base_url=base, headers=shown) as client:
            for _ in range(600):
                try:
                    if client.post("/v1/predictions", json=FILE).status_code == 200:
                        break
                except httpx.TransportError:
                    pass
                time.sleep(0.1)
        yield Server(name, place, serving_process(process.pid), token)
    finally:
        process.terminate()
        process.wait(30)


def serving_process(process: int) -> int:
    """Return the process that answers: a server's own worker, where it has one."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return int(children[-1]) if children else process


def asked(
    program: Path,
    server: Server,
    body: bytes,
    connections: int,
    seconds: float,
    realtime: bool,
) -> dict[str, float]:
    """Return the client's measurements, and the server's own time per request, microseconds."""
    before = server.cpu()
    command = [
        "taskset",
        "-c",
        str(CPUS[-1]),
        program,
        server.place,
        str(connections),
        str(seconds),
    ]
    if realtime:
        subprocess.run(["chrt", "-f", "-a", "-p", "1", str(server.process)], check=True)
        command = ["chrt", "-f", "1", *command]
    done = subprocess.run(command, input=body, capture_output=True, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    if result["failed"]:
        raise RuntimeError(f"{server.name}: {result['failed']} requests failed")
    result["rate"] = result["answers"] / result["seconds"]
    result["cpu"] = (server.cpu() - before) / result["answers"] * 1e6
    return result


def trained(directory: Path) -> Path:
    """Return a registry with a model of the bundled samples."""
    registry, dataset = directory / "registry", directory / "day1"
    for command in (
        ["ingest", "data/samples/day1.parquet", "--out", dataset],
        ["train", dataset, "--registry", registry],
    ):
        subprocess.run([BIN / "birthmark", *command], cwd=ROOT, check=True, capture_output=True)
    return registry


@contextmanager
def followed(directory: Path) -> Iterator[Path]:
    """Play the bundled day to a follower until the block ends; yield its live history."""
    text = directory / "day.txt"
    with text.open("wb") as file:
        dump = [
            BIN / "birthmark",
            "dump",
            "--from",
            "operations",
            ROOT / "data/samples/day1.parquet",
        ]
        subprocess.run(dump, check=True, stdout=file)
    history = directory / "run" / "history"
    history.parent.mkdir(mode=0o700)
    command = [BIN / "birthmark", "follow", "-", directory / "followed", "--history", history]
    stop = threading.Event()
    process = subprocess.Popen(
        ["taskset", "-c", str(CPUS[-1]), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )

    def feed() -> None:
        assert process.stdin
        content = text.read_bytes()
        for at in range(0, len(content), BYTES_PER_SECOND // 50):
            process.stdin.write(content[at : at + BYTES_PER_SECOND // 50])
            process.stdin.flush()
            if stop.wait(0.02):
                break
        stop.wait()
        process.stdin.close()

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        yield history
    finally:
        stop.set()
        feeder.join()
        process.wait(60)


def servers(registry: Path, directory: Path, stack: ExitStack) -> dict[str, Server]:
    """Start all servers."""
    history = stack.enter_context(followed(directory))
    uvicorn: list[str | Path] = [
        BIN / "uvicorn",
        "--no-access-log",
        "--log-level=warning",
        "--port",
    ]
    granian: list[str | Path] = [
        BIN / "granian",
        "--interface=asgi",
        "--loop=uvloop",
        "--log-level=error",
        "--port",
    ]
    birthmark: list[str | Path] = [BIN / "birthmark", "serve", "--registry", registry]
    socket = directory / "socket"
    env = {"BIRTHMARK_REGISTRY": str(registry)}
    remaining = directory / "tokens.json"
    token = tokens.add(remaining, "benchmark", ["predict", "read"])
    result: list[str | Path] = ["--model", "forest", "--history", history, "--history-lag", "1e12"]
    on: list[str | Path] = [
        "--history",
        history,
        "--history-lag",
        "1e12",
        "--log-access",
        "--tokens",
        remaining,
        "--log-predictions",
        directory / "log",
        "--log-minutes",
        "0.1",
    ]
    commands: dict[str, tuple[list[str | Path], str]] = {
        "birthmark": ([*birthmark, "--port", "8401"], "8401"),
        EVERYTHING: ([*birthmark, *on, "--port", "8406"], "8406"),
        RULES: ([*birthmark, "--model", "rules", "--port", "8408"], "8408"),
        HISTORY: (
            [*birthmark, *result, "--port", "8407"],
            "8407",
        ),
        "birthmark, Unix socket": ([*birthmark, "--uds", socket], f"unix:{socket}"),
        "Starlette": ([*uvicorn, "8402", "benchmarks.serving_peers:bare_starlette"], "8402"),
        "FastAPI": ([*uvicorn, "8403", "benchmarks.serving_peers:bare_fastapi"], "8403"),
    }
    if importlib.util.find_spec("granian"):
        peers = "benchmarks.serving_peers"
        commands["Starlette, granian"] = ([*granian, "8405", f"{peers}:bare_starlette"], "8405")
    return {
        name: stack.enter_context(
            started(name, command, place, token if name == EVERYTHING else None, **env)
        )
        for name, (command, place) in commands.items()
    }


def measured(args: argparse.Namespace, directory: Path) -> dict[str, Any]:
    """Return all figures."""
    program = directory / "load"
    subprocess.run(["cc", "-O2", "-o", program, HERE / "load.c"], check=True)
    named = names(10_000)
    body, create = json.dumps(FILE).encode(), json.dumps(CREATE).encode()
    hint = request("/v1/hints", body)
    many = json.dumps([{**FILE, "name": name} for name in named[:1000]]).encode()
    arrow = request("/v1/predictions", in_arrow(named), "arrow")
    registry = args.registry or trained(directory)
    with ExitStack() as stack:
        running = servers(registry, directory, stack)
        url = f"http://127.0.0.1:{running['birthmark'].place}/v1/model"
        predicates = len(httpx.get(url).json()["predicates"])
        plan = [
            (
                ONE,
                name,
                request(
                    "/v1/predictions",
                    create if name in (HISTORY, EVERYTHING) else body,
                    token=server.token,
                ),
                4,
            )
            for name, server in running.items()
            if "socket" not in name
        ]
        plan += [
            (HINT, "birthmark, Unix socket", hint, 1),
            (MANY, "birthmark", request("/v1/predictions", many), 1),
            (MANY, RULES, request("/v1/predictions", many), 1),
            (ARROW, "birthmark", arrow, 1),
            (ARROW, RULES, arrow, 1),
            (ARROW, HISTORY, request("/v1/predictions", in_arrow(named, history=True), "arrow"), 1),
        ]
        rounds: dict[tuple[str, str], list[dict[str, float]]] = {}
        for _ in range(args.rounds):
            for what, name, body, connections in plan:
                result = asked(
                    program, running[name], body, connections, args.seconds, args.realtime
                )
                rounds.setdefault((what, name), []).append(result)
        rows = logged(running[EVERYTHING])
        _check_scope(running[HISTORY])
    figures = [
        {"what": what, "server": name}
        | {key: statistics.median(each[key] for each in all_) for key in all_[0]}
        for (what, name), all_ in rounds.items()
    ]
    return {
        "load": os.getloadavg(), "predicates": predicates, "figures": figures, "rows": rows
    }  # fmt: skip


def _check_scope(server: Server) -> None:
    """Raise RuntimeError if a service does not tell what was seen before."""
    answer = httpx.post(f"http://127.0.0.1:{server.place}/v1/predictions", json=CREATE).json()
    if answer["prediction"]["told"] != "directory":
        raise RuntimeError(f"{server.name}: nothing was result: {answer['live']}")


def logged(server: Server) -> dict[str, float]:
    """Return the rows of a service's prediction log, counted by outcome."""
    shown = {"authorization": f"Bearer {server.token}"}
    text = httpx.get(f"http://127.0.0.1:{server.place}/metrics", headers=shown).text
    lines = [line for line in text.splitlines() if line.startswith("birthmark_log_rows_total")]
    return {line.split('"')[1]: float(line.split()[-1]) for line in lines}


def ratios(result: dict[str, Any]) -> dict[str, float]:
    """Return the promised figures."""
    by = {(each["what"], each["server"]): each for each in result["figures"]}
    ours, bare = by[ONE, "birthmark"], by[ONE, "Starlette"]
    everything, history = by[ONE, EVERYTHING], by[ONE, HISTORY]
    arrow, hint = by[ARROW, "birthmark"], by[HINT, "birthmark, Unix socket"]
    files = 10_000 * arrow["rate"]
    return {
        "requests per second, of bare Starlette's": ours["rate"] / bare["rate"],
        "requests per second at work, of bare Starlette's": bare["cpu"] / ours["cpu"],
        "requests per second with everything on, of bare Starlette's": everything["rate"]
        / bare["rate"],
        "requests per second at work with everything on, of bare Starlette's": bare["cpu"]
        / everything["cpu"],
        "requests per second with history, of bare Starlette's": history["rate"] / bare["rate"],
        "requests per second at work with history, of bare Starlette's": bare["cpu"]
        / history["cpu"],
        "rows of the prediction log that were dropped, %": 100
        * result["rows"]["dropped"]
        / sum(result["rows"].values()),
        "requests per second, of bare FastAPI's": ours["rate"] / by[ONE, "FastAPI"]["rate"],
        "hint, median, microseconds": hint["p50"],
        "hint, 99th percentile, microseconds": hint["p99"],
        "JSON, files per second": 1000 * by[MANY, "birthmark"]["rate"],
        "JSON, files per second, of rules": 1000 * by[MANY, RULES]["rate"],
        "Arrow, files per second": files,
        "Arrow, files per second, of rules": 10_000 * by[ARROW, RULES]["rate"],
        "Arrow, files per second, of the forest with history": 10_000 * by[ARROW, HISTORY]["rate"],
        "Arrow, predictions per second": files * result["predicates"],
        "Arrow, predictions per second at work": 1e10 / arrow["cpu"] * result["predicates"],
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--registry", type=Path)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--realtime", action="store_true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        result = measured(args, Path(directory))
    result["ratios"] = ratios(result)
    table = Table("asked", "server", "requests/s", "µs at work", "p50 µs", "p99 µs")
    for each in result["figures"]:
        numbers = (f"{each[key]:,.0f}" for key in ("rate", "cpu", "p50", "p99"))
        table.add_row(each["what"], each["server"], *numbers)
    console = Console()
    console.print(table)
    for what, value in result["ratios"].items():
        console.print(f"{what}: {value:,.2f}")
    console.print(f"load of the machine: {result['load'][0]:.1f} on {len(CPUS)} processors")
    if args.json:
        args.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
