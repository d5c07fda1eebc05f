"""Whichever crates are built, those of others that they share have the same features.

Otherwise cargo compiles them again for each choice, and all that stands on them.
"""

from __future__ import annotations

import json
import subprocess
from functools import cache

import pytest

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


@pytest.mark.parametrize("package", ["python", "clib", "model", "sim", "trace", "contract"])
def test_a_crate_alone_needs_what_all_crates_need(package: str) -> None:
    needs.program("cargo")
    everything = features("--edges=all")
    alone = features(f"--package=birthmark-{package}", "--edges=normal,build")
    assert {name: everything.get(name) for name in alone} == alone


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
