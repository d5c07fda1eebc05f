"""What tests of the FreeBSD module and of the patches share: the compiler, and the patches."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from birthmark.layout_hint import INCLUDE
from tests import needs
from tests.layout_hint.test_lookup import zig

FREEBSD = INCLUDE.parent / "freebsd"
HOOK = INCLUDE.parent / "hook"
PATCHES = FREEBSD / "patches"
RELEASES = ("13.1", "15")
# as FreeBSD's own makefiles for amd64; zig turns SSE on again unless all of it is named
KERNEL = [
    "-D_KERNEL",
    "-DKLD_MODULE",
    "-ffreestanding",
    "-fno-common",
    "-mcmodel=kernel",
    "-mno-red-zone",
    "-mno-mmx",
    "-mno-sse",
    "-mno-sse2",
    "-mno-avx",
    "-msoft-float",
    "-fno-stack-protector",
    "-fno-sanitize=all",
    "-O2",
]
# what the headers that zig has lack, since FreeBSD's build makes them
MADE = ("opt_global.h", "vnode_if.h")


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return a command that compiles for FreeBSD's kernel on amd64."""
    if not (found := zig()):
        needs.missing("needs zig, to compile for FreeBSD (pip install ziglang)")
    shim = tmp_path_factory.mktemp("shim")
    for name in MADE:
        (shim / name).touch()
    return [*found, "cc", "-target", "x86_64-freebsd.14.2", *KERNEL, f"-I{shim}"]


def include() -> list[str]:
    return [f"-I{folder}" for folder in (FREEBSD, HOOK, INCLUDE)]


def run(*command: str, **more: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, **more)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def series(release: str) -> list[Path]:
    """Return the patches for a release, in order: those that name no other."""
    others = [f"-{other}-" for other in RELEASES if other != release]
    every = sorted(PATCHES.glob("*.patch"))
    return [patch for patch in every if not any(other in patch.name for other in others)]


def originals(release: str) -> dict[str, tuple[str, str]]:
    """Return the files of a release: the git object and the SHA-256 that the README gives."""
    text = (PATCHES / "README.md").read_text().split(f"## {release}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(sys/\S+)` \| `([0-9a-f]{40})` \| `([0-9a-f]{64})` \|", text, re.M)
    return {path: (blob, sha256) for path, blob, sha256 in rows}


def changed(patch: Path) -> list[str]:
    return re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.M)
