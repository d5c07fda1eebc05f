"""From what is served to the audit of it: the second bundled day, asked about as it is born.

Tests also training/audit/figures.py, training/audit/page.py, training/audit/run.py.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.data.anonymize import anonymize
from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.features.creates import from_files
from birthmark.predictor import FILE_PREDICATES, TrainedModel, births, own_predicate
from birthmark.serving.log.prediction_log import PredictionLog, Served
from birthmark.serving.models.loaded import load_model
from birthmark.training.audit.matching import join
from birthmark.training.audit.run import Audit, audit, audits, keep
from birthmark.training.evaluate.evaluation import evaluate
from birthmark.training.learn.profile import profile
from birthmark.training.registry import thresholds
from birthmark.training.registry.versions import Registry
from birthmark.training.statistics.standing import by_key
from tests.serving.logged import served

pytestmark = pytest.mark.deep

COUNTS = ("n", "n_unknown", "n_true", "n_correct", "n_true_positive", "n_false_positive")


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The bundled days, slowed to half an hour each: 70 seconds are too short for a standing."""
    folder = tmp_path_factory.mktemp("audited")
    for number, trace in enumerate(DAYS, 1):
        slow = folder / f"day{number}.parquet"
        pq.write_table(slowed(pq.read_table(trace), 30), slow)
        ingest([slow], folder / f"day{number}")
    return [folder / "day1", folder / "day2"]


def slowed(operations: pa.Table, times: int) -> pa.Table:
    """Return operations that take so many times as long, from the first of them on."""
    first = pc.min(operations["time"])
    for name in ("time", "reply_time"):
        since = pc.subtract(operations[name], first).cast(pa.int64())
        later = pc.add(first, pc.multiply(since, times).cast(pa.duration("us")))
        place = operations.schema.get_field_index(name)
        operations = operations.set_column(place, operations.schema.field(name), later)
    return operations


@pytest.fixture(scope="module")
def learned(days: list[Path]) -> tuple[TrainedModel, dict[str, Any]]:
    files, names = read_files(days[0]), read_names(days[0])
    model = TrainedModel().train(births(files), births(names), kinds=("rules",))
    about = {"datasets": ["day1"], "labels": model.tallies}
    inputs = profile(births(files)).to_json()
    return model, {"serve": "rules", "point": "bounded", "trained_on": about, "inputs": inputs}


@pytest.fixture
def registry(tmp_path: Path, learned: tuple[TrainedModel, dict[str, Any]]) -> Registry:
    registry = Registry(tmp_path / "registry")
    model, manifest = learned
    registry.publish(model.save, manifest)
    return registry


def log_answers(registry: Registry, creates: pa.Table, log: Path, **options: Any) -> None:
    """Log what the published model answers to creates, as the service does."""
    log_as(served(load_model(registry), creates), log, **options)


def log_as(given: Served, log: Path, **options: Any) -> None:
    counted: Counter[str] = Counter()
    writer = PredictionLog(
        log, tell=lambda outcome, rows: counted.update({outcome: rows}), **options
    )
    writer.offer(lambda _: given, None, len(given.creates), given.creates.nbytes)
    writer.start()
    writer.close()
    assert counted == {"written": len(given.creates)}


@pytest.fixture
def found(registry: Registry, days: list[Path], tmp_path: Path) -> Audit:
    """Return the audit of the second day, all of whose creates were asked about."""
    log_answers(registry, from_files(births(read_files(days[1]))), tmp_path / "log")
    return audit(registry, days[1], tmp_path / "log")


def test_an_audit_finds_the_same_figures_as_an_evaluation_of_these_rows(
    found: Audit, days: list[Path], learned: tuple[TrainedModel, dict[str, Any]], tmp_path: Path
) -> None:
    assert [(row["subject"], row["joined"]) for row in found.joined] == [
        ("file", 5406),
        ("name", 5406),
    ]
    assert repr(found) == f"<Audit of {found.version} on day2: 10,812 rows joined>"
    (log,) = (tmp_path / "log").rglob("*.parquet")
    rows = pq.read_table(log)
    files, names = births(read_files(days[1])), births(read_names(days[1]))
    created = names.filter(pc.equal(names["how_born"], "create"))
    lives = [own.take(join(rows, own, found.joining).lives) for own in (files, created)]
    expected = {
        (row["subject"], row["predicate"]): row
        for row in evaluate(learned[0], *lives).to_pylist()
        if row["point"] == "bounded"
    }
    assert found.figures.num_rows == len(expected) > 20
    for row in found.figures.to_pylist():
        same = expected[row["subject"], row["predicate"]]
        shared = [name for name in row if name in same and name != "standing"]
        assert {name: row[name] for name in shared} == {name: same[name] for name in shared}
    assert sum(row["n_false_positive"] for row in found.figures.to_pylist()) > 100


