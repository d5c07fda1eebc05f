"""Imports of commands: only what they use, so that they start fast and stay small.

Tests also data/common/without_pandas.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.data.traces.captures import write_capture
from birthmark.data.traces.reader import open_trace
from birthmark.predictor import TrainedModel
from birthmark.predictor.models.kinds import KINDS
from birthmark.training.registry.versions import Registry

CALL = b"1.0 31.03f7 30.0801 U C3 1 1 getattr fh 01 con = XXX len = XXX\n"

PROGRAM = """
import atexit, json, pathlib, sys
out = pathlib.Path(sys.argv.pop(1))
atexit.register(lambda: out.write_text(json.dumps([n for n, it in sys.modules.items() if it])))
from birthmark.cli import main
sys.argv[0] = "birthmark"
main()
"""

OWN = {"birthmark", "birthmark_native"}
ENVIRONMENT = {"__editable___birthmark_0_1_0_finder", "cython_runtime", "sitecustomize"}
"""Modules of the interpreter and compilers, which are no packages."""

LINE = {"annotated_doc", "rich", "shellingham", "typer"}
"""Packages that parse a command line."""

HELP = LINE | {"attr", "markdown_it", "mdurl", "pygments"}
"""Packages that show help; rich imports attrs, too, if it is installed."""

OPTIONS = LINE | {
    "annotated_types",
    "pydantic",
    "pydantic_core",
    "typing_extensions",
    "typing_inspection",
}
"""Packages that parse the options of a command."""

TABLES = OPTIONS | {"cloudpickle", "dateutil", "numpy", "pyarrow", "six"}
"""Packages that read and write tables."""

SERVICE = TABLES | {
    "anyio",
    "click",
    "fastapi",
    "h11",
    "idna",
    "jinja2",
    "markupsafe",
    "opentelemetry",
    "prometheus_client",
    "sniffio",
    "starlette",
    "uvicorn",
}
"""Packages that answer over HTTP."""


def third_party(modules: Path) -> set[str]:
    """Return the packages, of other projects, that a process had imported at its end."""
    names = {name.partition(".")[0] for name in json.loads(modules.read_text())}
    own = OWN | ENVIRONMENT | sys.stdlib_module_names
    return {name for name in names - own if not name.startswith("_")}


@pytest.fixture
def imported(tmp_path: Path):
    """Return a function that runs a command, and returns what it has imported."""

    def run(*arguments: object, code: int = 0, **environment: str) -> set[str]:
        out = tmp_path / "modules.json"
        command = [sys.executable, "-c", PROGRAM, out, *arguments]
        done = subprocess.run(
            list(map(str, command)),
            capture_output=True,
            check=False,
            input=CALL,
            env=os.environ | environment,
        )
        assert done.returncode == code, done.stderr.decode()
        return third_party(out)

    return run


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a registry with a model of every kind, of few trees."""
    folder = tmp_path_factory.mktemp("imports")
    ingest([DAYS[0]], folder / "day")
    files, names = read_files(folder / "day"), read_names(folder / "day")
    model = TrainedModel(trees=2, rounds=0, calibration=0).train(files, names)
    manifest = {"serve": "rules", "point": "accurate", "figures": []}
    manifest["trained_on"] = {"datasets": ["day"], "files": len(files)}
    Registry(folder / "registry").publish(model.save, manifest)
    return folder / "registry"


@pytest.mark.parametrize("arguments", [["--help"], []])
def test_help_imports_no_command(imported, arguments: list[str]) -> None:
    assert imported(*arguments, code=0 if arguments else 2) <= HELP


def test_the_version_takes_what_reads_the_line(imported) -> None:
    assert imported("--version") <= LINE


@pytest.mark.parametrize("command", ["ingest", "dump", "scan", "predict", "serve", "train"])
def test_help_of_a_command_imports_what_reads_its_options(imported, command: str) -> None:
    assert imported(command, "--help") <= HELP | OPTIONS


@pytest.mark.parametrize("words", ["birthmark in", "birthmark predict --m", "birthmark scan t"])
def test_completion_imports_what_reads_options(imported, words: str) -> None:
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    assert imported(_BIRTHMARK_COMPLETE="complete_bash", **asked) <= OPTIONS | HELP


@pytest.mark.deep
def test_dump_imports_what_reads_tables(imported, tmp_path: Path) -> None:
    write_capture(open_trace(DAYS[0]), tmp_path / "day.pcap")
    assert imported("dump", tmp_path / "day.pcap") <= TABLES


@pytest.mark.deep
def test_ingest_imports_what_writes_tables(imported, tmp_path: Path) -> None:
    assert imported("ingest", "-", "--out", tmp_path / "day") <= TABLES


@pytest.mark.deep
def test_scan_imports_what_writes_tables(imported, tmp_path: Path) -> None:
    assert imported("scan", "-", "--out", tmp_path / "counts.parquet") <= TABLES


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS)
def test_explain_imports_what_reads_tables_whatever_learned(
    imported, registry: Path, kind: str
) -> None:
    asked = ("inbox.lock", "--mode", "0600", "--model", kind, "--registry", registry)
    assert imported("predict", "--explain", *asked) <= TABLES


def test_tokens_need_no_tables_and_no_service(imported, tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    assert imported("tokens", "add", "nas", "--scope", "predict", "--tokens", path) <= OPTIONS


@contextmanager
def served(registry: Path, modules: Path) -> Iterator[httpx.Client]:
    """Yield a client of the service, which says at its end what it has imported."""
    command = [sys.executable, "-c", PROGRAM, modules, "serve", "--port", "0"]
    command += ["--registry", registry]
    server = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        with httpx.Client(base_url=server.stdout.readline().split()[-1], timeout=60) as client:
            yield client
    finally:
        server.terminate()
        server.communicate(timeout=60)


@pytest.mark.deep
def test_the_service_imports_nothing_for_training(registry: Path, tmp_path: Path) -> None:
    with served(registry, tmp_path / "modules.json") as client:
        for path in ("/v1/predictions", "/v1/explanations"):
            assert client.post(path, json={"name": "inbox.lock"}).status_code == 200
        assert client.get("/metrics").status_code == 200
        assert client.get("/?name=inbox.lock").status_code == 200
    assert third_party(tmp_path / "modules.json") <= SERVICE
