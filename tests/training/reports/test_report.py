"""Tests also training/evaluate/assessment.py, training/reports/labels.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pytest

from birthmark.training.config import Settings
from birthmark.training.evaluate.assessment import Assessment, assess
from birthmark.training.evaluate.breakdown import BREAKDOWN
from birthmark.training.evaluate.curves import CURVES
from birthmark.training.evaluate.distributions import distributions
from birthmark.training.evaluate.evaluation import EVALUATION, score
from birthmark.training.evaluate.sensitivity import SENSITIVITY, sensitivity
from birthmark.training.learn.train import Lives, train
from birthmark.training.reports.labels import TITLES
from birthmark.training.reports.report import render
from birthmark.training.reports.verdict import Verdict

Make = Callable[..., Any]
Days = list[tuple[pa.Table, pa.Table]]

VERDICT = Verdict("9 of 10.", "A guess: 8.", "Nothing.")
ABOUT = {"Trained on": {"Data": "monday"}, "Tested on": {"Data": "<b>tuesday</b>"}}


class Page(HTMLParser):
    """A page as a browser parses it: its elements, text, and table rows."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.open += [tag] if tag not in ("meta", "br") else []
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        self.text += data
        if {"th", "td"} & set(self.open) and "svg" not in self.open:
            self.rows[-1][-1] += data.strip()

    def row(self, first: str, last: str = "") -> list[str]:
        return next(row for row in self.rows if row and row[0] == first and row[-1].endswith(last))


@pytest.fixture(scope="module")
def html(days: Days) -> str:
    model, _ = train(Lives(("monday",), *days[0]), Settings(trees=4, rounds=2))
    return render(
        ABOUT,
        VERDICT,
        "rules",
        "bounded",
        assess(model, *days[1]),
        sensitivity(model, *days[1]),
        distributions(days[1][0]),
    )


def one_result(correct: int, guess: bool, kind: str = "name") -> dict[str, Any]:
    """Return a model's results on 100 rows, 60 of them true."""
    truth = pa.array([True] * 60 + [False] * 40)
    answers = pa.array([row < 60 if row < correct else row >= 60 for row in range(100)])
    head = {"subject": "file", "predicate": "lock", "model": kind, "point": "accurate"}
    return {**head, **score(truth, answers, guess)}


def page_of(rows: list[dict[str, Any]], files: pa.Table) -> Page:
    evaluation = pa.Table.from_pylist(rows, schema=EVALUATION)
    assessment = Assessment(evaluation, CURVES.empty_table(), BREAKDOWN.empty_table())
    served = rows[-1]["model"] if rows else "able"
    tables = assessment, SENSITIVITY.empty_table(), distributions(files)
    return Page(render({}, None, served, "bounded", *tables))


def test_the_verdict_comes_first_and_what_is_served_before_the_others(html: str) -> None:
    order = [html.index(each) for each in ("<h1>", "9 of 10.", "Nothing.", "Trained on", "<table")]
    assert order == sorted(order)
    first, *others = re.split("<details>", html)
    assert len(others) >= 3
    assert "Name model" not in re.sub("<svg.*?</svg> Name model", "", first, flags=re.S)


def test_every_predicate_has_its_row_of_what_is_served_and_one_of_all_models(html: str) -> None:
    page = Page(html)
    head = ["size=zero", "33.33%", "66.67%"]
    assert page.row("size=zero", last="0") == [*head, "100.00%", "100.00%", "0.00%", "60", "0"]
    for shown in ("100.00%", "0.00%"):
        assert [*head, *[shown] * len(TITLES)] in page.rows


def test_the_better_model_and_those_worse_than_the_guess_are_marked(
    files_of: Make,
) -> None:
    page = page_of([one_result(55, True), one_result(70, True, "able")], files_of())
    body = [value for name, value in page.attributes if name == "class"]
    # Once in each key; in the table of all models.
    assert body.count("worse") == 3
    assert body.count("best") == 2
    page = page_of([one_result(70, True), one_result(70, True, "able")], files_of())
    body = [value for name, value in page.attributes if name == "class"]
    assert (body.count("worse"), body.count("best")) == (2, 1)


