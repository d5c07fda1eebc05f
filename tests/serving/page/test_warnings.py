from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from birthmark.serving.models.loaded import LoadedModel
from birthmark.serving.page.audited import Audited, Figure
from birthmark.serving.page.totals import Totals
from birthmark.serving.page.warnings import Concern, Facts, warnings
from birthmark.serving.settings import Settings
from birthmark.training.statistics.standing import Standing
from birthmark_native import SharedHistory
from tests.builders.nights import DID, night

MANIFEST = {"created": "2020-01-01T00:00:00+00:00", "trained_on": {"generated": []}}


@pytest.fixture
def model(tmp_path: Path) -> LoadedModel:
    return LoadedModel("20200101T000000Z-abcdef", "rules", "bounded", MANIFEST, tmp_path)


def texts(facts: Facts) -> list[tuple[str, str]]:
    return [(each.level, f"{each.about} {each.text}") for each in warnings(facts)]


def test_without_faults_there_are_no_warnings(settings: Settings, model: LoadedModel) -> None:
    young = settings.model_copy(update={"stale_days": 1e6})
    assert warnings(Facts(young, model, None, Totals(), [], None, [])) == []


def test_a_missing_model_and_its_reason_come_first(settings: Settings) -> None:
    counted = Totals(failed=1, shed=3, rows={"written": 9, "dropped": 2, "failed": 0})
    facts = Facts(settings, None, "damaged", counted, [], None, ["/x: expected an audit"])
    concerns = texts(facts)
    assert [level for level, _ in concerns] == ["alarm"] * 2 + ["warning"] * 4
    assert "is loaded from" in concerns[0][1]
    assert "there is no other: damaged" in concerns[1][1]
    assert any(text.startswith("3 requests refused") for _, text in concerns)
    assert any(text.startswith("2 rows missing") for _, text in concerns)


def test_it_warns_of_false_positives_above_a_bound_though_nothing_abstains(
    settings: Settings, model: LoadedModel
) -> None:
    figure = Figure(5000, 97.0, 90.0, 1.98, 1.0, Standing.ABOVE, 1.36, 2.84)
    now = datetime.now(UTC)
    audit = Audited("monday", now, ["home"], model.version, {"lock": figure}, {}, None, 0, 0)
    young = settings.model_copy(update={"stale_days": 1e6})
    assert texts(Facts(young, model, None, Totals(), [audit], None, [])) == [
        (
            "warning",
            "The bound of lock is 1% false positives, and monday had 1.98%: above it today",
        )
    ]


def test_it_warns_of_a_live_history_that_is_not_used(
    settings: Settings, model: LoadedModel
) -> None:
    young = settings.model_copy(update={"stale_days": 1e6})
    facts = Facts(young, model, None, Totals(), [], None, [])
    absent = SharedHistory(settings.registry / "history", 1, 1, 1).status()
    assert texts(replace(facts, live=absent)) == [
        (
            "warning",
            "The live history is not used; answers use only the histories in requests: There is no"
            " live history: no follower has made one.",
        )
    ]
    assert texts(replace(facts, live={"why": None, "says": None})) == []


def test_it_warns_of_a_night_that_failed_or_is_late(settings: Settings, model: LoadedModel) -> None:
    young = settings.model_copy(update={"stale_days": 1e6})
    facts = Facts(young, model, None, Totals(), [], None, [])
    now = datetime.now(UTC)
    assert texts(replace(facts, night=night(now))) == []
    failed = night(now, outcome="failed", why="/srv: no room", succeeded=None)
    assert texts(replace(facts, night=failed)) == [
        ("warning", "The last night failed; none has succeeded yet: /srv: no room")
    ]
    ((level, text),) = texts(replace(facts, night=night(now - timedelta(days=3))))
    assert (level, text[:20]) == ("warning", "No night has succeed")
    assert text.endswith("Is the nightly run still scheduled?")


def test_it_warns_of_refused_traces_and_of_little_disk_space(
    settings: Settings, model: LoadedModel
) -> None:
    young = settings.model_copy(update={"stale_days": 1e6})
    facts = Facts(young, model, None, Totals(), [], None, [])
    last = night(datetime.now(UTC), did={**DID, "refused": 2}, free={"datasets": 1 << 30})
    refused, short = texts(replace(facts, night=last))
    assert refused[1].startswith("2 traces or directories were refused by the last night")
    assert short[1] == "The disk of the datasets has space for less than 7 nights like the last one"


def test_it_warns_of_an_old_model_and_of_missing_bounds(
    settings: Settings, model: LoadedModel
) -> None:
    card = {"bound": {"predicates": {"lock": {"abstains": True}, "size=zero": {"abstains": False}}}}
    old, never = warnings(Facts(settings, model, None, Totals(), [], card, []))
    assert (old.level, old.about) == ("warning", model.version)
    assert never == Concern("note", "1 predicate abstains", "as no threshold keeps the bound: lock")
    forest = replace(model, kind="forest")
    assert "history" in texts(Facts(settings, forest, None, Totals(), [], None, []))[1][1]
    accurate = replace(model, point="accurate")
    assert "which has none" in texts(Facts(settings, accurate, None, Totals(), [], None, []))[1][1]