def test_hours_users_and_clients_add_up_to_all(found: Audit) -> None:
    groups = found.groups.to_pylist()
    for row in found.figures.to_pylist():
        names = {name: row[name] for name in ("version", "subject", "predicate", "model", "point")}
        own = [each for each in groups if names.items() <= each.items()]
        for by in ("hour", "user", "client"):
            parts = [each for each in own if each["by"] == by]
            assert sum(each["n"] for each in parts) == row["n"]
            assert sum(each["n_false_positive"] for each in parts) == row["n_false_positive"]
    assert {each["group"] for each in groups if each["by"] == "hour"} == {"05", "06"}


def test_a_broken_bound_turns_its_predicate_to_no_until_another_model_is_published(
    found: Audit, registry: Registry, learned: tuple[TrainedModel, dict[str, Any]], days: list[Path]
) -> None:
    assert "write-only" in found.breaches
    assert "lock" not in found.breaches
    creates = from_files(births(read_files(days[1])))
    before = load_model(registry).answers(creates)
    assert before["write-only"].true_count > 300
    keep(registry, found)
    after = load_model(registry).answers(creates)
    assert after["write-only"].true_count == 0
    assert after["lock"].true_count == before["lock"].true_count > 0
    moved = thresholds.read_registry(registry)
    assert moved is not None
    assert moved.version == registry.current()
    abstaining = {row.predicate for row in moved.thresholds if row.abstains}
    assert abstaining == set(found.breaches)
    registry.publish(learned[0].save, learned[1])
    again = load_model(registry).answers(creates)
    assert again["write-only"].true_count == before["write-only"].true_count


def test_the_standing_of_each_bound_is_read_from_the_same_counts(
    found: Audit, registry: Registry
) -> None:
    keep(registry, found)
    moved = thresholds.read_registry(registry)
    assert moved is not None
    known = thresholds.standings_of(moved.thresholds, moved.bound)
    assert known == {
        key: row["standing"]
        for key, row in by_key(found.figures.to_pylist(), found.version).items()
    }
    assert (known["write-only"], known["size>16k"]) == ("shown broken", "holds")
    assert "not enough seen" in known.values()
    assert known.keys() >= {"name:lock"}


def test_an_audit_that_is_made_again_is_the_same_and_counts_once(
    found: Audit, registry: Registry, days: list[Path], tmp_path: Path
) -> None:
    keep(registry, found)
    stored = sorted((registry.path / "audits").iterdir())
    assert [path.name for path in stored] == ["day2.html", "day2.json", "day2.parquet"]
    before = [path.read_bytes() for path in stored]
    again = audit(registry, days[1], tmp_path / "log")
    keep(registry, again)
    assert [path.read_bytes() for path in stored] == before
    assert [each["dataset"] for each in audits(registry)] == ["day2"]


def test_rows_of_impossible_times_in_a_log_are_set_aside_and_reported(
    found: Audit, registry: Registry, days: list[Path], tmp_path: Path
) -> None:
    (log,) = (tmp_path / "log").rglob("*.parquet")
    rows = pq.read_table(log)
    odd = rows.slice(0, 1)
    for name, time in (("create_time", 2**63 - 1), ("time", -(2**63))):
        times = pa.array([time]).cast(rows[name].type)
        spoiled = odd.set_column(rows.schema.get_field_index(name), rows.schema.field(name), times)
        path = log.with_name(f"{log.stem}-{name}.parquet")
        pq.write_table(pa.concat_tables([rows.slice(0, 0), spoiled]), path)
        again = audit(registry, days[1], tmp_path / "log")
        assert again.set_aside[str(path)] == 1
        assert again.damaged == {}
        assert again.figures == found.figures
    keep(registry, again)
    assert audits(registry)[0]["set_aside"] == again.set_aside
    page = (registry.path / "audits" / "day2.html").read_text()
    assert (
        f"<b>{path}</b>: rows set aside because their times are outside of the years 1 to 9999: 1<"
        in page
    )


