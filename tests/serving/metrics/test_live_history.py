from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.serving.metrics.live_history import STALE_REASONS
from birthmark.serving.metrics.metrics import Metrics
from birthmark.serving.settings import Settings
from birthmark_native import SharedHistory
from tests.serving.live_histories import CLOCK, HANDLE, OPERATIONS, Follower, whys
from tests.serving.metrics.test_metrics import samples

ASKED = {
    "name": {"name": "a.lock"},
    "caller": {"name": "a.lock", "uid": 7, "gid": 7, "client": "nas1"},
}
ASKED["directory"] = ASKED["caller"] | {"directory_handle": base64.b64encode(HANDLE).decode()}
"""A request for each history scope."""


@pytest.fixture
def follower(tmp_path: Path) -> Follower:
    return Follower(tmp_path / "run")


def metrics_of(path: Path) -> Metrics:
    """Return the metrics of a reader of a live history."""
    found = Metrics(stale_days=3)
    found.watch_live_history(SharedHistory(path, max_age=1e6, max_lag=2.0, max_loss=0.01))
    return found


def gauges(metrics: Metrics) -> dict[str, float]:
    """Return the metrics of the live history without labels, by name."""
    return {
        sample.name: sample.value
        for family in metrics.families()
        for sample in family.samples
        if sample.name.startswith("birthmark_live_") and not sample.labels
    }


def why(metrics: Metrics) -> dict[str, float]:
    return {word: value for (word,), value in samples(text(metrics), "birthmark_live_why").items()}


def text(metrics: Metrics) -> str:
    return metrics.text().decode()


def only(word: str | None) -> dict[str, float]:
    return {each: float(each == word) for each in STALE_REASONS}


def scopes(client: httpx.Client) -> dict[str, float]:
    counts = samples(client.get("/metrics").text, "birthmark_told_total")
    return {level: count for (level,), count in counts.items()}


def test_every_reason_of_the_reader_has_its_label() -> None:
    assert list(STALE_REASONS) == whys()


def test_the_state_of_the_follower_is_read_at_every_scrape(follower: Follower) -> None:
    follower.says(lag=0.5, loss=0.002)
    metrics = metrics_of(follower.path)
    found = gauges(metrics)
    assert 0 <= found.pop("birthmark_live_age_seconds") < 1000
    assert found == {
        "birthmark_live_told": 1,
        "birthmark_live_lag_seconds": 0.5,
        "birthmark_live_loss_ratio": 0.002,
        "birthmark_live_clock_time_seconds": CLOCK / 1e6,
        "birthmark_live_updates_total": 1,
        "birthmark_live_operations_total": OPERATIONS,
    }
    assert why(metrics) == only(None)
    entries = samples(text(metrics), "birthmark_live_kept")
    assert entries == {("keys",): 0, ("aliases",): 2}  # by its handle and by its path
    assert set(samples(text(metrics), "birthmark_live_gave_way_total").values()) == {0}
    follower.says(lag=2.5)
    found = gauges(metrics)
    assert (found["birthmark_live_told"], found["birthmark_live_lag_seconds"]) == (0, 2.5)
    assert found["birthmark_live_updates_total"] == 2
    assert why(metrics) == only("behind")


def test_an_absent_or_invalid_history_has_only_its_state(tmp_path: Path) -> None:
    (tmp_path / "zeros").write_bytes(bytes(1 << 16))
    (tmp_path / "zeros").chmod(0o600)
    for name, word in {"nothing": "absent", "zeros": "damaged"}.items():
        metrics = metrics_of(tmp_path / name)
        assert gauges(metrics) == {"birthmark_live_told": 0}
        assert why(metrics) == only(word)


def test_without_a_live_history_there_are_no_metrics_of_one() -> None:
    found = text(Metrics(stale_days=3))
    assert "birthmark_live" not in found
    assert samples(found, "birthmark_told_total") == {(each,): 0 for each in HISTORY_SCOPES}


def test_creates_are_counted_by_history_scope(
    settings: Settings,
    publish: Callable[..., str],
    served: Callable[..., Any],
    follower: Follower,
) -> None:
    publish(settings.registry, heat=True)
    follower.says()
    update = {"history": follower.path, "history_age": 1e6, "model": "forest"}
    settings = settings.model_copy(update=update)
    with served(settings) as client:
        for number, level in enumerate(["name", "caller", "directory"], 1):
            answer = client.post("/v1/predictions", json=[ASKED[level]] * number).json()
            assert {each["told"] for each in answer["predictions"]} == {level}
        assert scopes(client) == {"directory": 3, "caller": 2, "name": 1, "nothing": 0}
        page = client.get("/").text
        assert "In the same time 100.00% of 6 creates had a history." in page
        rows = re.findall(
            r'"row">(\w+)</th><td class="words">[^<]*</td><td>(\d+)</td><td>([^<]+)', page
        )
        assert rows == [
            ("directory", "3", "50.00%"),
            ("caller", "2", "33.33%"),
            ("name", "1", "16.67%"),
            ("nothing", "0", "0.00%"),
        ]
        assert client.post("/v1/hints", json={"name": "a.lock"}).is_success
        assert client.post("/v1/explanations", json={"name": "a.lock"}).is_success
        follower.says(state="stopped")
        assert client.post("/v1/predictions", content=in_arrow(5), headers=ARROW).is_success
        assert scopes(client) == {"directory": 3, "caller": 2, "name": 1, "nothing": 5}


ARROW = {"content-type": "application/vnd.apache.arrow.stream"}


def in_arrow(rows: int) -> bytes:
    table = pa.table({"name": [b"a.lock"] * rows})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def test_without_a_live_history_creates_have_no_scope(client: httpx.Client) -> None:
    before = scopes(client)
    assert client.post("/v1/predictions", json=ASKED["directory"]).is_success
    after = scopes(client)
    assert {level: after[level] - before[level] for level in HISTORY_SCOPES} == {
        "directory": 0,
        "caller": 0,
        "name": 0,
        "nothing": 1,
    }


@pytest.fixture
def in_two_threads(
    tmp_path: Path,
    publish: Callable[..., str],
    started: Callable[..., Any],
    follower: Follower,
) -> Iterator[Any]:
    publish(tmp_path / "registry")
    follower.says()
    live = ("--history", str(follower.path), "--history-age", "100000")
    options = ("--model", "forest", "--threads", "2", *live)
    with started(tmp_path / "registry", tmp_path, *options) as service:
        yield service


@pytest.mark.deep
def test_threads_sum_their_scopes(in_two_threads: Any, eventually: Callable[..., bool]) -> None:
    def scraped() -> tuple[dict[str, float], dict[tuple[str, ...], float]]:
        with in_two_threads.client() as client:
            return scopes(client), samples(client.get("/metrics").text, "birthmark_live_told")

    for number in range(20):
        with in_two_threads.client() as client:
            asked = ASKED["directory" if number % 4 else "name"]
            assert client.post("/v1/predictions", json=asked).is_success
    expected = ({"directory": 15, "caller": 0, "name": 5, "nothing": 0}, {(): 1})
    assert eventually(lambda: scraped() == expected)
    assert [scraped() for _ in range(10)] == [expected] * 10
