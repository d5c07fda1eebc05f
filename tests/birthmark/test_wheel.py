"""The wheel in an empty environment, beside a user's own modules with names like our folders."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

from tests import crates
from tests.folders import FOLDERS

pytestmark = pytest.mark.deep

ROOT = Path(__file__).resolve().parents[2]
OWN = ("birthmark/", "birthmark_native/", "birthmark-")
QUICK = ("--trees", "4", "--rounds", "2")
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


@dataclass(frozen=True)
class Installed:
    """A virtual environment with the wheel in it, and a folder of a user's own beside it."""

    wheel: Path
    environment: Path
    folder: Path

    @property
    def bin(self) -> Path:
        """The environment's programs."""
        return self.environment / "bin"

    def run(self, *command: str | Path) -> str:
        """Run a command in the user's folder; return what it prints."""
        path = f"{self.bin}:{os.environ['PATH']}"
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        done = subprocess.run(
            command, cwd=self.folder, env=clean | {"PATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def python(self, program: str) -> str:
        """Run a program as ``python -c`` does, which finds the user's modules first."""
        return self.run(self.bin / "python", "-c", program)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    wheel = built(folder)
    environment = folder / "environment"
    venv.create(environment, symlinks=True)
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*PIP, "--python", environment / "bin/python", *install], check=True)
    user = folder / "user"
    for name in FOLDERS[::2]:
        (user / name).mkdir(parents=True)
        (user / name / "__init__.py").write_text("OWN = True\n")
    for name in FOLDERS[1::2]:
        (user / f"{name}.py").write_text("OWN = True\n")
    return Installed(wheel, environment, user)


def built(folder: Path) -> Path:
    """Build the wheel as `make wheel` does, of crates that are built here for development.

    Zig links them. They are compiled for the glibc of this machine, which may not be newer than
    zig's in anything that they use: otherwise they are not linked.
    """
    target, programs = folder / "target", folder / "programs"
    crates.reuse(target, without="python")
    programs.mkdir()
    (programs / "cc").symlink_to(ROOT / "native/python/manylinux-cc")
    own = {"PIP": f"{sys.executable} -m pip", "ZIG": f"{sys.executable} -m ziglang"}
    more = own | {"PROFILE": "dev", "WHEELS": str(folder), "CRATES": str(target)}
    path = {"PATH": f"{programs}:{os.environ['PATH']}"}
    subprocess.run(["native/python/wheel"], cwd=ROOT, env=os.environ | more | path, check=True)
    shutil.rmtree(target)
    (wheel,) = folder.glob("birthmark-*.whl")
    return wheel


@pytest.fixture(scope="module")
def beside(installed: Installed) -> Installed:
    """The same, with what the project depends on: that of the environment of the tests."""
    libraries = Path(pa.__file__).parents[1]
    (site,) = installed.environment.glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(f"{libraries}\n")
    return installed


def test_nothing_is_installed_outside_birthmark_and_its_extension(installed: Installed) -> None:
    python = ["--python", str(installed.bin / "python")]
    shown = subprocess.run(
        [*PIP, *python, "show", "--files", "birthmark"], check=True, capture_output=True, text=True
    ).stdout
    files = [line.strip() for line in shown.partition("Files:\n")[2].splitlines()]
    assert len(files) > 300
    outside = {name for name in files if not name.startswith(OWN)}
    assert outside == {"../../../bin/birthmark"}


def test_the_wheel_holds_every_module_and_all_that_they_read(installed: Installed) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", *FOLDERS, "birthmark", "birthmark_native"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    suffixes = {".py", ".pyi", ".typed", ".j2", ".css", ".yml", ".json", ".csv", ".toml"}
    wanted = {
        name if name.startswith("birthmark") else f"birthmark/{name}"
        for name in tracked
        if (Path(name).suffix in suffixes or "/include/" in name or "/samples/" in name)
        and Path(name).name not in ("Cargo.toml", "rustfmt.toml")
    }
    held = set(zipfile.ZipFile(installed.wheel).namelist())
    assert len(wanted) > 300
    assert wanted - held == set()
    assert {name for name in held if name.endswith(".so")} == {
        "birthmark_native/_native.abi3.so",
        *(
            f"birthmark/{folder}/native.abi3.so"
            for folder in ("layout_hint", "storage", "research")
        ),
    }


def test_names_load_beside_modules_of_the_same_names(beside: Installed) -> None:
    program = "import birthmark, {0}; print({0}.OWN, birthmark.NameModel, birthmark.create_app)"
    for name in FOLDERS:
        assert beside.python(program.format(name)).startswith("True <class 'birthmark.")


