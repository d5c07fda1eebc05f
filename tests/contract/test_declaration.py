"""A change of the declaration alone reaches every surface, or the build fails."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import crates

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parents[2]
CRATES = ("native", "layout_hint", "storage")
PACKAGES = ("birthmark", "birthmark_native", "data", "features", "predictor", "training", "serving")

BEFORE_CLIENT = "Kind::Text { most: 255 }"
NEW = """    Member {
        name: "umask",
        column: Some("umask"),
        kind: Kind::Number { most: 511, octal: true },
        meaning: "what the caller does not allow",
        texts: &["what is not allowed: octal string or number"],
        ..USUAL
    },
    Member {
        name: "is_directory","""

ASK = """
import io, json
import pyarrow as pa
from birthmark.features import CREATES
from birthmark.serving.client.questions import prediction
from birthmark.serving.messages.requests import body_schema, hint_schema, parse
from birthmark_native import InvalidRequestError, requested

def wrong(call):
    try:
        call()
    except InvalidRequestError as error:
        return [str(error), error.field]

def stream(**columns):
    sink = io.BytesIO()
    table = pa.table({"name": ["a"], **columns})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()

def schema(described):
    return described["requestBody"]["content"]["application/json"]["schema"]

creates = parse(prediction("a", {"umask": "077", "client": "abc"}).body).creates
file = schema(body_schema())["anyOf"][0]["properties"]
print(json.dumps({
    "columns": CREATES.names,
    "json": wrong(lambda: parse(b'{"name": "a", "client": "abcd"}')),
    "json new": wrong(lambda: parse(b'[{"name": "a", "umask": 512}]')),
    "arrow": wrong(lambda: requested([stream(client=["abcd"])], "arrow")),
    "arrow new": wrong(lambda: requested([stream(umask=[512])], "arrow")),
    "arrow takes": requested([stream(umask=[511])], "arrow")["umask"].to_pylist(),
    "schema": file["client"]["anyOf"][0]["maxLength"],
    "schema new": file["umask"]["anyOf"][0]["maximum"],
    "hints": requested([b'{"name": "a", "umask": 7}'], "hint")["umask"].to_pylist(),
    "schema of hints": "umask" in schema(hint_schema())["properties"],
    "client": creates["umask"].to_pylist(),
}))
"""


def run(command: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a copy of the sources, with crates that were built here before."""
    environment = os.environ | more
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a copy of the sources with a changed declaration."""
    if shutil.which("cargo") is None:
        pytest.skip("there is no cargo")
    copy = tmp_path_factory.mktemp("declared")
    beside = shutil.ignore_patterns("__pycache__", "target", "*.so", "corpus")
    for folder in {*CRATES, *PACKAGES}:
        shutil.copytree(ROOT / folder, copy / folder, symlinks=True, ignore=beside)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / ".cargo", copy / ".cargo")
    declared = copy / "native" / "contract" / "src" / "create.rs"
    text = declared.read_text()
    assert BEFORE_CLIENT in text
    text = text.replace(BEFORE_CLIENT, "Kind::Text { most: 3 }").replace(
        "[Member; 15]", "[Member; 16]"
    )
    text = text.replace('    Member {\n        name: "is_directory",', NEW)
    declared.write_text(text)
    image = copy / "native" / "contract" / "src" / "image.rs"
    image.write_text(image.read_text().replace("SECTIONS_MAX = 16", "SECTIONS_MAX = 15"))
    crates.reuse(copy / "target", without="birthmark")
    crates.configure(copy, level=0)
    yield copy
    shutil.rmtree(copy)  # some 2 GB


@pytest.fixture(scope="module")
def built(sources: Path) -> Path:
    """Return the copy, with its extension built."""
    target = sources / "target"
    done = run(
        ["cargo", "build", "--quiet", "--package", "birthmark-python"],
        sources,
        CARGO_TARGET_DIR=str(target),
    )
    assert done.returncode == 0, done.stderr
    module = next(target.glob("debug/libbirthmark_python.*"))
    shutil.copy(module, sources / "birthmark_native" / "_native.abi3.so")
    return sources


def test_every_surface_of_python_follows(built: Path) -> None:
    asked = run([sys.executable, "-c", ASK], built, PYTHONPATH=str(built))
    assert asked.returncode == 0, asked.stderr
    found = json.loads(asked.stdout)
    assert found["columns"][-1] == "umask"
    assert found["json"] == ["expected 1 to 3 characters, found 4", "client"]
    assert found["json new"] == ["expected a whole number from 0 to 511", "[0].umask"]
    assert found["arrow"] == ["expected 1 to 3 characters", "[0].client"]
    assert found["arrow new"] == ["expected at most 511", "[0].umask"]
    assert found["arrow takes"] == [511]
    assert (found["schema"], found["schema new"]) == (3, 511)
    assert found["hints"] == [7]
    assert found["schema of hints"] is True
    assert found["client"] == [0o77]


def test_the_headers_are_refused_until_they_are_regenerated(built: Path) -> None:
    target = {"CARGO_TARGET_DIR": str(built / "target")}
    check = ["cargo", "test", "--quiet", "--package", "birthmark-contract", "--test", "headers"]
    refused = run(check, built, **target)
    assert refused.returncode != 0
    assert "birthmark.h is stale: run make generate" in refused.stdout + refused.stderr
    write = ["cargo", "run", "--quiet", "--package", "birthmark-contract", "--example", "headers"]
    assert run(write, built, **target).returncode == 0
    header = (built / "layout_hint" / "include" / "birthmark.h").read_text()
    assert "#define\tBM_SECTIONS_MAX\t\t15U\n" in header
    compiled = run(check, built, **target)
    assert compiled.returncode == 0, compiled.stdout


def test_a_member_that_the_helper_sends_must_be_declared(sources: Path) -> None:
    declared = sources / "native" / "contract" / "src" / "create.rs"
    text = declared.read_text()
    check = ["cargo", "check", "--quiet", "--package", "birthmark-hintd"]
    target = {"CARGO_TARGET_DIR": str(sources / "target")}
    try:
        assert run(check, sources / "layout_hint", **target).returncode == 0
        declared.write_text(text.replace('name: "uid"', 'name: "owner"'))
        failed = run(check, sources / "layout_hint", **target)
    finally:
        declared.write_text(text)
    assert failed.returncode != 0
    assert "there is no such member of a create" in failed.stderr
