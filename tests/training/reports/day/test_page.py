from __future__ import annotations

from dataclasses import replace

from birthmark.training.reports.day.page import render
from birthmark.training.reports.verdict import Verdict
from tests.training.reports.day.test_sentences import DAY, ROW, answer

VERDICT = Verdict("98.00% of its answers.", "", "Nothing: every bound holds.")


def test_the_page_has_the_sentences_before_the_tables() -> None:
    page = render(DAY, None, VERDICT, [answer("lock", 10, 0)], ["Nothing."])
    texts = [
        "<h1>2026-11-23</h1>",
        "86,400 operations in 24 hours",
        "There is no earlier day",
        "Accuracy of the model: 98.00% of its answers.",
        "A file is a lock: predicted for 10 of 1,000 files",
        "<li>Nothing.</li>",
        "<h2>Users</h2>",
        "<h2>Created files</h2>",
    ]
    places = [page.index(text) for text in texts]
    assert places == sorted(places)
    assert "<h2>Files</h2>" not in page, "a table without rows is left out"


def test_a_day_on_which_no_model_was_tested_says_so() -> None:
    assert "No published model was tested on this day." in render(DAY, None, None, [], ["Nothing."])


def test_a_directory_is_named_that_has_much_of_the_load_rather_than_all_above_it() -> None:
    rows = [
        {"name": name, **ROW, "ops": ops}
        for name, ops in (("/home", 80_000), ("/home/ann/src", 40_000), ("/home/ann/src/a", 900))
    ]
    page = render(replace(DAY, busiest={"directory": rows}), None, None, [], [])
    assert "The busiest directory was /home/ann/src:" in page


def test_names_of_files_are_text_and_never_markup() -> None:
    rows = [{"name": "/tmp/<script>alert(1)</script>", **ROW}]
    page = render(replace(DAY, busiest={"file": rows}), None, None, [], [])
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
