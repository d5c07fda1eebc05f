"""Variants of where files lie: on a drive, beside the same drive without hints."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from birthmark.storage.what_if.calls import survey
from birthmark.storage.what_if.columns import CALLS, CLASSES, UNKNOWN
from birthmark.storage.what_if.compare import Comparison, compare
from birthmark.storage.what_if.fit import Fit, fit
from birthmark.storage.what_if.layouts import NO_ARM, layouts
from birthmark.storage.what_if.report import comparison_json, conclusion
from birthmark.storage.what_if.server import Server
from birthmark.storage.what_if.settings import WhatIfOptions
from birthmark.storage.what_if.variants import Change, questions
from tests.builders.served import dataset, lives, operations

OPTIONS = WhatIfOptions(resamples=5, seeds=2, operation="write")
ORACLE = Change(drive="cheetah9LP", layout_hint="oracle")
FILES, CALLS_OF_ALL = 60, 4000


def asked() -> pa.RecordBatch:
    """Return calls that make a file in each of many directories, and then write them in turn."""
    count = CALLS_OF_ALL
    at = np.arange(count) * 20_000_000
    making = np.arange(count) < FILES
    file = np.arange(count) % FILES
    columns = {
        "at": at,
        "replied": at + 700_000,
        "class": np.where(making, CLASSES.index("create"), CLASSES.index("write")),
        "file": np.where(making, 1000 + file, 1 + file),
        "target": np.where(making, 1 + file, 0),
        "bytes": np.where(making, 0, 4096),
        "stable": np.where(making, 0, 2),
        "end": np.where(making, 0, np.uint64(UNKNOWN)),
    }
    nothing = np.zeros(count)
    arrays = [
        pa.array(np.asarray(columns.get(own.name, nothing)).astype(own.type.to_pandas_dtype()))
        for own in CALLS
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=CALLS)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Fit:
    born = [(1 + at, at * 20_000 + 700) for at in range(FILES)]
    written = {"writes": 60, "max_size": 4096}
    files = lives(*({"fh": file, "born": when} | written for file, when in born))
    folder = dataset(tmp_path_factory.mktemp("served") / "d", operations(asked()), files=files)
    return fit(survey(folder), {"threads": 4, "processors": 1, "in_turn": False}, OPTIONS)


@pytest.fixture(scope="module")
def compared(found: Fit) -> Comparison:
    changes = {"flat": Change(layout_hint="oracle", threads=8), "hot": ORACLE}
    result = compare(found, changes, OPTIONS)
    return replace(result, error=0.05)  # what is off here is the fit to a server that has no hints


def test_files_that_lie_together_need_shorter_ways_of_the_arm(compared: Comparison) -> None:
    named = {each.name: each for each in compared.variants}
    assert set(named) == {"now", "hot", "hot, without hints"}
    hot, plain = named["hot"], named["hot, without hints"]
    assert hot.parts["write"]["seek"] < 0.7 * plain.parts["write"]["seek"]
    assert hot.parts["write"]["processor"] == plain.parts["write"]["processor"]
    assert compared.verdict(hot, plain) == "faster"
    assert compared.verdict(hot, compared.now()) == "slower"


def test_hints_are_compared_with_the_same_drive_without(compared: Comparison) -> None:
    result = {sentence.split(":")[0]: sentence for sentence in conclusion(compared)}
    assert result["hot"].startswith("hot: faster than hot, without hints by")
    assert "an oracle, unlike a model" in result["hot"]
    assert result["flat"] == f"flat: {NO_ARM}"
    as_json = comparison_json(compared)
    assert [own.get("beside") for own in as_json["variants"] if own["name"] == "hot"] == [
        "hot, without hints"
    ]
    assert as_json["untold"] == {"flat": NO_ARM}


def test_uses_an_existing_variant_without_hints_as_the_baseline() -> None:
    changes = {"plain": Change(drive="cheetah9LP"), "hot": ORACLE}
    assert layouts(Server(), changes).beside == {"hot": "plain"}
    assert set(layouts(Server(), changes).changes) == {"plain", "hot"}
    on_drive = layouts(Server(drive="cheetah9LP"), {"hot": Change(layout_hint="oracle")})
    assert (on_drive.beside, set(on_drive.changes)) == ({}, {"hot"})
    assert layouts(Server(), {"none": Change(layout_hint="Default")}).not_simulated == {}


def test_hints_that_nobody_can_give_are_refused(found: Fit, tmp_path: Path) -> None:
    hinted = Change(drive="cheetah9LP", layout_hint="HotDir+HotName")
    with pytest.raises(ValueError, match=r"variants\.hot: expected --model, .* found HotDir"):
        compare(found, {"hot": hinted}, OPTIONS)
    with pytest.raises(FileNotFoundError):
        compare(found, {"hot": hinted}, OPTIONS, str(tmp_path / "nothing"))
    larger = ORACLE.model_copy(update={"region": 8 << 20})
    with pytest.raises(ValueError, match=r"variants\.larger: region: expected 4,194,304 .*8,388"):
        compare(found, {"hot": ORACLE, "larger": larger}, OPTIONS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[variants.x]\nlayout_hint = "warm"\n', r"variants\.x\.layout_hint: .*'HotDir'"),
        ('[server]\nlayout_hint = "oracle"\n', r"server\.layout_hint: expected it in a variant"),
        ('[variants.x]\nregion = "1G"\n', r"variants\.x\.region: "),
    ],
)
def test_a_file_that_asks_for_no_hints_there_are_is_refused(
    tmp_path: Path, text: str, expected: str
) -> None:
    path = tmp_path / "variants.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=expected):
        questions(path, [])


def test_a_region_for_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="region: expected layout_hint to say what is hot"):
        Change(region=4 << 20).of(Server())
