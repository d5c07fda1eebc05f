"""The alert rules and the dashboard use only metrics that the service has.

Tests also serving/metrics/last_night.py.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from birthmark import serving
from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.serving.settings import Settings
from birthmark.training.nightly.state import LATE, NIGHTS, STATE
from birthmark.training.registry.versions import Registry
from tests import needs
from tests.builders.nights import DID, night
from tests.serving.live_histories import Follower, whys

MONITORING = Path(serving.__file__).parent / "monitoring"
ALERTS = MONITORING / "alerts.yml"
SELECTED = re.compile(r"(birthmark_\w+)(?:\{([^}]*)\})?")
BY = re.compile(r"by \(([^)]*)\)")


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    dashboard = json.loads((MONITORING / "birthmark.json").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = dashboard["panels"]
    return found


def expressions() -> list[str]:
    asked = [target["expr"] for panel in panels() for target in panel["targets"]]
    return [*asked, *(rule["expr"] for rule in rules())]


@pytest.fixture(scope="module")
def metrics(
    served: Callable[..., Any],
    publish: Callable[..., str],
    settings_for: Callable[..., Settings],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, dict[str, set[str]]]]:
    """Return the label values of every metric of a service that got every kind of request."""
    directory = tmp_path_factory.mktemp("monitored")
    publish(directory / "registry", heat=True)
    Registry(directory / "registry").write(STATE, night(datetime.now(UTC)).to_json())
    follower = Follower(directory / "run")
    follower.says()
    settings = settings_for(
        directory / "registry",
        point="bounded",
        log_predictions=directory / "log",
        history=follower.path,
    )
    with served(settings) as client:
        yield samples(asked(client))


def asked(client: httpx.Client) -> str:
    """Send every kind of request; return the metrics."""
    assert client.post("/v1/predictions", json={"name": "u1.lock", "client": "nas1"}).is_success
    assert client.post("/v1/hints", json={"name": "app1.log"}).is_success
    assert client.get("/home/ada/secret.lock").status_code == 404
    report = {"host": "nas1", "device": "/dev/birthmark", "counters": {"asked": 1}}
    assert client.post("/v1/hints/report", json=report).is_success
    return client.get("/metrics").text


def samples(text: str) -> dict[str, dict[str, set[str]]]:
    found: dict[str, dict[str, set[str]]] = {}
    for name, labels in re.findall(r"^(birthmark_\w+)(?:\{(.*)\})? ", text, re.M):
        known = found.setdefault(name, {})
        for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
            known.setdefault(label, set()).add(value)
    return found


def test_every_metric_in_rules_and_dashboard_exists(
    metrics: dict[str, dict[str, set[str]]],
) -> None:
    scraped = {"instance", "job", "le"}
    for expression in expressions():
        names = SELECTED.findall(expression)
        labels = {name.strip() for by in BY.findall(expression) for name in by.split(",")}
        for name, selected in names:
            assert name in metrics, expression
            of_name = set(re.findall(r"(\w+)=", selected))
            assert of_name | labels <= metrics[name].keys() | scraped, expression


def test_every_metric_is_on_the_dashboard(metrics: dict[str, dict[str, set[str]]]) -> None:
    shown = {
        name
        for panel in panels()
        for t in panel["targets"]
        for name in re.findall(r"birthmark_\w+", t["expr"])
    }
    of_histogram = {f"birthmark_request_seconds_{part}" for part in ("count", "sum", "bucket")}
    creation_times = {name for name in metrics if name.endswith("_created")}
    assert metrics.keys() - of_histogram - creation_times <= shown


def test_labels_of_metrics_are_closed_sets(metrics: dict[str, dict[str, set[str]]]) -> None:
    labels = {label: set() for known in metrics.values() for label in known}  # type: dict[str, set[str]]
    for known in metrics.values():
        for label, values in known.items():
            labels[label] |= values
    # The labels of hooks are limited in number, and need the scope report.
    reported = {"host", "device", "counter"}
    assert labels.keys() - reported == {
        "answer",
        "hint",
        "kind",
        "le",
        "outcome",
        "predicate",
        "route",
        "standing",
        "status",
        "told",
        "version",
        "what",
        "where",
        "why",
    }
    assert labels["told"] == set(HISTORY_SCOPES)
    assert labels["why"] == set(whys())
    assert labels["what"] == {"keys", "aliases", *DID}
    assert labels["where"] == {"datasets", "registry"}
    assert labels["route"] >= {"other", "/v1/predictions"}
    every = set().union(*(labels[label] for label in labels.keys() - reported))
    assert not any(word in value for value in every for word in ("ada", "secret", "u1", "nas1"))


def test_alerts_have_a_summary_and_a_description() -> None:
    for rule in rules():
        assert rule["labels"]["severity"] in ("info", "warning")
        assert rule["annotations"].keys() == {"summary", "description"}


def test_alerts_have_the_same_limits_as_the_page() -> None:
    by_name = {rule["alert"]: rule["expr"] for rule in rules()}
    assert by_name["BirthmarkNightLate"].endswith(f"> {LATE.total_seconds():g}")
    assert f" {NIGHTS} * birthmark_nightly_written_bytes" in by_name["BirthmarkDiskShort"]


def prometheus(*arguments: str | Path) -> None:
    """Run Prometheus' promtool, and show its errors."""
    promtool = needs.program("promtool", "prometheus")
    found = subprocess.run([promtool, *arguments], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.deep
def test_prometheus_accepts_the_rules_and_they_fire(tmp_path: Path) -> None:
    prometheus("check", "rules", ALERTS)
    series = {
        "BirthmarkDown": 'up{job="birthmark"}',
        "BirthmarkModelTooOld": "birthmark_model_created_time_seconds",
        "BirthmarkNightFailed": 'birthmark_nightly_outcome{outcome="failed"}',
        "BirthmarkNightLate": "birthmark_nightly_succeeded_time_seconds",
        "BirthmarkNightRefused": 'birthmark_nightly_did{what="refused"}',
        "BirthmarkDiskShort": 'birthmark_nightly_free_bytes{where="datasets"}',
        "BirthmarkAbstaining": 'birthmark_abstaining{predicate="lock"}',
        "BirthmarkAboveBound": 'birthmark_bound_standing{standing="above it today"}',
        "BirthmarkHookSilent": 'birthmark_hook_report_time_seconds{host="a", device="b"}',
        "BirthmarkHintsDoHarm": 'birthmark_hook{host="a", device="b", counter="helper_harm"}',
    }
    of_one = (
        "BirthmarkNightFailed",
        "BirthmarkNightRefused",
        "BirthmarkAbstaining",
        "BirthmarkAboveBound",
        "BirthmarkHintsDoHarm",
    )
    values = dict.fromkeys(of_one, "1x6000")
    written = {"series": "birthmark_nightly_written_bytes", "values": "1x6000"}
    old = {"series": "birthmark_model_stale_seconds", "values": "259200x6000"}
    test = {
        "rule_files": [str(ALERTS)],
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": name, "values": values.get(alert, "0x6000")}
                    for alert, name in series.items()
                ]
                + [old, written],
                "promql_expr_test": [
                    {
                        "expr": "count by (alertname) (ALERTS{alertstate='firing'})",
                        "eval_time": "80h",
                        "exp_samples": [
                            {"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in series
                        ],
                    }
                ],
            }
        ],
    }
    path = tmp_path / "test.yml"
    path.write_text(yaml.safe_dump(test))
    prometheus("test", "rules", path)


