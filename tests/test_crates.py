"""Whichever crates are built, those of others that they share have the same features.

Otherwise cargo compiles them again for each choice, and all that stands on them.
"""

from __future__ import annotations

import json
import subprocess
import tomllib
from functools import cache

import pytest

from docs.imports import WORKSPACES
from tests import needs
from tests.crates import ROOT


@cache
def features(*choice: str) -> dict[str, str]:
    """Return the third-party crates that a choice of crates needs, with their features."""
    tree = ["cargo", "tree", "--locked", "--prefix=none", "--no-dedupe", "--format={p} {f}"]
    printed = subprocess.run(
        [*tree, *choice], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    lines = {line.replace("(proc-macro) ", "") for line in printed.splitlines()}
    words = [line.split(" ") for line in lines if not line.startswith("birthmark")]
    return {" ".join(word[:2]): word[-1] for word in words}


@pytest.mark.parametrize("package", ["python", "clib", "model", "trace", "contract"])
def test_a_crate_alone_needs_what_all_crates_need(package: str) -> None:
    needs.program("cargo")
    everything = features("--edges=all")
    alone = features(f"--package=birthmark-{package}", "--edges=normal,build")
    assert {name: everything.get(name) for name in alone} == alone


ANNEXES = [folder for folder in WORKSPACES if folder != "."]


@pytest.mark.parametrize("folder", ANNEXES)
def test_an_extension_module_needs_what_the_core_needs(folder: str) -> None:
    needs.program("cargo")
    everything = features("--edges=all")
    manifest = f"--manifest-path={folder}/python/Cargo.toml"
    alone = features(manifest, "--edges=normal,build")
    assert {name: everything.get(name) for name in alone} == alone


def locked(folder: str) -> dict[str, set[str]]:
    """Return the versions of each library in a workspace's lock."""
    found: dict[str, set[str]] = {}
    for package in tomllib.loads((ROOT / folder / "Cargo.lock").read_text())["package"]:
        found.setdefault(package["name"], set()).add(package["version"])
    return found


@pytest.mark.parametrize("folder", ANNEXES)
def test_all_workspaces_have_the_same_versions_and_settings(folder: str) -> None:
    core, own = locked("."), locked(folder)
    assert {
        name: own[name] - core[name] for name in own.keys() & core.keys() if own[name] - core[name]
    } == {}
    manifests = [tomllib.loads((ROOT / each / "Cargo.toml").read_text()) for each in (".", folder)]
    every, also = (manifest["workspace"] for manifest in manifests)
    assert (also["package"], also["lints"]) == (every["package"], every["lints"])
    libraries = also["dependencies"].items()
    shared = {name: asked for name, asked in libraries if name in every["dependencies"]}
    paths = {name for name in shared if name.startswith("birthmark-")}
    assert {name: every["dependencies"][name] for name in shared.keys() - paths} == {
        name: shared[name] for name in shared.keys() - paths
    }
    ours, theirs = (manifest["profile"] for manifest in manifests)
    levels = ours["dev"]["package"]
    ours["dev"]["package"] = {name: level for name, level in levels.items() if name in own}
    for name in ("dev", "release"):
        assert ours[name] == theirs[name]


def test_a_line_of_a_decoder_builds_few_crates_again() -> None:
    needs.program("cargo")
    asked = ["cargo", "metadata", "--locked", "--format-version=1", "--no-deps"]
    printed = subprocess.run(asked, cwd=ROOT, check=True, capture_output=True).stdout
    needed = {
        package["name"]: {each["name"] for each in package["dependencies"]}
        for package in json.loads(printed)["packages"]
    }
    again = {"birthmark-trace"}
    while more := {name for name, own in needed.items() if own & again} - again:
        again |= more
    # the last two are built only when asked for
    shipped = {"birthmark-trace", "birthmark-tables", "birthmark-python"}
    assert again == shipped | {"birthmark-tap", "birthmark-fuzz"}