def test_the_wheel_is_for_every_linux_that_its_name_says(installed: Installed) -> None:
    """The policy manylinux_2_28 (PEP 600): no newer glibc, and no other libraries."""
    assert installed.wheel.name.endswith(f"-cp311-abi3-manylinux_2_28_{platform.machine()}.whl")
    (extension,) = installed.environment.glob("lib/python*/site-packages/birthmark_native/*.so")
    read = subprocess.run(
        ["readelf", "--dynamic", "--version-info", extension],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    versions = {tuple(map(int, each.split("."))) for each in re.findall(r"GLIBC_([0-9.]+)", read)}
    assert (2, 2, 5) in versions
    assert max(versions) <= (2, 28)
    needed = {name.partition(".so")[0] for name in re.findall(r"NEEDED.*\[(.*)\]", read)}
    allowed = {"libc", "libm", "libdl", "libpthread", "librt", "libutil"}
    assert {name for name in needed if not name.startswith("ld-linux")} <= allowed


def test_every_name_of_the_front_door_loads(beside: Installed) -> None:
    program = "import birthmark; print([getattr(birthmark, name) for name in birthmark.__all__])"
    assert "birthmark.training" in beside.python(program)


def test_a_user_goes_from_a_trace_to_a_prediction(beside: Installed) -> None:
    run, birthmark = beside.run, beside.bin / "birthmark"
    assert run(birthmark, "--version").startswith("birthmark ")
    sample = beside.python("from birthmark.data.samples import DAYS; print(DAYS[0])").strip()
    assert Path(sample).is_relative_to(beside.environment)
    report = json.loads(run(birthmark, "ingest", sample, "--out", "day", "--json"))
    assert report["rows"]["files"] > 0
    run(birthmark, "train", "day", "--registry", "models", "--no-test", *QUICK)
    asked = ["--registry", "models", "--json", "--mode", "0600", "places.sqlite-journal"]
    output = json.loads(run(birthmark, "predict", *asked))
    assert output["prediction"]["predicates"]["write-only"]["answer"] == "yes"


def test_the_quickstart_runs_and_shows_every_command_when_asked(beside: Installed) -> None:
    printed = beside.run(beside.bin / "python", "-m", "birthmark.quickstart", "--verbose")
    for command in ("ingest", "train", "evaluate", "evaluate report", "serve", "dump"):
        assert f"$ birthmark {command}" in printed
    assert "Birthmark answers at http://127.0.0.1:" in printed
    assert "answered by model" in printed
    assert re.search(r"why lifespan<=5 of inbox.lock: (yes|no|unsure), ", printed)
    assert "Accuracy: " in printed
    assert (beside.folder / "quickstart/report.html").stat().st_size > 10_000


def test_the_tests_of_the_client_pass(beside: Installed) -> None:
    """They start the service, and ask it; none of it is the checkout's."""
    compiled = shutil.ignore_patterns("__pycache__")  # which come and go while others import
    shutil.copytree(ROOT / "tests", beside.folder / "tests", ignore=compiled)
    (beside.folder / "pytest.ini").write_text(
        "[pytest]\npythonpath = .\naddopts = --import-mode=importlib\nmarkers = deep: slow\n"
    )
    report = beside.run(beside.bin / "python", "-m", "pytest", "-q", "tests/serving/client")
    assert " passed" in report


def without_rust(folder: Path) -> Path:
    """Return a folder of links to this machine's programs, without those of Rust."""
    programs = folder / "programs"
    programs.mkdir()
    for program in Path("/usr/bin").iterdir():
        if not program.name.startswith(("cargo", "rust")):
            (programs / program.name).symlink_to(program)
    return programs


def test_a_site_without_rust_installs_it_and_asks_the_service(
    installed: Installed, tmp_path: Path
) -> None:
    """As the README does, in an environment that has what the lock names and nothing else."""
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    clean = {"HOME": str(tmp_path), "PATH": f"{environment}/bin:{without_rust(tmp_path)}"}
    assert shutil.which("cargo", path=clean["PATH"]) is None
    site = Installed(installed.wheel, environment, tmp_path)

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=clean, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    index = {key: value for key, value in os.environ.items() if key.startswith("PIP_")}
    index["PIP_NO_COMPILE"] = "1"  # most modules are never imported
    locked = ["--require-hashes", "--requirement", str(ROOT / "requirements.lock")]
    pip = [site.bin / "python", "-m", "pip", "install", "--quiet"]
    for wanted in (locked, ["--no-deps", str(installed.wheel)]):
        subprocess.run([*pip, *wanted], cwd=tmp_path, env=os.environ | index, check=True)
    first, second = run(
        "python", "-c", "from birthmark.data.samples import DAYS; print(*DAYS)"
    ).split()
    for day, sample in (("1", first), ("2", second)):
        run("birthmark", "ingest", sample, "--out", day)
    run("birthmark", "train", "1", "--registry", "registry", *QUICK)
    run("birthmark", "evaluate", "report", "2", "--registry", "registry", "--out", "report.html")
    assert "files named *.lock were" in run(
        "birthmark", "predict", "--explain", "a.lock", "--mode", "0600", "--model", "rules"
    )
    serve = ["birthmark", "serve", "--registry", "registry", "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(serve, cwd=tmp_path, env=clean, stdout=pipe, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[-1]
            asked = "import birthmark, sys; client = birthmark.Client(sys.argv[1]); "
            asked += "print(client.predict('a.lock', deadline=60.0, mode=0o600))"
            assert "answered=True" in run("python", "-c", asked, url)
        finally:
            server.terminate()
