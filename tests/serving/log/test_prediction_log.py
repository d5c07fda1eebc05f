"""Tests also data/prediction_log.py, serving/log/."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data.anonymize import open_mapping
from birthmark.data.prediction_log import LogFiles
from birthmark.features.creates import from_requests
from birthmark.serving.log import prediction_log
from birthmark.serving.log.prediction_log import PredictionLog, Served


def rows_of(directory: Path) -> list[dict[str, Any]]:
    """Return the content of a log, by file name."""
    now = datetime.now(UTC)
    tables = LogFiles(directory).tables(now - timedelta(days=20000), now + timedelta(days=20000))
    return [row for table in tables for row in table.to_pylist()]


@contextmanager
def logging_to(directory: Path, **options: Any) -> Iterator[PredictionLog]:
    log = PredictionLog(directory, **options)
    log.start()
    try:
        yield log
    finally:
        log.close()


def resolve(asked: Any) -> Served:
    creates = from_requests([{"name": name, "uid": 7, "client": "10.0.0.7"} for name in asked])
    answers = {"lock": pa.array([name.endswith(b"lock") for name in asked])}
    return Served(creates, answers, "V", "rules", "bounded")


def without_answers(asked: Any) -> Served:
    return replace(resolve(asked), answers={})


def by_another(asked: Any) -> Served:
    return replace(resolve(asked), answers={"other": pa.array([True] * len(asked))}, model="W")


def counting() -> tuple[Counter[str], Callable[[str, int], None]]:
    """Return a counter of rows by outcome, and the function for a log to update it."""
    counted: Counter[str] = Counter()
    return counted, lambda outcome, rows: counted.update({outcome: rows})


def offer(log: PredictionLog, *names: bytes) -> None:
    for name in names:
        log.offer(resolve, name, 1, len(name))


def test_answers_are_logged_with_the_attributes_of_the_file(
    settings_for: Callable[..., Any],
    publish: Callable[..., str],
    served: Callable[..., Any],
    tmp_path: Path,
) -> None:
    version = publish(tmp_path / "registry", heat=True)
    settings = settings_for(tmp_path / "registry", log_predictions=tmp_path / "log")
    time = "2001-10-22T07:00:00Z"
    file = {"name": "a.lock", "mode": "0600", "uid": 5, "gid": 6, "client": "10.0.0.1"}
    with served(settings) as client:
        one = client.post("/v1/predictions", json={**file, "directory": "mail", "time": time})
        many = [{"name": 'x"predicates":{'}, {"name_base64": "/w=="}]
        client.post("/v1/predictions", json=many)
        client.post("/v1/hints", json={"name": "d", "is_directory": True})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, pa.schema([("name", pa.binary())])) as writer:
            writer.write_table(pa.table({"name": pa.array([b"b.lock", b"c.html"])}))
        arrow = {"content-type": "application/vnd.apache.arrow.stream"}
        client.post("/v1/predictions", content=sink.getvalue().to_pybytes(), headers=arrow)
        client.post("/v1/predictions", json={"name": ""})  # refused, so not served
    rows = rows_of(tmp_path / "log")
    assert sorted(row["name"] for row in rows) == sorted(
        [b"a.lock", b'x"predicates":{', b"\xff", b"d", b"b.lock", b"c.html"]
    )
    (first,) = (row for row in rows if row["name"] == b"a.lock")
    assert first["create_time"] == datetime.fromisoformat(time)
    logged = {name: first[name] for name in ("model", "kind", "point", "mode", "uid", "gid")}
    assert logged == {
        "model": version, "kind": "name", "point": "accurate", "mode": 0o600, "uid": 5, "gid": 6,
    }  # fmt: skip
    assert (first["client"], first["dir_name"]) == ("10.0.0.1", b"mail")
    assert abs(first["time"] - datetime.now(UTC)) < timedelta(minutes=5)
    answers = one.json()["prediction"]["predicates"]
    assert {key: "yes" if first[f"answer:{key}"] else "no" for key in answers} == answers
    (hint,) = (row for row in rows if row["name"] == b"d")
    assert (hint["point"], hint["answer:HotName"]) == ("hints", None)
    assert hint["answer:HotDir"] is not None


def test_only_owner_and_group_can_read_a_log(tmp_path: Path) -> None:
    """It contains file names."""
    with logging_to(tmp_path / "logs" / "log") as log:
        offer(log, b"a.lock")
    assert rows_of(tmp_path / "logs" / "log")
    assert (tmp_path / "logs" / "log").stat().st_mode & 0o007 == 0


def test_metrics_count_the_rows_of_the_log_by_outcome(
    settings_for: Callable[..., Any],
    publish: Callable[..., str],
    served: Callable[..., Any],
    tmp_path: Path,
) -> None:
    publish(tmp_path / "registry")
    settings = settings_for(tmp_path / "registry", log_predictions=tmp_path / "log")
    with served(settings) as client:
        text = client.get("/metrics").text
    assert 'birthmark_log_rows_total{outcome="dropped"} 0.0' in text


def test_requests_that_come_together_are_resolved_together_and_keep_their_times(
    tmp_path: Path,
) -> None:
    sizes = []

    def measured(asked: Any) -> Served:
        sizes.append(len(asked))
        return resolve(asked)

    log = PredictionLog(tmp_path / "log")
    for number in range(5):
        log.offer(measured, b"n%d" % number, 1, 2)
    log.start()
    log.close()
    assert sizes == [5]
    times = [row["time"] for row in rows_of(tmp_path / "log")]
    assert len(times) == 5
    assert times == sorted(times)


def test_rows_beyond_a_full_queue_are_dropped_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prediction_log, "QUEUE_BYTES", 3 * (prediction_log.OVERHEAD + 1))
    counted, tell = counting()
    log = PredictionLog(tmp_path / "log", tell=tell)
    offer(log, b"a", b"b", b"c", b"d", b"e")
    assert counted == {"dropped": 2}
    log.start()
    log.close()
    assert counted == {"dropped": 2, "written": 3}


def test_a_log_that_cannot_be_written_is_an_error_once_and_counts_every_row(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "log").write_text("a file where a directory should be")
    counted, tell = counting()
    with (
        caplog.at_level(logging.ERROR),
        logging_to(tmp_path / "log", rows=1, tell=tell) as log,
    ):
        for _ in range(3):
            log.offer(without_answers, b"a", 1, 1)
            log.offer(resolve, b"a", 1, 1)
    assert counted == {"failed": 6}
    assert len(caplog.records) == 1
    assert "served but not logged" in caplog.text


def test_a_request_that_cannot_be_resolved_costs_no_other_row(tmp_path: Path) -> None:
    def failing(asked: Any) -> Served:
        raise ValueError("no such body")

    counted, tell = counting()
    with logging_to(tmp_path / "log", tell=tell) as log:
        offer(log, b"a")
        log.offer(failing, b"b", 3, 1)
        offer(log, b"c")
    assert counted == {"written": 2, "failed": 3}
    assert [row["name"] for row in rows_of(tmp_path / "log")] == [b"a", b"c"]


def test_a_file_is_ended_when_it_is_full_or_the_model_changes(
    tmp_path: Path,
) -> None:
    with logging_to(tmp_path / "log", rows=2) as log:
        for names in ([b"a"], [b"b"], [b"c"]):
            log.offer(resolve, names[0], 1, 1)
        log.offer(by_another, b"d", 1, 1)
    files = [
        pq.read_table(path) for path in sorted((tmp_path / "log").rglob("*")) if path.is_file()
    ]
    assert [table["name"].to_pylist() for table in files] == [[b"a", b"b", b"c"], [b"d"]]


def test_only_files_beyond_the_retention_are_deleted(tmp_path: Path) -> None:
    old = tmp_path / "log" / "20010101"
    old.mkdir(parents=True)
    (old / "000000-1-0.parquet").touch()
    (old / ".000001-1-1.parquet.1.new").touch()
    (tmp_path / "log" / "20010102-notes").mkdir()
    with logging_to(tmp_path / "log", days=2) as log:
        offer(log, b"a")
    left = sorted(path.name for path in (tmp_path / "log").iterdir())
    assert len(left) == 2
    assert left[0] == "20010102-notes"


def test_names_users_and_clients_are_those_of_the_anonymized_trace(tmp_path: Path) -> None:
    with open_mapping(tmp_path / "mapping", seed=3) as file:
        expected = file.mapping.name(b"thesis.lock")
        file.save()
    with logging_to(tmp_path / "log", mapping=tmp_path / "mapping") as log:
        offer(log, b"thesis.lock", b"new.name")
    first, second = rows_of(tmp_path / "log")
    assert first["name"] == expected != b"thesis.lock"
    assert first["uid"] != 7
    assert first["client"] != "10.0.0.7"
    assert first["answer:lock"]
    with open_mapping(tmp_path / "mapping") as file:
        assert file.mapping.name(b"new.name") == second["name"]


def test_a_damaged_file_of_the_log_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    with logging_to(tmp_path / "log") as log:
        offer(log, b"a")
    (day,) = (tmp_path / "log").iterdir()
    (day / "damaged.parquet").write_bytes(b"PAR1 and no more")
    pq.write_table(pa.table({"time": [1]}), day / "other.parquet")
    files = LogFiles(tmp_path / "log")
    now = datetime.now(UTC)
    tables = list(files.tables(now - timedelta(hours=1), now + timedelta(hours=1)))
    assert sum(map(len, tables)) == 1
    assert {Path(path).name for path in files.damaged} == {"damaged.parquet", "other.parquet"}
    with pytest.raises(FileNotFoundError, match="expected a log"):
        list(LogFiles(tmp_path / "none").tables(now, now))
