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


def said(facts: Facts) -> list[tuple[str, str]]:
    return [(each.level, f"{each.about} {each.text}") for each in warnings(facts)]


def test_where_nothing_is_wrong_nothing_is_said(settings: Settings, model: LoadedModel) -> None:
    young = settings.model_copy(update={"stale_days": 1e6})
    assert warnings(Facts(young, model, None, Totals(), [], None, [])) == []


def test_no_model_and_why_comes_first(settings: Settings) -> None:
    counted = Totals(failed=1, shed=3, rows={"written": 9, "dropped": 2, "failed": 0})
    facts = Facts(settings, None, "damaged", counted, [], None, ["/x: expected an audit"])
    found = said(facts)
    assert [level for level, _ in found] == ["alarm"] * 2 + ["warning"] * 4
    assert "is loaded from" in found[0][1]
    assert "there is no other: damaged" in found[1][1]
    assert any(text.startswith("3 requests refused") for _, text in found)
    assert any(text.startswith("2 rows missing") for _, text in found)


def test_a_bound_that_was_missed_today_is_told_of_though_nothing_abstains(
    settings: Settings, model: LoadedModel
) -> None:
    figure = Figure(5000, 97.0, 90.0, 1.98, 1.0, Standing.ABOVE, 1.36, 2.84)
    now = datetime.now(UTC)
    audit = Audited("monday", now, ["home"], model.version, {"lock": figure}, {}, None, 0, 0)
    young = settings.model_copy(update={"stale_days": 1e6})
    assert said(Facts(young, model, None, Totals(), [audit], None, [])) == [
        (
            "warning",
            "The bound of lock is at most 1% false positives, of which there were 1.98% in monday:"
            " above it today, but not shown broken",
        )
    ]


def test_a_live_history_that_tells_nothing_is_warned_of(
    settings: Settings, model: LoadedModel
) -> None:
    young = settings.model_copy(update={"stale_days": 1e6})
    facts = Facts(young, model, None, Totals(), [], None, [])
    absent = SharedHistory(settings.registry / "history", 1, 1, 1).status()
    assert said(replace(facts, live=absent)) == [
        (
            "warning",
            "The live history tells nothing; answers rest on what their askers tell: There is no"
            " live history: no follower has made one.",
        )
    ]
    assert said(replace(facts, live={"why": None, "says": None})) == []


def test_a_night_that_failed_or_is_late_is_warned_of(
    settings: Settings, model: LoadedModel
) -> None:
    young = settings.model_copy(update={"stale_days": 1e6})
    facts = Facts(young, model, None, Totals(), [], None, [])
    now = datetime.now(UTC)
    assert said(replace(facts, night=night(now))) == []
    failed = night(now, outcome="failed", why="/srv: no room", succeeded=None)
    assert said(replace(facts, night=failed)) == [
        ("warning", "The last night failed; none has succeeded yet: /srv: no room")
    ]
    ((level, text),) = said(replace(facts, night=night(now - timedelta(days=3))))
    assert (level, text[:20]) == ("warning", "No night has succeed")
    assert text.endswith("Is the nightly run still started?")


def test_what_a_night_refused_and_a_disk_with_little_room_are_warned_of(
    settings: Settings, model: LoadedModel
) -> None:
    young = settings.model_copy(update={"stale_days": 1e6})
    facts = Facts(young, model, None, Totals(), [], None, [])
    last = night(datetime.now(UTC), did={**DID, "refused": 2}, free={"datasets": 1 << 30})
    refused, short = said(replace(facts, night=last))
    assert refused[1].startswith("2 traces or directories were refused by the last night")
    assert short[1] == "The disk of the datasets has room for less than 7 nights like the last one"


def test_an_old_model_and_what_it_does_not_promise_are_told(
    settings: Settings, model: LoadedModel
) -> None:
    card = {"bound": {"predicates": {"lock": {"abstains": True}, "size=zero": {"abstains": False}}}}
    old, never = warnings(Facts(settings, model, None, Totals(), [], card, []))
    assert (old.level, old.about) == ("warning", model.version)
    assert never == Concern(
        "note", "1 predicate is", "never a yes, since no threshold keeps the bound: lock"
    )
    forest = replace(model, kind="forest")
    assert "history" in said(Facts(settings, forest, None, Totals(), [], None, []))[1][1]
    accurate = replace(model, point="accurate")
    assert "promises none" in said(Facts(settings, accurate, None, Totals(), [], None, []))[1][1]