def test_a_damaged_audit_does_not_count_and_is_reported(
    found: Audit, registry: Registry, caplog: pytest.LogCaptureFixture
) -> None:
    keep(registry, found)
    (registry.path / "audits" / "other.json").write_text("{")
    assert [each["dataset"] for each in audits(registry)] == ["day2"]
    assert "other.json: does not count" in caplog.text


def test_an_audit_is_kept_in_an_object_store_too(
    found: Audit, learned: tuple[TrainedModel, dict[str, Any]], tmp_path: Path
) -> None:
    registry = Registry((tmp_path / "remote").as_uri(), cache=tmp_path / "cache")
    found.version = registry.publish(learned[0].save, learned[1])
    versions = pa.array([found.version] * len(found.figures))
    found.figures = found.figures.set_column(0, found.figures.schema.field(0), versions)
    assert audits(registry) == []
    keep(registry, found)
    assert [each["dataset"] for each in audits(registry)] == ["day2"]
    assert load_model(registry).abstaining.keys() == found.breaches.keys()


def test_counts_add_up_from_night_to_night_until_the_yes_returns(
    found: Audit, registry: Registry, days: list[Path], tmp_path: Path
) -> None:
    keep(registry, found)
    shutil.copytree(days[1], tmp_path / "next")
    log_answers(registry, from_files(births(read_files(days[1]))), tmp_path / "later")

    def counted() -> list[tuple[int, int, bool]]:
        moved = thresholds.read_registry(registry)
        assert moved is not None
        rows = [row for row in moved.thresholds if row.predicate == "write-only"]
        return [(row.outcomes, row.false_positives, row.abstains) for row in rows[:1]]

    ((outcomes, wrong, abstains),) = counted()
    assert abstains
    nights = 0
    while counted()[0][2] and nights < 99:
        nights += 1
        later = audit(registry, tmp_path / "next", tmp_path / "later")
        later.dataset = f"night{nights}"
        keep(registry, later)
    assert counted() == [((nights + 1) * outcomes, wrong, False)]
    assert nights > 1
    answers = load_model(registry).answers(from_files(births(read_files(days[1]))))
    assert answers["write-only"].true_count > 300


def test_drift_of_created_files_is_reported(found: Audit) -> None:
    assert [(each.value, each.change) for each in found.drift or []] == [("__init__", "fewer")]


def test_an_anonymized_log_joins_the_anonymized_trace(
    registry: Registry, days: list[Path], tmp_path: Path
) -> None:
    mapping, log = tmp_path / "mapping", tmp_path / "log"
    creates = from_files(births(read_files(days[1])))
    log_answers(registry, creates, log, mapping=mapping)
    anonymize([str(days[1])], str(tmp_path / "secret"), mapping)
    assert audit(registry, days[1], log).joined[0]["joined"] < 100
    hidden = audit(registry, tmp_path / "secret", log)
    assert hidden.joined[0]["joined"] == len(creates)
    names = pq.read_table(next(log.rglob("*.parquet")))["name"].to_pylist()
    assert b".Xauthority-c" in creates["name"].to_pylist()
    assert b".Xauthority-c" not in names


def test_rows_are_judged_by_the_version_that_answered_and_unknown_versions_are_counted(
    registry: Registry,
    days: list[Path],
    learned: tuple[TrainedModel, dict[str, Any]],
    tmp_path: Path,
) -> None:
    creates = from_files(births(read_files(days[1])))
    first = registry.current()
    log_answers(registry, creates.slice(0, 3000), tmp_path / "log")
    second = registry.publish(learned[0].save, {**learned[1], "note": "another"})
    log_answers(registry, creates.slice(3000), tmp_path / "log")
    gone = Served(creates.slice(0, 7), {}, "20010101T000000Z-000000", "rules", "bounded")
    log_as(gone, tmp_path / "log")
    found = audit(registry, days[1], tmp_path / "log")
    by_version = {row["version"]: row["asked"] for row in found.joined if row["subject"] == "file"}
    assert by_version == {first: 3000, second: len(creates) - 3000}
    assert found.unknown == {"20010101T000000Z-000000": 7}


