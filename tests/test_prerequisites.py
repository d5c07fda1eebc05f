"""What `make` says of a machine that lacks what it needs: `native/prerequisites`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("bash", "dirname", "sed", "sort", "head", "tr", "printf")
STUBS = {
    "python3": 'case "$1" in --version) echo Python 3.11.2 ;; esac',
    "cargo": "echo cargo 1.96.0 '(Debian)'",
    "rustc": "echo rustc 1.96.0",
    "cc": "cat >/dev/null",
    "c++": "cat >/dev/null",
    "rustfmt": "",
    "cargo-clippy": "",
    "git": "",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a folder of commands: a machine that has all that `make test` needs."""
    for tool in (*TOOLS, "cat"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))
    for name, script in STUBS.items():
        stub(tmp_path, name, script)
    return tmp_path


def stub(path: Path, name: str, script: str) -> None:
    (path / name).write_text(f"#!{path}/bash\n{script}\n")
    (path / name).chmod(0o755)


def said(path: Path, *targets: str) -> tuple[str, list[str]]:
    command = [str(path / "bash"), str(ROOT / "native/prerequisites"), *targets]
    ran = subprocess.run(command, env={"PATH": str(path)}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip(), ran.stderr.splitlines()


@pytest.mark.parametrize("target", ["quickstart", "install", "test", "deep", "help", "clean"])
def test_a_machine_that_has_everything_is_accepted(path: Path, target: str) -> None:
    assert said(path, target) == ("ok", [])


@pytest.mark.parametrize(
    ("command", "package"),
    [
        ("python3", "python3-venv"),
        ("cargo", "cargo-web"),
        ("rustc", "rustc-web"),
        ("cc", "gcc libc6-dev"),
        ("c++", "g++"),
        ("rustfmt", "rustfmt-web"),
        ("cargo-clippy", "rust-web-clippy"),
        ("git", "git"),
    ],
)
def test_a_command_that_is_not_there_is_named_with_its_package(
    path: Path, command: str, package: str
) -> None:
    (path / command).unlink()
    answer, lines = said(path, "test")
    assert answer == ""
    assert lines[:2] == ["make test needs what is not here:", f"  {command}: not found"]
    assert lines[2] == f"On Debian 12 or 13: apt install {package}"


def test_what_only_the_tests_need_is_not_asked_for_by_the_quickstart(path: Path) -> None:
    for command in ("c++", "rustfmt", "cargo-clippy", "git"):
        (path / command).unlink()
    assert said(path, "quickstart") == ("ok", [])


@pytest.mark.parametrize(
    ("command", "version", "message"),
    [
        ("cargo", "cargo 1.65.0", "cargo: version 1.65.0 is too old; expected 1.88 or newer"),
        ("rustc", "rustc 1.9.0", "rustc: version 1.9.0 is too old; expected 1.88 or newer"),
        ("python3", "Python 3.9.2", "python3: version 3.9.2 is too old; expected 3.11 or newer"),
        ("cargo", "", "cargo: does not run; try: cargo --version"),
    ],
)
def test_a_version_that_is_too_old_is_named_with_the_oldest_that_will_do(
    path: Path, command: str, version: str, message: str
) -> None:
    stub(path, command, f"echo {version}")
    assert said(path, "install")[1][1] == f"  {message}"


def test_python_without_venv_and_a_compiler_without_headers_are_named(path: Path) -> None:
    stub(path, "python3", 'case "$1" in --version) echo Python 3.13.5 ;; *) exit 1 ;; esac')
    stub(path, "cc", "cat >/dev/null; exit 1")
    assert said(path, "quickstart")[1][1:] == [
        "  cc: does not find <stdlib.h>",
        "  python3: has no module ensurepip or venv",
        "On Debian 12 or 13: apt install gcc libc6-dev python3-venv",
    ]


def test_make_builds_nothing_on_a_machine_that_lacks_something(path: Path) -> None:
    (path / "cargo").unlink()
    for tool in ("make", "find", "uname"):
        (path / tool).symlink_to(str(shutil.which(tool)))
    ran = subprocess.run(
        [str(path / "make"), "-C", str(ROOT), "quickstart"],
        env={"PATH": str(path)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2
    assert "cargo: not found" in ran.stderr
    assert "apt install cargo-web" in ran.stderr
