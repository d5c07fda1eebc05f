"""The picture of variants."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from birthmark.storage.what_if.calls import Survey
from birthmark.storage.what_if.compare import NOW, PARTS, Comparison, Variant
from birthmark.storage.what_if.drift import Drift
from birthmark.storage.what_if.fit import Fit
from birthmark.storage.what_if.held_out import METRICS, HeldOut, Row
from birthmark.storage.what_if.pictures import picture
from birthmark.storage.what_if.server import Server
from birthmark.storage.what_if.settings import WhatIfOptions

FIGURES = dict.fromkeys(METRICS, 100.0)


def variant(name: str, micros: float, part: str) -> Variant:
    figures = {"all": dict.fromkeys(METRICS, micros)}
    parts = {"all": dict.fromkeys(PARTS, 0.0) | {part: micros}}
    spread = {"all": dict.fromkeys(METRICS, 1.0)}
    return Variant(name, "", figures, spread, [micros] * 2, parts, {}, None, 1.0, [])


def comparison(*variants: Variant, calls: int = 1000) -> Comparison:
    survey = object.__new__(Survey)
    held_out = HeldOut([Row("all", calls, FIGURES, FIGURES | {"p95": 130.0})])
    return Comparison(
        Fit(survey, Server(), {}, held_out, 1000, Drift()), WhatIfOptions(), variants, 0.1
    )


def drawn(of: Comparison) -> str:
    found = picture(of)
    ElementTree.fromstring(found)
    return found


def test_it_names_variants_errors_and_only_the_parts_that_matter() -> None:
    found = drawn(comparison(variant("more", 50, "transfer"), variant(NOW, 100, "lock")))
    for result in ("more", NOW, "(off by 30%)", "(off by 0%)", PARTS["lock"]):
        assert f"<!-- {result} -->" in found, result
    assert PARTS["network"] not in found


def test_an_error_that_is_not_known_is_said() -> None:
    assert "error not known" in drawn(comparison(variant(NOW, 100, "lock"), calls=5))


def test_a_name_is_no_markup_and_the_same_variants_are_the_same_bytes() -> None:
    hostile = variant("--><script>alert(1)</script>", 1e6, "seek")
    of = comparison(variant(NOW, 100, "lock"), hostile)
    found = drawn(of)
    assert "<script" not in found
    assert found == picture(of)
    assert found != picture(replace(of, variants=[of.now()]))


def test_it_takes_the_colours_of_the_page_and_hides_no_bar_behind_the_band() -> None:
    found = drawn(comparison(variant("more", 50, "transfer"), variant(NOW, 100, "lock")))
    assert "#ffffff" not in found
    assert "#000000" not in found
    mean = found[found.index('id="axes_3"') :]
    assert mean.index("fill: var(--rule)") < mean.index("fill: #bbbbbb")