def test_the_command_tells_what_was_found_and_keeps_it(
    registry: Registry, days: list[Path], tmp_path: Path
) -> None:
    log_answers(registry, from_files(births(read_files(days[1]))), tmp_path / "log")
    options = ["--registry", registry.path, "--log", tmp_path / "log"]

    def run(*more: object) -> str:
        arguments = [str(each) for each in ("audit", days[1], *options, *more)]
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0
        return result.stdout

    text = run("--out", tmp_path / "page.html")
    line = next(line for line in text.splitlines() if line.startswith("bounds: holds "))
    assert "shown broken" in line
    cells = next(line for line in text.splitlines() if line.startswith("write-only "))
    assert cells.rstrip().endswith("shown broken")
    tables = text.partition("\nbounds: ")[0].splitlines()
    assert max(map(len, tables)) <= 80
    assert tables[0].startswith("Accuracy    ")
    assert "Train on newer days" in text
    assert "abstains from now on: write-only: 5.83% false positives since publication" in text
    assert "changed: first piece __init__: fewer, 5.25% of all files in training" in text
    page = (tmp_path / "page.html").read_text()
    assert page == (registry.path / "audits" / "day2.html").read_text()
    assert "<b>write-only</b> is never a yes until more outcomes allow it" in page
    assert f"<b>Standing:</b> {line.removeprefix('bounds: ')}." in page
    assert '<span class="standing shown-broken">shown broken</span>' in page
    report = json.loads(run("--json", "--match", "uid", "--tolerance", "0.5"))
    assert report["joining"] == {"tolerance": 0.5, "matched": ["uid"]}
    assert set(report["breaches"]) >= {"write-only"}


def test_without_a_log_or_files_an_audit_is_refused(
    registry: Registry, days: list[Path], tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError, match="expected a log of predictions"):
        audit(registry, days[1], tmp_path / "none")
    (tmp_path / "empty" / "ingests").mkdir(parents=True)
    (tmp_path / "log").mkdir()
    with pytest.raises(ValueError, match="expected a files table with rows, found none"):
        audit(registry, tmp_path / "empty", tmp_path / "log")


def test_unsure_is_never_wrong(found: Audit) -> None:
    rows = [row for row in found.figures.to_pylist() if row["n"]]
    for row in rows:
        assert 0 <= row["n_no"] + row["n_unsure"] <= row["n"]
        assert row["decided"] == pytest.approx(100 * (row["n"] - row["n_unsure"]) / row["n"])
        assert row["false_negatives"] == pytest.approx(100 * row["n_false_negative"] / row["n"])
    (often,) = (row for row in rows if row["predicate"] == "amtime>0")
    assert often["correct"] < often["guess"], "where unsure counts as no"
    assert often["right"] > often["guess"]


def test_a_log_from_before_there_were_three_answers_is_audited_without_them(
    registry: Registry, days: list[Path], tmp_path: Path
) -> None:
    creates = from_files(births(read_files(days[1])))
    given = served(load_model(registry), creates)
    log_as(replace(given, three_way={}), tmp_path / "log")
    rows = audit(registry, days[1], tmp_path / "log").figures.to_pylist()
    assert {row["decided"] for row in rows} == {row["no_standing"] for row in rows} == {None}
    assert all(row["correct"] is not None for row in rows if row["n"])


def test_predicates_of_users_are_served_and_audited_as_the_built_in_ones(
    days: list[Path], tmp_path: Path
) -> None:
    """A version that has an estimator, too: it is not loaded to serve, nor to audit."""
    asked = [FILE_PREDICATES["lock"], own_predicate("brief", "writes == 0 and lifespan <= 5")]
    files, names = (births(read(days[0])) for read in (read_files, read_names))
    model = TrainedModel().train(
        files, names, asked, kinds=["rules"], estimators={"tree": DecisionTreeClassifier()}
    )
    manifest = {"serve": "rules", "point": "bounded", "trained_on": {"datasets": ["day1"]}}
    registry = Registry(tmp_path / "registry")
    registry.publish(model.save, manifest | {"inputs": profile(files).to_json()})
    loaded = load_model(registry)
    assert loaded.trained.kinds == ("rules",)
    log_answers(registry, from_files(births(read_files(days[1]))), tmp_path / "log")
    found = {row["predicate"]: row for row in _figures(registry, days[1], tmp_path / "log")}
    assert set(found) == {"lock", "brief"}
    assert found["brief"]["n"] == found["lock"]["n"] > 5000
    assert found["brief"]["n_true_positive"] == found["lock"]["n_true_positive"] > 0


def _figures(registry: Registry, day: Path, log: Path) -> list[dict[str, Any]]:
    return audit(registry, day, log).figures.to_pylist()
