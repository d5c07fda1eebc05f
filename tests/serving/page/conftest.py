"""A service in a separate process, with a month of audits, and a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from birthmark.training.audit.figures import GROUPS, SERVED
from birthmark.training.audit.run import Audit, keep
from birthmark.training.audit.shifts import Shift
from birthmark.training.config import Matching
from birthmark.training.evaluate.assessment import assess
from birthmark.training.evaluate.distributions import distributions
from birthmark.training.evaluate.sensitivity import sensitivity
from birthmark.training.nightly.state import STATE
from birthmark.training.registry.versions import Registry
from birthmark.training.reports.day import render as render_day
from birthmark.training.reports.labels import DAY_HTML, REPORT
from birthmark.training.reports.report import render
from birthmark.training.reports.verdict import of_test
from tests import needs
from tests.builders.lives import files_of, names_of
from tests.builders.nights import night
from tests.serving.live_histories import Follower
from tests.serving.services import lives, trained
from tests.training.reports.day.test_sentences import DAY, ROW, answer

DAYS = 12
HOSTILE = "\"><img src=x onerror=alert(1)><script>alert(2)</script>'{{7*7}}"


def served(version: str, predicate: str, day: int) -> dict[str, Any]:
    """Return an audit's row for a predicate, which gets worse on the last days."""
    n = 5000 + 37 * day
    wrong = 20 + (day * 7 + len(predicate)) % 11
    if predicate == "lifespan<=1" and day > DAYS - 3:
        wrong = 450
    counts = {
        "n": n,
        "n_unknown": 40,
        "n_true": n // 4,
        "n_correct": n - wrong - 60 - 9 * (day % 4),
        "n_true_positive": n // 4 - 60,
        "n_false_positive": wrong,
    }
    row = dict.fromkeys(SERVED.names) | counts
    row |= {
        "version": version,
        "subject": "file",
        "predicate": predicate,
        "model": "name",
        "point": "bounded",
        "bound": 1.0,
        "correct": 100 * counts["n_correct"] / n,
        "decided": 100 * (n // 2) / n,
        "n_no": n // 4,
        "n_unsure": n - n // 2,
        "n_false_negative": 3,
        "false_negatives": 300 / n,
        "false_negative_bound": 1.0,
        "right": 98.0 - day / 10,
        "false_positives": 100 * wrong / n,
        "true_positives": 100 * counts["n_true_positive"] / n,
        "occurs": 25.0,
        "guess": 75.0,
        "false_positives_low": 0.8 * 100 * wrong / n,
        "false_positives_high": 1.2 * 100 * wrong / n,
        "block_seconds": 3600 if predicate != "write-only" else 2,
    }
    standing = "not enough seen" if predicate == "write-only" else "holds"
    return row | {"standing": "shown broken" if wrong == 450 else standing}


def audits(registry: Registry, version: str) -> None:
    """Store an audit of each of some days; on the last a bound is broken, and files changed."""
    first = datetime(2026, 11, 1, 23, 59, tzinfo=UTC)
    for day in range(DAYS):
        until, last = first + timedelta(days=day), day == DAYS - 1
        rows = [served(version, name, day) for name in ("size=zero", "lifespan<=1", "write-only")]
        found = Audit(
            f"home-{until:%Y%m%d}",
            until - timedelta(days=1),
            until,
            ["home"],
            version,
            Matching().joining(),
            pa.Table.from_pylist(rows, schema=SERVED),
            GROUPS.empty_table(),
            breaches={"lifespan<=1": "8.32% false positives, promised at most 1%"} if last else {},
            drift=[Shift("suffix", name, "new", 0.0, 7.5, 1e-9) for name in (".parquet", HOSTILE)]
            if last
            else [],
        )
        keep(registry, found)


def report() -> str:
    """Return the report on a test of a small model, on its day of training."""
    model, rows = trained("lock", heat=True), lives("lock")
    files, names = files_of(*rows), names_of(*({**row, "writes": 0} for row in rows))
    assessment = assess(model, files, names)
    served = [row for row in assessment.evaluation.to_pylist() if row["model"] == "name"]
    about = {"Trained on": {"Data": "monday"}, "Tested on": {"Data": HOSTILE}}
    tables = sensitivity(model, files, names), distributions(files)
    return render(about, of_test(served), "name", "bounded", assessment, *tables)


def day() -> str:
    """Return the page of a day with hostile names."""
    row = {**ROW, "name": HOSTILE}
    busiest = {"user": [{**ROW, "name": 1001}], "directory": [row], "file": [row]}
    hostile = replace(DAY, busiest=busiest, endings={HOSTILE[:16]: 1_000})
    return render_day(hostile, DAY, None, [answer("lock", 10, 0)], [HOSTILE])


@dataclass
class Site:
    """The service's URL, its published version, audits and live history."""

    url: str
    version: str
    audit: str
    follower: Follower


@pytest.fixture(scope="session")
def site(
    tmp_path_factory: pytest.TempPathFactory,
    publish: Callable[..., str],
    started: Callable[..., Any],
) -> Iterator[Site]:
    registry = tmp_path_factory.mktemp("page") / "registry"
    version = publish(registry, heat=True, card=True)
    audits(Registry(registry), version)
    Registry(registry).write(STATE, night(datetime.now(UTC)).to_json())
    Registry(registry).write(REPORT, report().encode())
    Registry(registry).write(DAY_HTML, day().encode())
    follower = Follower(registry.parent / "run", HOSTILE[:64])
    follower.says(lag=0.125, loss=0.0005)
    live = ("--history", str(follower.path), "--history-age", "100000")
    with started(registry, registry.parent, "--stale-days", "1000", *live) as service:
        with service.client() as client:
            for number in range(60):
                name = f"x{number}.lock" if number % 3 else f"page{number}.html"
                known = {} if number % 4 else {"uid": 7, "gid": 7, "client": "nas1"}
                asked = client.post("/v1/predictions", json={"name": name} | known)
                assert asked.status_code == 200
        yield Site(service.url, version, f"home-202611{DAYS:02d}", follower)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return Chromium; while it is held, this thread has a running loop of asyncio (Playwright).

    Other modules' tests must find none, so its scope is not the session.
    """
    chromium = needs.program("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Seen:
    """The requests and the console errors of pages in the browser."""

    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def seen() -> Seen:
    """Return the requests of the pages of a module's tests; other modules use other services."""
    return Seen()


@pytest.fixture
def page(browser: Browser, site: Site, seen: Seen) -> Iterator[Page]:
    """Return a tab whose requests and console errors are recorded."""
    page = browser.new_page(base_url=site.url, viewport={"width": 1100, "height": 900})
    page.set_default_timeout(120_000)
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("console", lambda message: seen.complaints.append(message.text))
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("dialog", lambda dialog: seen.complaints.append(dialog.message))
    yield page
    page.close()
