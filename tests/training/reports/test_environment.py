"""The template environment of all pages."""

from __future__ import annotations

from jinja2 import DictLoader

from birthmark.training.reports.environment import pages


def shown(value: str) -> str:
    return (
        pages(DictLoader({"page": "<b>{{ value }}</b>"})).get_template("page").render(value=value)
    )


def test_a_page_makes_no_markup_of_what_it_shows() -> None:
    assert shown("<i>") == "<b>&lt;i&gt;</b>"


def test_control_characters_are_escaped_on_a_page() -> None:
    assert shown("gpj.\u202exe\x1b") == r"<b>gpj.\u202exe\x1b</b>"
