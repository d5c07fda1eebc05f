"""Counters of hooks come in reports, and are shown among the metrics."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from birthmark.serving.access import tokens
from birthmark.serving.metrics import hook_reports
from birthmark.serving.metrics.hook_reports import COUNTERS, HOOKS, HOOKS_OF_TOKEN
from birthmark.serving.metrics.metrics import Metrics
from birthmark.serving.service.service import MOST_PENDING
from birthmark.serving.settings import Settings


def samples(client: httpx.Client, name: str, *labels: str) -> dict[tuple[str, ...], float]:
    return {
        tuple(sample.labels[label] for label in labels): sample.value
        for family in text_string_to_metric_families(client.get("/metrics").text)
        for sample in family.samples
        if sample.name == name
    }


def report(client: httpx.Client, **body: Any) -> httpx.Response:
    return client.post("/v1/hints/report", json=body)


def test_counters_of_a_hook_are_shown_until_its_next_report(
    settings: Settings, served: Callable[..., Any]
) -> None:
    with served(settings) as client:
        first = {"asked": 7, "placed": 2**64 - 1, "refused": 1}
        for counters in (first, {"asked": 9, "placed": 3}):
            answer = report(client, host="nas1", device="/dev/birthmark", counters=counters)
            assert (answer.status_code, answer.content) == (204, b"")
        report(client, host="nas2", device="/dev/birthmark", counters={"asked": 1})
        assert samples(client, "birthmark_hook", "host", "device", "counter") == {
            ("nas1", "/dev/birthmark", "asked"): 9,
            ("nas1", "/dev/birthmark", "placed"): 3,
            ("nas2", "/dev/birthmark", "asked"): 1,
        }
        times = samples(client, "birthmark_hook_report_time_seconds", "host", "device")
        assert list(times) == [("nas1", "/dev/birthmark"), ("nas2", "/dev/birthmark")]


def hosts(client: httpx.Client) -> set[str]:
    """Return the hosts whose hooks are shown."""
    return {host for host, _ in samples(client, "birthmark_hook", "host", "counter")}


def refused(answer: httpx.Response) -> str:
    """Return why a report was refused."""
    assert answer.status_code == 409
    error = answer.json()["error"]
    assert error["type"] == "hook_refused"
    message: str = error["message"]
    return message


def test_beyond_the_limit_a_new_hook_only_replaces_a_silent_one(
    settings: Settings, served: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(settings) as client:
        for number in range(HOOKS):
            assert report(client, host=f"h{number}", device="d", counters={"asked": 1}).is_success
        assert f"at most {HOOKS} hooks" in refused(
            report(client, host="new", device="d", counters={"asked": 1})
        )
        assert report(client, host="h0", device="d", counters={"asked": 2}).is_success
        assert hosts(client) == {f"h{number}" for number in range(HOOKS)}
        monkeypatch.setattr(hook_reports, "QUIET_SECONDS", 0.0)
        assert report(client, host="new", device="d", counters={"asked": 1}).is_success
        assert hosts(client) == {"new", "h0", *(f"h{number}" for number in range(2, HOOKS))}


def test_hooks_of_one_token_do_not_replace_those_of_another(
    settings: Settings,
    settings_for: Callable[..., Settings],
    served: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "tokens.json"
    real, forger = (
        {"authorization": f"Bearer {tokens.add(file, name, ['report', 'read'])}"}
        for name in ("nas1", "forger")
    )
    one = {"device": "d", "counters": {"asked": 1}}
    with served(settings_for(settings.registry, tokens=file)) as client:

        def tell(headers: dict[str, str], host: str) -> httpx.Response:
            return client.post("/v1/hints/report", json={"host": host, **one}, headers=headers)

        assert tell(real, "nas1").is_success
        for number in range(HOOKS_OF_TOKEN):
            assert tell(forger, f"h{number}").is_success
        assert f"at most {HOOKS_OF_TOKEN} hooks" in refused(tell(forger, "another"))
        assert "another token reports of d on nas1" in refused(tell(forger, "nas1"))
        client.headers.update(real)
        assert hosts(client) == {"nas1", *(f"h{number}" for number in range(HOOKS_OF_TOKEN))}
        monkeypatch.setattr(hook_reports, "QUIET_SECONDS", 0.0)
        assert tell(forger, "nas1").is_success
        text = client.get("/metrics").text
    assert text.count('birthmark_hook{counter="asked",device="d",host="nas1"}') == 1


def test_reports_and_metrics_are_written_beside_the_event_loop_and_few_wait_for_them(
    settings: Settings, served: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow disk, or a slow metrics page, delays no other request."""
    held, entered = threading.Event(), threading.Semaphore(0)

    def slow(*_: object) -> bytes:
        entered.release()
        held.wait(30)
        return b""

    with served(settings) as client, ThreadPoolExecutor(2 * MOST_PENDING + 6) as pool:
        monkeypatch.setattr(hook_reports.Reports, "take", slow)
        monkeypatch.setattr(Metrics, "text", slow)
        one = {"host": "h", "device": "d", "counters": {}}
        asked = [pool.submit(report, client, **one) for _ in range(MOST_PENDING + 3)]
        asked += [pool.submit(client.get, "/metrics") for _ in range(MOST_PENDING + 3)]
        for _ in range(2):
            assert entered.acquire(timeout=30)
        shed = [each.result() for each in islice(as_completed(asked), 4)]
        assert client.get("/healthz").status_code == 200
        held.set()
        statuses = sorted(each.result().status_code for each in asked)
    assert {each.status_code for each in shed} == {503}
    assert statuses == [200] * (MOST_PENDING + 1) + [204] * (MOST_PENDING + 1) + [503] * 4


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"host": ""}, "host"),
        ({"host": 'a"b'}, "host"),
        ({"host": "h" * 65}, "host"),
        ({"device": "a\nb"}, "device"),
        ({"more": 1}, "more"),
        ({"counters": {"Asked": 1}}, "counters.Asked.[key]"),
        ({"counters": {"asked": -1}}, "counters.asked"),
        ({"counters": {"asked": 1.5}}, "counters.asked"),
        ({"counters": {"asked": 2**64}}, "counters.asked"),
        ({"counters": {f"c{n}": n for n in range(COUNTERS + 1)}}, "counters"),
    ],
)
def test_an_invalid_report_is_refused(
    client: httpx.Client, change: dict[str, Any], field: str
) -> None:
    good = {"host": "nas1", "device": "/dev/birthmark", "counters": {"asked": 1}}
    response = report(client, **(good | change))
    assert response.status_code == 422
    assert response.json()["error"]["field"] == field
