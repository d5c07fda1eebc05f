"""Every page that is served, and what-if's report, at a desk and on a phone, light and dark.

With ``TEST_PICTURES`` naming a directory, screenshots are saved there.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from birthmark.data.samples import DAYS
from tests.serving.page.test_page import CONTRASTS, picture

pytestmark = pytest.mark.deep

PAGES = {
    "page": "/",
    "asked": "/?name=new.lock",
    "wrong": "/?name=a/b",
    "report": "/report",
    "day": "/day",
    "card": "/models/{version}",
    "audit": "/audits/{audit}",
    "missing": "/models/20010101T000000Z-abcdef",
    "nowhere": "/nowhere",
    "no-model": "{empty}",
    "no-request": "{fresh}",
    "what-if": "{what_if}",
}

CUT = """() => {
  const all = [...document.body.querySelectorAll("*")];
  const out = e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll");
  return all.filter(out).map(e => e.outerHTML.slice(0, 80));
}"""
"""Elements wider than the window, outside boxes that scroll."""

SCROLLED = """() => [...document.querySelectorAll(".scroll")]
  .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.ariaLabel)"""
"""The boxes that need scrolling."""

CONTROLS = """() => [...document.querySelectorAll("a[href], button, input, summary, [tabindex]")]
  .filter(e => e.checkVisibility()).length"""

FOCUSED = """() => {
  const e = document.activeElement, style = getComputedStyle(e);
  if (e === document.body) return null;
  window.seen ??= new Map();
  if (!seen.has(e)) seen.set(e, seen.size);
  return [seen.get(e), style.outlineStyle, e.matches(".scroll") && !e.ariaLabel];
}"""
"""The number of the focused element, how the focus is shown, and whether a name is missing."""


@pytest.fixture(scope="module")
def places(
    site: Any,
    tmp_path_factory: pytest.TempPathFactory,
    publish: Callable[..., str],
    started: Callable[..., Any],
) -> Iterator[dict[str, str]]:
    """Return the URLs of the pages, also of services without a model or without requests."""
    folder = tmp_path_factory.mktemp("places")
    for name in ("empty", "fresh"):
        (folder / name / "registry").mkdir(parents=True)
    variant = ("--try", "write_buffer=64M", "--calls", "2000", "--seeds", "2")
    for words in (
        ("ingest", DAYS[0], "--out", folder / "day"),
        ("storage", "what-if", folder / "day", *variant, "--out", folder),
    ):
        subprocess.run([sys.executable, "-m", "birthmark", *words], check=True, capture_output=True)
    publish(folder / "fresh" / "registry", card=True)
    with (
        started(folder / "empty" / "registry", folder / "empty", wait=False) as empty,
        started(folder / "fresh" / "registry", folder / "fresh") as fresh,
    ):
        yield {
            "version": site.version,
            "audit": site.audit,
            "empty": empty.url,
            "fresh": fresh.url,
            "what_if": (folder / "what-if.html").as_uri(),
        }


@pytest.fixture(params=[1280, 390], ids=["desk", "phone"])
def width(request: pytest.FixtureRequest) -> int:
    found: int = request.param
    return found


@pytest.fixture(params=["light", "dark"])
def tab(
    request: pytest.FixtureRequest, browser: Browser, site: Any, width: int
) -> Iterator[tuple[Page, str]]:
    scheme: Any = request.param
    page = browser.new_page(
        base_url=site.url, viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    page.set_default_timeout(120_000)
    yield page, f"{width}-{scheme}"
    page.close()


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_cut_all_can_be_read_and_nothing_comes_from_elsewhere(
    tab: tuple[Page, str], places: dict[str, str], name: str, width: int
) -> None:
    page, kind = tab
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(PAGES[name].format(**places))
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CUT) == []
    if width == 1280:
        assert page.evaluate(SCROLLED) == []
    contrasts = page.evaluate(CONTRASTS)
    assert contrasts[0][0] >= 4.5, contrasts[:5]
    picture(page, f"{name}-{kind}")
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(page.url).netloc}


@pytest.mark.parametrize("name", PAGES)
def test_every_control_is_reached_by_keyboard_and_shows_that_it_has_the_focus(
    page: Page, places: dict[str, str], name: str
) -> None:
    page.goto(PAGES[name].format(**places))
    controls = page.evaluate(CONTROLS)
    reached = set()
    for _ in range(controls):
        page.keyboard.press("Tab")
        number, outline, nameless = page.evaluate(FOCUSED)
        assert (outline != "none", nameless) == (True, False)
        reached.add(number)
    assert len(reached) == controls > 0
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) is None


def test_a_wide_table_shows_that_it_scrolls_until_its_end(page: Page, site: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto("/report")
    wide = page.locator(".scroll", has=page.locator("th:text('Predicted')")).first
    says = "e => getComputedStyle(e, '::before').height"
    assert wide.evaluate(says) == "20px"
    page.set_viewport_size({"width": 1280, "height": 900})
    assert wide.evaluate(says) == "0px"
