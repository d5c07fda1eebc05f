"""``birthmark layout`` on a bundled day: what it prints and writes, and that hints do no harm.

Tests also layout_hint/comparison/compare.py, layout_hint/comparison/options.py,
layout_hint/commands/layout.py, layout_hint/replay/model_image.py, layout_hint/replay/runs.py,
layout_hint/study.py.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.data.samples import DAYS
from birthmark.layout_hint.rewrite import build
from birthmark.predictor.allocation.verdicts import HINTS
from birthmark.predictor.image.format import plain_image
from birthmark.predictor.image.rules import ImageRule, RulesSection
from tests import needs
from tests.generated import write

pytestmark = pytest.mark.deep

CACHE = ("--cache", "16M")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an image by which locks are hot, logs are written, and all directories are hot."""
    names = [(b"lock", "HotName"), (b"tmp", "HotName"), (b"log", "HotWrite"), (b"o", "HotName")]
    rules = [ImageRule(hint, "last", name, 1) for name, hint in names]
    rules.append(ImageRule("HotDir", "any", b"", 1))
    path = tmp_path_factory.mktemp("model") / "hints.image"
    path.write_bytes(plain_image(HINTS, [RulesSection(rules)]))
    return path


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a build of twenty seconds of the second bundled day."""
    path = tmp_path_factory.mktemp("days") / "tuesday"
    first = round(datetime(2026, 11, 21, 5, 44, tzinfo=UTC).timestamp() * 1e6)
    build([DAYS[1]], path, first, first + 20_000_000)
    return path


def invoke(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, ["layout", *(str(each) for each in arguments)])


def run(*arguments: str | Path) -> dict[str, Any]:
    result = invoke(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_all_policies_are_compared_and_written(day: Path, model: Path, tmp_path: Path) -> None:
    found = run(day, "--model", model, "--seeds", "2", *CACHE, "--out", tmp_path / "out")
    assert found == json.loads((tmp_path / "out" / "results.json").read_text())
    assert found["days"] == ["tuesday"]
    assert found["settings"]["region_length"] == 4 << 20
    assert found["settings"]["seeds"] == [1, 2]
    by_default, *others = found["results"]
    assert by_default["policy"] == "Default"
    assert by_default["improvement"]["values"] == [0, 0]
    expected = ["HotDir", "HotName", "HotDir+HotName", "all three", "oracle"]
    for mode in ("reserved", "data", "preferred"):
        own = [each for each in others if each["mode"] == mode]
        assert [each["policy"] for each in own] == [*expected, "HotDir+HotName"]
        assert [each["nvram"] for each in own] == [False] * 5 + [True]
    for result in found["results"]:
        assert result["inconsistency"] is None
        assert result["target"]["write"]["n"] == 2
        for column in ("total", "read", "write"):
            target, optimal = (result[k][column]["mean"] for k in ("target", "optimal"))
            assert 0 <= target <= optimal + 1e-9 <= 1 + 1e-9
        assert result["writes"]["mean"] > 0


def test_hot_write_alone_is_measured_where_it_is_named(day: Path, model: Path) -> None:
    options = ("--seeds", "1", "--mode", "data", "--policies", "hotwrite")
    found = run(day, "--model", model, *CACHE, *options)
    by_default, alone = found["results"]
    assert (by_default["policy"], alone["policy"]) == ("Default", "HotWrite")
    assert alone["inconsistency"] is None


def test_the_counts_of_what_is_drawn_are_written_too(
    day: Path, model: Path, tmp_path: Path
) -> None:
    found = run(
        *(day, "--model", model, "--seeds", "1", *CACHE, "--out", tmp_path / "out"),
        *("--mode", "reserved", "--policies", "hotdir,HotDir+HotName", "--no-nvram"),
    )
    counts = {path.stem: pq.read_table(path) for path in (tmp_path / "out").rglob("*.parquet")}
    both = "tuesday_HotDir+HotName_reserved_fresh"
    assert set(counts) == {"tuesday_Default_fresh", both}
    (result,) = (each for each in found["results"] if each["policy"] == "HotDir+HotName")
    for column in ("reads", "writes"):
        assert pc.sum(counts[both][column]).as_py() == result[column]["mean"]
    inside = counts[both].filter(pc.less(counts[both]["block"], 1024))
    share = pc.sum(inside["writes"]).as_py() / result["writes"]["mean"]
    assert share == pytest.approx(result["target"]["write"]["mean"])
    assert list((tmp_path / "out").glob("*.svg")) or list((tmp_path / "out").glob("*.png"))


def test_hints_gather_writes_in_the_region_and_its_memory_saves_time(
    day: Path, model: Path
) -> None:
    found = run(day, "--model", model, "--seeds", "2", "--mode", "reserved", *CACHE)
    of = {(each["policy"], each["nvram"]): each for each in found["results"]}
    written = {key: each["target"]["write"]["mean"] for key, each in of.items()}
    assert written["HotDir+HotName", False] > written["Default", False]
    assert written["oracle", False] > written["Default", False]
    gain = {key: each["improvement"]["mean"] for key, each in of.items()}
    assert gain["HotDir+HotName", True] > gain["HotDir+HotName", False]


def test_a_trace_is_split_into_days_which_can_be_kept(model: Path, tmp_path: Path) -> None:
    hours = ("--from", "05:00", "--to", "06:00", "--builds", tmp_path / "days")
    own = ("--policies", "HotName", "--mode", "preferred", "--seeds", "1", *CACHE)
    first = run(DAYS[1], "--model", model, *hours, *own)
    assert first["days"] == ["2026-11-21"]
    again = run(tmp_path / "days" / "2026-11-21", "--model", model, *own)
    for one, other in zip(first["results"], again["results"], strict=True):
        for same in ("target", "optimal", "elapsed", "improvement", "reads", "writes"):
            assert one[same] == other[same]


def test_parallel_runs_do_not_change_results(day: Path, model: Path) -> None:
    own = ("--model", model, "--policies", "HotDir", "--seeds", "2", *CACHE)
    one, two = (run(day, *own, "--jobs", jobs) for jobs in ("1", "2"))
    for each in (*one["results"], *two["results"]):
        del each["speed"]
    assert one == two


@pytest.mark.parametrize("region", [("4M", "0"), ("16K", "3M"), ("4M", "middle")])
def test_wrong_hints_and_full_regions_leave_the_file_system_consistent(
    day: Path, model: Path, region: tuple[str, str]
) -> None:
    found = run(
        *(day, "--model", model, "--policies", "inverted,random,all three", "--state", "both"),
        *("--region", region[0], "--region-start", region[1], "--seeds", "1", "--no-nvram"),
        *("--partition", "1G", *CACHE),
    )
    assert len(found["results"]) == 2 * (1 + 3 * 3)
    assert [each["inconsistency"] for each in found["results"]] == [None] * 20


def test_todays_file_system_is_one_too(day: Path, model: Path) -> None:
    own = ("--policies", "HotDir+HotName", "--seeds", "1", "--geometry", "freebsd14", *CACHE)
    for result in run(day, "--model", model, *own)["results"]:
        assert result["inconsistency"] is None
        assert result["writes"]["mean"] > 0


def test_the_tables_are_printed(day: Path, model: Path) -> None:
    result = invoke(day, "--model", model, "--seeds", "1", "--mode", "reserved", *CACHE)
    assert result.exit_code == 0, result.output
    for word in ("Target", "Optimal", "HotDir+HotName", "NVRAM", "tuesday"):
        assert word in result.stdout


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--region", "4Q"], "--region: '4Q' is no size: expected bytes, or a number with K"),
        (["--region-start", "here"], "--region-start: 'here' is no place of a region: expected"),
        (["--policies", "hotfile"], "--policies: 'hotfile' is no policy"),
        (["--days", "monday"], "--days: 'monday' is no day: expected YYYY-MM-DD"),
        (["--from", "9"], "--from, --to: '9' is no time of a day: expected 00:00 to 24:00"),
        (["--warmup", "long"], "--warmup: 'long' is no duration: expected a number above zero"),
        (["--cache", "-1"], "--cache: '-1' is no size"),
        (["--disk", "floppy"], "floppy"),
    ],
)
def test_refuses_invalid_values_by_the_option_s_name(
    day: Path, model: Path, options: list[str], expected: str
) -> None:
    result = invoke(day, "--model", model, *options)
    assert result.exit_code
    assert expected in str(result.exception)


def test_refuses_invalid_models_and_builds(day: Path, model: Path, tmp_path: Path) -> None:
    result = invoke(day, "--model", day / "build.json")
    assert "expected a compiled image or a directory of models" in str(result.exception)
    result = invoke(day, "--model", model, "--point", "bounded")
    assert "--point bounded: expected a directory of models with it" in str(result.exception)
    result = invoke(day, "--model", model, "--point", "lowest")
    assert "'bounded'" in result.output
    result = invoke(day, DAYS[1], "--model", model)
    assert "expected a trace like the others, found a build" in str(result.exception)
    result = invoke("-", "--model", model)
    assert "-: expected a file: a trace is read once for every day" in str(result.exception)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes").write_text("mine")
    result = invoke(day, "--model", model, "--out", tmp_path / "full")
    assert "expected a directory that is empty or not there yet" in str(result.exception)


MINE = """
import pyarrow.compute as pc