UNUSED = {
    # by minute: whether it is used, why not (s: stale, a: absent), and the reason of the alert
    "no alert in the first five minutes": ("00000", "sssss", ""),
    "an alert after that": ("000000", "ssssss", "stale"),
    "an alert for changing reasons": ("10000000", ".ssassaa", "absent"),
    "no alert if it was used meanwhile": ("000010000", "ssss.ssss", ""),
    "no alert once it is used": ("0000000001", "sssssssss.", ""),
}


@pytest.mark.deep
@pytest.mark.parametrize("case", UNUSED)
def test_a_live_history_unused_for_five_minutes_raises_an_alert(tmp_path: Path, case: str) -> None:
    used, whys, fired = UNUSED[case]
    values = {
        "birthmark_live_told": used,
        'birthmark_live_why{why="stale"}': ["01"[why == "s"] for why in whys],
        'birthmark_live_why{why="absent"}': ["01"[why == "a"] for why in whys],
    }
    expected = [{"labels": f'{{alertname="BirthmarkNotTold",why="{fired}"}}', "value": 1}]
    test = {
        "interval": "1m",
        "input_series": [
            {"series": series, "values": " ".join(each)} for series, each in values.items()
        ],
        "promql_expr_test": [
            {
                "expr": "count by (alertname, why) (ALERTS{alertstate='firing'})",
                "eval_time": f"{len(used) - 1}m",
                "exp_samples": expected if fired else [],
            }
        ],
    }
    path = tmp_path / "test.yml"
    path.write_text(yaml.safe_dump({"rule_files": [str(ALERTS)], "tests": [test]}))
    prometheus("test", "rules", path)