def test_the_page_draws_the_thesiss_sensitivity_charts_and_lists_all_predicates(
    html: str,
) -> None:
    """Tables 6.9 to 6.11 are about four predicates of files, 6.12 to 6.14 about two of names."""
    page = Page(html)
    charts = [value for name, value in page.attributes if name == "aria-label" and value]
    charted = [re.sub(r".*for ", "", label) for label in charts if "over minfrac" in label]
    assert charted == [
        *("lock of files", "size=zero of files", "0<size<=16k of files", "lifespan<=5 of files"),
        *("lock of names", "lifespan<=5 of names"),
    ]
    assert ["", "0.97"] in [row[:2] for row in page.rows]
    assert ["read-onlyof files", "0.75"] in [row[:2] for row in page.rows]


def test_box_plots_tell_their_numbers(html: str) -> None:
    titles = [value for name, value in Page(html).attributes if name == "aria-label" and value]
    assert any(re.match(r"least 900 B, 5% 900 B, .* greatest 900 B$", title) for title in titles)
    assert any(re.match(r"least 1 min, .* median 1 min, ", title) for title in titles)


def test_names_cannot_become_part_of_the_page(life: Make, files_of: Make) -> None:
    """Names are whatever a client wrote: bytes, control characters, markup."""
    files = files_of(
        life(b"<script>alert(1)</script>"),
        life(b'a."onload="alert(1)'),
        life(b"\xff\xfe\x1b[31m"),
        life("\u202egnp.exe".encode()),
    )
    page = page_of([one_result(70, True)], files)
    assert "script" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert page.row("<script>alert(1)</script>")
    assert page.row('*."onload="alert(1)')
    assert page.row(r"\xff\xfe\x1b[31m")
    assert "\u202e" not in page.text


def test_the_description_of_the_data_is_text(html: str) -> None:
    assert "<b>tuesday</b>" in Page(html).text


def test_the_page_needs_nothing_but_itself(html: str) -> None:
    page = Page(html)
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name in ("src", "href", "srcset")]
    assert "url(" not in html
    assert "@import" not in html


@pytest.mark.deep
def test_the_same_input_gives_the_same_page(html: str, days: Days) -> None:
    model, _ = train(Lives(("monday",), *days[0]), Settings(trees=4, rounds=2))
    tables = (assess(model, *days[1]), sensitivity(model, *days[1]))
    same = render(ABOUT, VERDICT, "rules", "bounded", *tables, distributions(days[1][0]))
    assert same == html


def test_a_period_without_files_still_gives_a_page(files_of: Make) -> None:
    page = page_of([], files_of())
    assert "Accuracy" in page.text
    assert "Sizes and lifespans" not in page.text


def test_the_page_shows_the_bounded_operating_point_standings_and_abstentions(
    html: str, files_of: Make
) -> None:
    assert "at most 1.00% of all files" in Page(html).text
    promised = {"point": "bounded", "bound": 1.0, "blocks": 20, "block_seconds": 60, "seed": 1}
    broken = {**one_result(70, True), **promised, "abstained": False, "standing": "shown broken"}
    silent = {**one_result(40, True, "able"), **promised, "abstained": True}
    page = page_of([broken, silent], files_of())
    labels = [value for name, value in page.attributes if name == "aria-label"]
    assert "lock, true positives 60.00%, observed frequency 60.00%" in labels
    text = " ".join(page.text.split())
    first, others = text.split("The other kinds of model, which are not served")
    assert "Standing of its bounds: there is no bound." in first
    assert "It abstains from lock." in first
    assert "Name model Standing of its bounds: shown broken 1." in others
    assert "lock 30.00% false positives, bound 1.00%: shown broken" in others
    assert "standing shown-broken" in [v for name, v in page.attributes if name == "class"]
    assert "20 blocks of 1 min (seed 1)" in text


def test_the_page_draws_curves_and_has_accuracy_by_group(html: str) -> None:
    page = Page(html)
    labels = [value for name, value in page.attributes if name == "aria-label" and value]
    for chart in ("Calibration", "Precision over recall", "Cost by the price of a false positive"):
        assert f"{chart} of lock" in labels
    assert "By user" in page.text
    assert "By depth" in page.text