def locks(creates):
    return pc.ends_with(creates["name"], b"lock")

def too_few(creates):
    return [True]
"""


def test_a_policy_of_ones_own_is_run_beside_ours(
    day: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "policies_of_mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    own = ("--model", model, "--mode", "preferred", "--seeds", "1", "--no-nvram", *CACHE)
    found = run(day, *own, "--policies", "HotDir,policies_of_mine:locks")["results"]
    policies = [each["policy"] for each in found]
    assert policies == ["Default", "HotDir", "policies_of_mine:locks"]
    by_default, _, mine = (each["target"]["total"]["mean"] for each in found)
    assert mine != by_default
    result = invoke(day, *own, "--policies", "policies_of_mine:too_few")
    assert "policies_of_mine:too_few: expected" in str(result.exception)


def test_a_grid_is_one_table_and_each_of_its_cells_as_if_run_alone(
    model: Path, tmp_path: Path
) -> None:
    hours = ("--from", "05:00", "--to", "06:00")
    own = ("--model", model, "--policies", "HotDir", "--mode", "preferred", "--seeds", "1")
    out = tmp_path / "out"
    rows = run(DAYS[1], *hours, *own, "--grid", "region=2M,4M", "--grid", "cache=16M,32M",
               "--out", out)  # fmt: skip
    assert rows == json.loads((out / "grid.json").read_text())
    assert rows == pq.read_table(out / "grid.parquet").to_pylist()
    assert [(row["region"], row["cache"], row["policy"]) for row in rows] == [
        (region, cache, policy)
        for region in ("2M", "4M")
        for cache in ("16M", "32M")
        for policy in ("Default", "HotDir")
    ]
    alone = run(DAYS[1], *hours, *own, "--region", "2M", "--cache", "32M")["results"]
    for row, result in zip(rows[2:4], alone, strict=True):
        assert row["target_write"] == result["target"]["write"]["mean"]
        assert row["elapsed"] == result["elapsed"]["mean"]
    remaining = json.loads((out / "region=2M,cache=32M" / "results.json").read_text())
    assert remaining["settings"]["region_length"] == 2 << 20
    assert len({row["target_write"] for row in rows if row["policy"] == "HotDir"}) > 1


def test_a_grid_of_rates_generates_the_workload_again_at_each(model: Path, tmp_path: Path) -> None:
    def generated(rate: float) -> Path:
        start = datetime(2003, 2, 24, tzinfo=UTC).date().isoformat()
        path = tmp_path / f"{rate}.parquet"
        workload = {"name": "eecs03", "seed": 7, "start": start, "days": 0.02, "rate": rate}
        write(workload, path)
        return path

    own = ("--from", "00:00", "--to", "00:28", "--model", model, "--mode", "data", "--seeds", "1")
    own = (*own, "--policies", "HotDir", *CACHE)
    remaining = ("--builds", tmp_path / "builds")
    rows = run(generated(0.01), *own, *remaining, "--grid", "rate=0.01,0.02")
    assert rows == run(generated(0.01), *own, *remaining, "--grid", "rate=0.01,0.02")
    for rate in (0.01, 0.02):
        alone = run(generated(rate), *own, "--grid", "cache=16M")
        found = [row | {"cache": "16M"} for row in rows if row["rate"] == f"{rate}"]
        assert [{**row, "rate": f"{rate}"} for row in alone] == found
    assert len({row["elapsed"] for row in rows if row["policy"] == "HotDir"}) == 2


@needs.folder_research
def test_only_a_generated_workload_has_another_rate(day: Path, model: Path) -> None:
    for trace in (DAYS[1], day):
        result = invoke(trace, "--model", model, *CACHE, "--grid", "rate=0.5")
        assert "expected a file of birthmark research workload, Parquet or text" in str(
            result.exception
        )


def test_the_table_of_a_grid_is_printed(day: Path, model: Path) -> None:
    own = ("--policies", "HotDir", "--mode", "preferred", "--seeds", "1", *CACHE)
    result = invoke(day, "--model", model, *own, "--grid", "region=2M,4M")
    assert result.exit_code == 0, result.output
    for word in ("region", "2M", "4M", "HotDir", "saved"):
        assert word in result.stdout


def test_a_file_system_with_a_journal_has_its_region_behind_that(day: Path, model: Path) -> None:
    own = ("--model", model, "--policies", "HotName", "--mode", "data", "--seeds", "1", *CACHE)
    today = ("--geometry", "freebsd15", "--region-start", "data")
    with_journal, without = (run(day, *own, *today, *more) for more in (("--journal",), ()))
    assert [each["inconsistency"] for each in with_journal["results"]] == [None, None]
    starts = [each["settings"]["region_start"] for each in (without, with_journal)]
    assert starts[1] - starts[0] > 320 << 20
    targets = [each["results"][1]["target"]["write"]["mean"] for each in (without, with_journal)]
    assert min(targets) > 0
    result = invoke(day, *own, "--journal")
    assert "journal: FreeBSD 4.8 has none" in str(result.exception)


def test_an_allocator_places_files_elsewhere_than_the_kernel(day: Path, model: Path) -> None:
    own = ("--model", model, "--policies", "Default", "--mode", "data", "--seeds", "1", *CACHE)
    rows = run(day, *own, "--grid", "allocator=kernel,packed")
    assert [row["inconsistency"] for row in rows] == [None, None]
    kernel, packed = (row["target_total"] for row in rows)
    assert packed > kernel
    result = invoke(day, *own, "--allocator", "nothing")
    assert 'allocator: "nothing": expected one of packed' in str(result.exception)
