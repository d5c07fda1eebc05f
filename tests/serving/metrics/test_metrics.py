"""Tests also serving/metrics/buckets.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from birthmark.serving.metrics.metrics import Metrics
from birthmark.serving.settings import Settings
from birthmark.training.registry.versions import Registry
from tests.builders.abstaining import abstain


def samples(text: str, name: str) -> dict[tuple[str, ...], float]:
    """Return the samples called `name`, by the values of their labels, sorted by label."""
    return {
        tuple(value for _, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


def test_requests_are_counted_and_timed_by_route_and_status(
    settings: Settings, publish: Callable[..., str], served: Callable[..., Any]
) -> None:
    publish(settings.registry)
    with served(settings) as client:
        for _ in range(3):
            client.post("/v1/predictions", json={"name": "a"})
        client.post("/v1/predictions", json={})
        client.get("/v1/predictions")
        for path in ("/one", "/two"):
            client.get(path)
        text = client.get("/metrics").text
    assert samples(text, "birthmark_request_seconds_count") == {
        ("/v1/predictions", "200"): 3,
        ("/v1/predictions", "422"): 1,
        ("/v1/predictions", "405"): 1,
        ("other", "404"): 2,
    }
    seconds = samples(text, "birthmark_request_seconds_sum")
    assert 0 < seconds["/v1/predictions", "200"] < 10


def test_answers_are_counted_by_predicate(
    settings: Settings, publish: Callable[..., str], served: Callable[..., Any]
) -> None:
    version = publish(settings.registry)
    with served(settings) as client:
        client.post("/v1/predictions", json={"name": "x.lock"})
        client.post("/v1/predictions", json=[{"name": "y.lock"}, {"name": "z.html"}])
        text = client.get("/metrics").text
    counts = samples(text, "birthmark_predictions_total")
    assert counts["yes", "lifespan<=1"] == 2
    assert counts["no", "lifespan<=1"] == 1
    assert samples(text, "birthmark_model_info") == {("name", version): 1}
    assert samples(text, "birthmark_model_loads_total") == {("loaded",): 1, ("failed",): 0}


def test_the_standing_of_each_bound_is_reported_after_the_first_audit(
    settings: Settings, publish: Callable[..., str], served: Callable[..., Any], eventually: Any
) -> None:
    publish(settings.registry)
    settings = settings.model_copy(update={"point": "bounded"})

    def known(client: Any) -> set[tuple[str, ...]]:
        standings = samples(client.get("/metrics").text, "birthmark_bound_standing")
        assert set(standings.values()) == {0, 1}
        return {labels for labels, value in standings.items() if value}

    with served(settings) as client:
        before = known(client)
        assert ("lifespan<=1", "not enough seen") in before
        assert {standing for _, standing in before} == {"not enough seen"}
        abstain(Registry(settings.registry), "lifespan<=1")
        assert eventually(lambda: ("lifespan<=1", "shown broken") in known(client))


def test_a_failure_counts_as_500(
    settings: Settings, publish: Callable[..., str], served: Callable[..., Any], monkeypatch: Any
) -> None:
    publish(settings.registry)
    with served(settings) as client:
        monkeypatch.delattr("birthmark.serving.app.routes._explained")
        client.post("/v1/explanations", json={"name": "a"})
        text = client.get("/metrics").text
    assert samples(text, "birthmark_request_seconds_count") == {("/v1/explanations", "500"): 1}


def test_the_age_of_a_stale_model_is_a_metric() -> None:
    assert b"birthmark_model_stale_seconds 172800.0" in Metrics(stale_days=2).text()


def test_two_applications_keep_their_metrics_apart() -> None:
    one, other = Metrics(stale_days=3), Metrics(stale_days=3)
    one.model_failed()
    assert b'outcome="failed"} 1.0' in one.text()
    assert b'outcome="failed"} 0.0' in other.text()
