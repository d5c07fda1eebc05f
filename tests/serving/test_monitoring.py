"""The alert rules and the dashboard ask only for what the service tells."""

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
from birthmark.features.told import TOLD
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
def told(
    served: Callable[..., Any],
    publish: Callable[..., str],
    settings_for: Callable[..., Settings],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, dict[str, set[str]]]]:
    """Return the values of the labels of every metric of a service that was asked all it can be."""
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
    """Ask for all that is counted; return the metrics."""
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


def test_all_that_is_asked_for_is_told(told: dict[str, dict[str, set[str]]]) -> None:
    scraped = {"instance", "job", "le"}
    for expression in expressions():
        names = SELECTED.findall(expression)
        labels = {name.strip() for by in BY.findall(expression) for name in by.split(",")}
        for name, selected in names:
            assert name in told, expression
            of_name = set(re.findall(r"(\w+)=", selected))
            assert of_name | labels <= told[name].keys() | scraped, expression


def test_every_metric_is_on_the_dashboard(told: dict[str, dict[str, set[str]]]) -> None:
    shown = {
        name
        for panel in panels()
        for t in panel["targets"]
        for name in re.findall(r"birthmark_\w+", t["expr"])
    }
    of_histogram = {f"birthmark_request_seconds_{part}" for part in ("count", "sum", "bucket")}
    untold = {name for name in told if name.endswith("_created")}
    assert told.keys() - of_histogram - untold <= shown


def test_labels_of_metrics_are_closed_sets(told: dict[str, dict[str, set[str]]]) -> None:
    labels = {label: set() for known in told.values() for label in known}  # type: dict[str, set[str]]
    for known in told.values():
        for label, values in known.items():
            labels[label] |= values
    # What hooks report is bounded by their reporters, and told only by who may report.
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
    assert labels["told"] == set(TOLD)
    assert labels["why"] == set(whys())
    assert labels["what"] == {"keys", "aliases", *DID}
    assert labels["where"] == {"datasets", "registry"}
    assert labels["route"] >= {"other", "/v1/predictions"}
    every = set().union(*(labels[label] for label in labels.keys() - reported))
    assert not any(word in value for value in every for word in ("ada", "secret", "u1", "nas1"))


def test_alerts_say_what_is_wrong_and_what_to_do() -> None:
    for rule in rules():
        assert rule["labels"]["severity"] in ("info", "warning")
        assert rule["annotations"].keys() == {"summary", "description"}


def test_alerts_are_of_the_same_limits_as_the_page() -> None:
    by_name = {rule["alert"]: rule["expr"] for rule in rules()}
    assert by_name["BirthmarkNightLate"].endswith(f"> {LATE.total_seconds():g}")
    assert f" {NIGHTS} * birthmark_nightly_written_bytes" in by_name["BirthmarkDiskShort"]


def prometheus(*arguments: str | Path) -> None:
    """Run what comes with Prometheus, and show what it finds fault with."""
    promtool = needs.program("promtool", "prometheus")
    found = subprocess.run([promtool, *arguments], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.deep
def test_prometheus_takes_the_rules_and_they_fire(tmp_path: Path) -> None:
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


NOT_TOLD = {
    # by minute: whether it is told, why not (s: stale, a: absent), and for which reason it fires
    "for the first five minutes it does not": ("00000", "sssss", ""),
    "then it does": ("000000", "ssssss", "stale"),
    "whatever the reasons were": ("10000000", ".ssassaa", "absent"),
    "but not where it was told meanwhile": ("000010000", "ssss.ssss", ""),
    "and no longer once it is told": ("0000000001", "sssssssss.", ""),
}


@pytest.mark.deep
@pytest.mark.parametrize("case", NOT_TOLD)
def test_a_live_history_that_tells_nothing_for_five_minutes_is_alarming(
    tmp_path: Path, case: str
) -> None:
    told, whys, fired = NOT_TOLD[case]
    values = {
        "birthmark_live_told": told,
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
                "eval_time": f"{len(told) - 1}m",
                "exp_samples": expected if fired else [],
            }
        ],
    }
    path = tmp_path / "test.yml"
    path.write_text(yaml.safe_dump({"rule_files": [str(ALERTS)], "tests": [test]}))
    prometheus("test", "rules", path)
