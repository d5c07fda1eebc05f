"""libbirthmark as it is installed, and programs in C, Rust and Go: they say what Python says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.features import from_requests
from birthmark.layout_hint.replay.model_image import read_image
from birthmark.predictor import Kind
from birthmark.predictor.allocation.verdicts import USUAL_ROOM
from birthmark.predictor.image.format import predict
from birthmark.predictor.trained import TrainedModel
from birthmark.serving.models.loaded import load_model
from birthmark.training.registry.versions import Registry
from birthmark_native import Image
from tests import needs
from tests.builders.abstaining import abstain
from tests.docs.test_examples import ROOT, blocks

pytestmark = pytest.mark.deep

MANIFEST = {"serve": "rules", "point": "bounded", "trained_on": {"datasets": []}, "figures": []}
KINDS: tuple[Kind, ...] = ("rules", "forest")
NAMES = [b"dovecot-uidlist.lock", b"conftest.c", b"jobs.db", b".", b"a" * 255, b"\xff.tmp"]


@dataclass(frozen=True)
class Learned:
    """A registry, what it published, and the names that it learned from."""

    registry: Path
    model: TrainedModel
    names: list[bytes]

    def write(self, out: Path, kind: str, *options: str) -> Path:
        """Write the model of a kind to a file, as users do."""
        asked = ["models", "image", "--model", kind]
        asked += ["--registry", str(self.registry), "--out", str(out)]
        result = CliRunner().invoke(app, [*asked, *options])
        assert result.exit_code == 0, result.output
        return out


@dataclass(frozen=True)
class Library:
    """Where the library was installed."""

    prefix: Path

    @property
    def environment(self) -> dict[str, str]:
        """Variables by which compilers and programs find it."""
        found = {
            "PKG_CONFIG_PATH": f"{self.prefix}/lib/pkgconfig",
            "LD_LIBRARY_PATH": f"{self.prefix}/lib",
            # Go 1.19 keeps in its cache what pkg-config said of an earlier prefix.
            "CGO_LDFLAGS": f"-L{self.prefix}/lib",
        }
        return {**os.environ, **found}

    def run(self, *command: str | bytes | Path, cwd: Path = ROOT) -> bytes:
        """Run a command that needs it, and return what it prints."""
        done = subprocess.run(command, cwd=cwd, env=self.environment, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout


def make(target: str, *variables: str) -> None:
    asked = ["make", "-s", target, *variables]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    needs.program("pkg-config")
    prefix = tmp_path_factory.mktemp("library") / "local"
    make("lib", "LIB_PROFILE=dev", f"PREFIX={prefix}")
    return Library(prefix)


@pytest.fixture(scope="module")
def ask(library: Library) -> Path:
    """Return the page's program in C, compiled without a warning."""
    page = blocks(ROOT / "docs" / "bindings.md")
    source, program = library.prefix / "ask.c", library.prefix / "ask"
    source.write_text(next(block.body for block in page if block.marked("file") == "ask.c"))
    flags = library.run("pkg-config", "--cflags", "--libs", "birthmark").decode().split()
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
    library.run("cc", *strict, source, *flags, "-o", program)
    return program


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    folder = tmp_path_factory.mktemp("learned")
    ingest([str(DAYS[0])], folder / "day")
    files = read_files(folder / "day")
    model = TrainedModel(trees=8, seed=1).train(files, read_names(folder / "day"), kinds=KINDS)
    Registry(folder / "registry").publish(model.save, MANIFEST)
    names = [name for name in files["name"].unique().to_pylist() if name and b"\n" not in name]
    return Learned(folder / "registry", model, [*NAMES, *names[:300]])


def read(printed: bytes) -> dict[bytes, dict[str, tuple[str, str]]]:
    """Return what a program printed: by name and predicate a word and a probability."""
    found: dict[bytes, dict[str, tuple[str, str]]] = {}
    own: dict[str, tuple[str, str]] = {}
    for line in printed.splitlines():
        if line.startswith(b"  "):
            key, word, likely = line.decode().strip().rsplit(" ", 2)
            own[key] = (word, likely)
        else:
            own = found.setdefault(line, {})
    return found


