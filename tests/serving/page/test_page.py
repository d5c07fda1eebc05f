"""The page in a browser: Debian's headless Chromium, on a separate service.

With ``TEST_PICTURES`` naming a directory, screenshots are saved there.

Tests also serving/page/.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from birthmark.serving.page.routes import router
from birthmark.serving.settings import Settings
from birthmark.training.audit.figures import GROUPS, SERVED
from birthmark.training.audit.run import Audit, keep
from birthmark.training.config import Matching
from birthmark.training.registry.versions import Registry

HOSTILE = "\"><img src=x onerror=alert(1)><script>alert(2)</script>'{{7*7}}"

CONTRASTS = """() => {
  const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = c => c / 255 <= .04045 ? c / 255 / 12.92 : ((c / 255 + .055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => .2126 * light(r) + .7152 * light(g) + .0722 * light(b);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] === 1) return c;
    }
    return null;
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !e.getClientRects().length) continue;
    const style = getComputedStyle(e);
    const ink = parse(e.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const [a, b] = [luminance(ink), luminance(behind(e))].sort((x, y) => y - x);
    found.push([(a + .05) / (b + .05), walk.currentNode.data.trim()]);
  }
  return found.sort((x, y) => x[0] - y[0]);
}"""
"""The contrast of every text with its background (WCAG 2.2, 1.4.3), least first."""


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("TEST_PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_warnings_come_first_the_most_severe_on_top(page: Page, site: Any) -> None:
    page.goto("/")
    assert page.title() == "(2) Birthmark"
    assert page.locator("h2").first.inner_text() == "Warnings"
    listed = page.locator(".warnings li")
    assert re.fullmatch(
        r"Alarm lifespan<=1 is never a yes for now: 1,\d\d\d of 62,\d\d\d files got a wrong yes,"
        " more than the bound allows",
        " ".join(listed.nth(0).inner_text().split()),
    )
    drift = f"Drift of the created files, as of {site.audit}: suffix .parquet (new)"
    assert drift in listed.nth(1).inner_text()
    classes = [each.get_attribute("class") for each in listed.all()]
    assert classes == ["alarm", "warning", "note"]


def test_the_verdict_leads(page: Page) -> None:
    page.goto("/")
    lines = [each.inner_text() for each in page.locator(".verdict dd").all()]
    assert re.fullmatch(r"Accuracy when decided 96.\d\d%, coverage 49.99% of 16,221 .*", lines[0])
    assert lines[1].startswith("Always giving the majority answer is correct in 75.00% of")
    assert "In home-20261111: accuracy when decided" in lines[1]
    assert lines[2].startswith("Train on newer days: ")


def test_before_the_first_request_it_says_how_to_send_one(
    settings: Settings, publish: Callable[..., str], served: Callable[..., Any]
) -> None:
    publish(settings.registry)
    with served(settings) as client:
        text = client.get("/").text
        address = str(client.base_url).rstrip("/")
    assert f"curl -s {address}/v1/explanations" in text
    for part in ("traffic", "live", "yes"):
        section = text.partition(f'<h2 id="{part}">')[2].partition("</section>")[0]
        assert "<table" not in section
        assert "<figure" not in section
    assert "Log the predictions (--log-predictions)" in text


def test_it_shows_the_model_its_traffic_and_its_accuracy(page: Page, site: Any) -> None:
    page.goto("/")
    text = page.inner_text("main")
    assert site.version in text
    assert "60 requests for predictions and hints" in text
    row = page.locator("section[aria-labelledby=yes] tr", has_text="size=zero").first
    assert "66.67%" in row.inner_text()  # two of three were locks
    audited = page.locator("section[aria-labelledby=right]")
    assert audited.locator("figure line.promised").count() == 1
    broken = audited.locator("tr", has_text="lifespan<=1")
    assert broken.locator("svg line.promised").count() == 1
    assert "8.3" in broken.inner_text()
    assert broken.locator(".standing.shown-broken").inner_text() == "shown broken"
    assert audited.locator(".standing.holds").inner_text() == "holds"
    assert audited.locator(".standing.not-enough-seen").count() == 1
    assert "Bounds, by the newest audits: holds 1, not enough seen 1, shown broken 1." in text
    rules = page.locator("section[aria-labelledby=rules]")
    assert "20 of 20" in rules.locator("tr", has_text="lock$").first.inner_text()


def test_it_shows_the_state_of_the_last_night(page: Page) -> None:
    page.goto("/")
    text = page.locator("section[aria-labelledby=night]").inner_text()
    assert "after 60.0 min: all done" in text
    assert "12,345,678 operations of 24 traces; 0 refused, 1 pending" in text
    assert "40 GB; 200 GB free on the disk" in text


def test_before_the_first_night_none_is_shown(
    settings: Settings, publish: Callable[..., str], served: Callable[..., Any]
) -> None:
    publish(settings.registry)
    with served(settings) as client:
        assert "Last night" not in client.get("/").text


def test_before_the_first_audit_no_bound_holds(
    settings: Settings, publish: Callable[..., str], served: Callable[..., Any]
) -> None:
    publish(settings.registry)
    with served(settings) as client:
        text = client.get("/").text
    assert "<b>Bounds, by the newest audits:</b> nothing was audited yet." in text
    assert "every bound" not in text


def test_an_audit_without_joined_answers_has_a_message_and_no_charts(
    settings: Settings, publish: Callable[..., str], served: Callable[..., Any]
) -> None:
    version, until = publish(settings.registry), datetime(2026, 11, 2, tzinfo=UTC)
    period = until - timedelta(days=1), until
    empty = SERVED.empty_table(), GROUPS.empty_table()
    found = Audit("home", *period, ["home"], version, Matching().joining(), *empty)
    keep(Registry(settings.registry), found)
    with served(settings) as client:
        text = client.get("/").text
        audit = client.get("/audits/home").text
    assert "no answer could be joined to a file yet" in text.lower()
    section = text.partition('<h2 id="right">')[2].partition("</section>")[0]
    assert "No answer could be joined to a file that a trace shows in 1 audit" in section
    for part in (section, audit):
        assert "<table" not in part
        assert "<figure" not in part


def test_it_shows_the_state_of_the_follower_and_the_history_scopes(page: Page) -> None:
    page.goto("/")
    live = page.locator("section[aria-labelledby=live]")
    text = live.inner_text()
    # by a model that uses no histories
    assert "In the same time 0.00% of 60 creates had a history." in text
    assert "0.12 s behind the traffic (at most 5.00 s)" in text
    assert "1,234 since the follower began" in text
    assert "0.05% of the last minutes’ operations (at most 1.00%)" in text
    cells = [row.locator("th, td").all_inner_texts() for row in live.locator("tbody tr").all()]
    assert [[row[0], row[2], row[3]] for row in cells] == [
        ["directory", "0", "0.00%"],
        ["caller", "0", "0.00%"],
        ["name", "0", "0.00%"],
        ["nothing", "60", "100.00%"],
    ]
    picture(page, "live")


def test_it_warns_of_a_live_history_that_is_not_used(page: Page, site: Any) -> None:
    site.follower.says(lag=7.5)
    try:
        page.goto("/")
        assert page.title() == "(3) Birthmark"
        says = "The follower is too far behind the traffic."
        warned = f"The live history is not used; answers use only the histories in requests: {says}"
        assert warned in page.locator(".warnings li.warning").last.inner_text()
        text = page.inner_text("section[aria-labelledby=live]")
        assert f"It is not used, and answers use only the histories in requests. {says}" in text
        assert "7.50 s behind the traffic" in text
        picture(page, "stale")
    finally:
        site.follower.says(lag=0.125, loss=0.0005)


def test_without_a_live_history_it_says_how_to_get_one(
    settings: Settings, publish: Callable[..., str], served: Callable[..., Any]
) -> None:
    publish(settings.registry)
    with served(settings) as client:
        text = client.get("/").text
    assert '<h2 id="live">' not in text
    section = text.partition('<h2 id="next">')[2].partition("</section>")[0]
    assert "birthmark serve --history FILE" in section
    assert "is not used" not in text


def test_a_fresh_service_says_what_to_do_next_in_place_of_empty_sections(
    settings: Settings, served: Callable[..., Any]
) -> None:
    with served(settings) as client:
        text = client.get("/").text
    headings = re.findall(r'<h2 id="([a-z]+)"', text)
    assert headings == ["warnings", "ask", "model", "next"]
    section = text.partition('<h2 id="next">')[2]
    assert "/v1/explanations" in section
    assert "birthmark follow" in section
    assert "birthmark audit" in section


def test_the_page_of_the_newest_day_is_shown_or_reported_missing(
    settings: Settings, publish: Callable[..., str], served: Callable[..., Any]
) -> None:
    publish(settings.registry)
    with served(settings) as client:
        missing = client.get("/day")
        assert missing.status_code == 404
        assert "birthmark nightly" in missing.json()["error"]["message"]
        Registry(settings.registry).write("day.html", b"<h1>2026-11-23</h1>")
        assert client.get("/day").text == "<h1>2026-11-23</h1>"


def test_a_live_history_that_is_not_there_yet_has_no_figures(
    settings: Settings, publish: Callable[..., str], served: Callable[..., Any]
) -> None:
    publish(settings.registry)
    missing = settings.registry.parent / "run" / "history"
    with served(settings.model_copy(update={"history": missing})) as client:
        text = client.get("/").text
    assert text.count("There is no live history: no follower has made one.") == 2
    section = text.partition('<h2 id="live">')[2].partition("</section>")[0]
    assert "<dl>" not in section
    assert "No create was answered yet." in section
    assert "<table" not in section


def test_a_name_is_predicted_by_keyboard_alone(page: Page) -> None:
    page.goto("/")
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "name":
            break
    page.keyboard.type("new.lock")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?name=new.lock")
    row = page.locator("[role=status] tr", has_text="size=zero").first
    assert row.locator(".yes").inner_text() == "yes"
    assert "20 of 20 files" in row.inner_text()
    # a box that the keyboard cannot scroll cannot be read
    for each in page.locator(".scroll").all():
        assert each.get_attribute("tabindex") == "0"


def test_an_impossible_name_is_refused(page: Page) -> None:
    page.goto("/?name=a/b")
    assert "without /" in page.inner_text("#wrong")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read_in_light_and_in_dark(page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto("/?name=new.lock")
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 100
    assert contrasts[0][0] >= 4.5, contrasts[:5]
    picture(page, scheme)


def test_every_chart_names_its_axis_and_a_key_keeps_its_marks(page: Page) -> None:
    for path, names in {
        "/": {"time (UTC)", "last day audited (UTC)"},
        "/report": {
            *("minfrac", "share of answers", "score", "recall", "precision"),
            "observed frequency",
        },
    }.items():
        page.goto(path)
        charts = page.locator(".charts svg, svg.reliability").all()
        texts = [set(each.locator("text").all_text_contents()) for each in charts]
        assert charts
        assert names <= set().union(*texts)
        known = names | {"predicted probability", "misses as bad as a false positive"}
        assert all(each & known for each in texts)
    for key in page.locator(".keyed").all():
        assert len(key.evaluate("e => [...e.getClientRects()]")) == 1


def test_a_phone_need_not_scroll_sideways(page: Page, site: Any) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    for path in ("/?name=new.lock", "/report", "/day", f"/audits/{site.audit}", "/"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
    page.goto("/?name=new.lock")
    evidence = page.locator(".answer td.words").first.bounding_box()
    assert evidence is not None
    assert evidence["x"] + evidence["width"] <= 360, "no part of the evidence is cut"
    picture(page, "phone")


def test_a_hostile_name_is_shown_as_it_is(page: Page, seen: Any) -> None:
    page.goto("/")
    page.fill("#name", HOSTILE)
    page.press("#name", "Enter")
    page.wait_for_selector("[role=status]")
    assert page.input_value("#name") == HOSTILE
    assert HOSTILE in page.inner_text("section[aria-labelledby=drift]")
    assert HOSTILE[:64] in page.inner_text("section[aria-labelledby=live]")
    assert page.locator("script, img").count() == 0
    # other tests visit missing pages, which the browser reports
    assert [text for text in seen.complaints if "status of 404" not in text] == []


def test_links_work_and_nothing_comes_from_elsewhere(page: Page, site: Any, seen: Any) -> None:
    page.goto("/")
    links = {each.get_attribute("href") for each in page.locator("a").all()}
    wanted = {f"/models/{site.version}", "/report", "/day", f"/audits/{site.audit}"}
    assert wanted <= links
    for path in sorted(wanted):
        response = page.goto(path)
        assert response is not None
        assert response.status == 200
        # its style is applied, though no other is allowed
        assert (
            page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") == "1216px"
        )
    assert page.evaluate("document.styleSheets.length") == 1
    response = page.goto("/models/20010101T000000Z-abcdef")
    assert response is not None
    assert response.status == 404
    origins = {url.split("/")[2] for url in seen.requests if not url.startswith("data:")}
    assert origins == {site.url.split("/")[2]}
    # except the answer 404, which the browser reports
    assert [text for text in seen.complaints if "status of 404" not in text] == []


def test_its_paths_are_not_in_the_openapi_document() -> None:
    assert {route.path for route in router.routes} == {  # type: ignore[attr-defined]
        "/",
        "/report",
        "/day",
        "/models/{version}",
        "/audits/{name}",
    }
    assert not any(route.include_in_schema for route in router.routes)  # type: ignore[attr-defined]