def expected(learned: Learned, kind: str) -> dict[bytes, dict[str, tuple[str, str]]]:
    """Return the same as the models say it in Python."""
    requests = [{"name": name, "mode": 0o600} for name in learned.names]
    answers_by_key = learned.model.answer(from_requests(requests), kind, "bounded")

    def likely(key: str, row: int) -> str:
        share = answers_by_key[key].probability(row)
        return "-" if share is None else f"{share:.4f}"

    return {
        name: {key: (each.word(row), likely(key, row)) for key, each in answers_by_key.items()}
        for row, name in enumerate(learned.names)
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_in_c_says_what_the_models_say_in_python(
    kind: str, learned: Learned, library: Library, ask: Path, tmp_path: Path
) -> None:
    model = learned.write(tmp_path / "m.model", kind)
    answers_by_key = read(library.run(ask, model, *learned.names))
    assert answers_by_key == expected(learned, kind)
    words = {word for each in answers_by_key.values() for word, _ in each.values()}
    assert words == {"yes", "no", "unsure"}


def test_programs_in_rust_and_go_say_the_same(
    learned: Learned, library: Library, ask: Path, tmp_path: Path
) -> None:
    needs.program("go", "golang-go")
    model = learned.write(tmp_path / "m.model", "rules")
    names = [name for name in learned.names if name.isascii()][:50]
    in_c = library.run(ask, model, *names)
    rust = ["cargo", "run", "-q", "--locked", "--example", "ask", "-p", "birthmark-model", "--"]
    assert library.run(*rust, model, *names) == in_c
    go = ROOT / "bindings" / "go"
    assert library.run("go", "run", "./example", model, *names, cwd=go) == in_c
    library.run("go", "vet", "./...", cwd=go)
    assert library.run("gofmt", "-l", ".", cwd=go) == b""


def test_the_program_in_rust_ends_quietly_where_its_reader_has_gone(
    learned: Learned, tmp_path: Path
) -> None:
    model = learned.write(tmp_path / "m.model", "rules")
    rust = ["cargo", "run", "-q", "--locked", "--example", "ask", "-p", "birthmark-model", "--"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*rust, model, "a.lock"], check=False, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("kind", KINDS)
def test_a_suppressed_predicate_is_unsure_as_in_the_service(
    kind: Kind, learned: Learned, library: Library, ask: Path, tmp_path: Path
) -> None:
    requests = from_requests([{"name": name, "mode": 0o600} for name in learned.names])
    own = replace(learned, registry=shutil.copytree(learned.registry, tmp_path / "registry"))
    registry = Registry(own.registry)
    answers_by_key = load_model(registry, kind).three_way_answers(requests)
    keys = [key for key, each in answers_by_key.items() if "yes" in each.in_words().to_pylist()][:3]
    assert keys
    keys.append("HotName")
    abstain(registry, *keys, kind=kind)
    served = load_model(registry, kind)
    answers, answers_by_key = served.answers(requests), served.three_way_answers(requests)
    model = read(library.run(ask, own.write(tmp_path / "m", kind), *own.names))
    bits = predict(Image(own.write(tmp_path / "i", kind).read_bytes()), requests)
    hints = Image(own.write(tmp_path / "h", kind, "--hints").read_bytes())
    assert served.hints is not None
    assert "HotName" in hints.abstained
    assert (tmp_path / "h").read_bytes() == served.hints.content
    if kind == MANIFEST["serve"]:
        assert read_image(own.registry, USUAL_ROOM) == served.hints.content
    for key, each in answers_by_key.items():
        words = [model[name][key][0] for name in own.names]
        assert words == each.in_words().to_pylist(), key
        assert bits[key].equals(answers[key]), key
        assert key not in keys or not bits[key].true_count


def test_a_file_that_is_no_model_is_refused_by_name(
    library: Library, ask: Path, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("no model")
    (tmp_path / "older").write_text("BMMODEL\n")
    older = "a model file of an earlier release: write it again with birthmark models image"
    for name, why in (("text", "truncated"), ("nothing", "No such file"), ("older", older)):
        done = subprocess.run(
            [ask, tmp_path / name], env=library.environment, capture_output=True, text=True
        )
        assert done.returncode == 1
        assert done.stderr.startswith(f"{tmp_path / name}: {why}")


def test_the_library_can_be_staged_and_is_found_by_its_version(tmp_path: Path) -> None:
    make("lib", "LIB_PROFILE=dev", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    library = tmp_path / "usr/lib/libbirthmark.so.0.1.0"
    named = subprocess.run(["readelf", "-d", library], capture_output=True, text=True).stdout
    assert "Library soname: [libbirthmark.so.0]" in named
    for link in ("libbirthmark.so", "libbirthmark.so.0"):
        assert (library.parent / link).resolve() == library
    exported = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True
    )
    names = {line.split()[-1].split("@")[0] for line in exported.stdout.splitlines()}
    header = (ROOT / "native/clib/include/birthmark_model.h").read_text()
    assert names == {*re.findall(r"\b(bm_model_\w+)\(", header)}
    package = (tmp_path / "usr/lib/pkgconfig/birthmark.pc").read_text()
    assert package.startswith("prefix=/usr\n")
    assert "Version: 0.1.0\n" in package
    (tmp_path / "usr/lib/libother.so").touch()
    make("lib-uninstall", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    assert [path for path in tmp_path.rglob("*") if not path.is_dir()] == [
        tmp_path / "usr/lib/libother.so"
    ]
    assert not (tmp_path / "usr/include/birthmark").exists()
    make("lib-uninstall", f"DESTDIR={tmp_path}", "PREFIX=/usr")
