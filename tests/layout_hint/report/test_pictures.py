"""The charts and the map of a comparison.

Tests also layout_hint/report/.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from birthmark.data.samples import DAYS
from birthmark.layout_hint import report
from birthmark.layout_hint.comparison.figures import Comparison
from birthmark.layout_hint.report import charts, disk_map
from birthmark.layout_hint.rewrite import build
from birthmark.layout_hint.settings import Options
from birthmark.layout_hint.study import study
from birthmark.predictor.allocation.verdicts import HINTS
from birthmark.predictor.image.format import plain_image
from birthmark.predictor.image.rules import ImageRule, RulesSection
from tests.layout_hint.report.made import SIZES, comparison, counts

ORANGE = np.array([0xD5, 0x5E, 0x00]) / 255


def words(svg: Path) -> list[str]:
    """The texts of a drawing: they are outlines, each with a comment."""
    return re.findall(r"<!-- (.*?) -->", svg.read_text())


@pytest.mark.parametrize("name", ["chart.svg", "chart.png"])
@pytest.mark.parametrize("chart", [charts.locality, charts.elapsed])
def test_the_same_chart_is_the_same_bytes(chart, name: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    chart(comparison(), "fresh", tmp_path / name)
    first = (tmp_path / name).read_bytes()
    chart(comparison(), "fresh", tmp_path / name)
    assert (tmp_path / name).read_bytes() == first


def test_the_chart_of_locality_names_days_policies_and_marks(tmp_path: Path) -> None:
    charts.locality(comparison(), "fresh", tmp_path / "a.svg")
    answer = words(tmp_path / "a.svg")
    assert answer.count("2001-10-23") == 2  # for each mode
    assert {"Default", "HotDir", "HotDir+HotName", "all three", "optimal", "thesis"} <= set(answer)
    assert "CAMPUS, fresh file system, 4 MB region, mode preferred" in answer
    assert "generated: campus, seed 7" in "\n".join(answer)


def test_the_thesiss_marks_are_there_only_where_it_has_figures(tmp_path: Path) -> None:
    for chart in (charts.locality, charts.elapsed):
        chart(comparison(), "fresh", tmp_path / "with.svg")
        chart(comparison("HOME"), "fresh", tmp_path / "without.svg")
        drawn = [(tmp_path / f"{each}.svg").read_text() for each in ("with", "without")]
        marks = [len(re.findall("<use[^>]*fill: #ffffff; stroke: #0072b2", each)) for each in drawn]
        # two days and two modes, each with three policies, or two and NVRAM; and one in the key
        assert marks == [12 + 1, 0]


@pytest.mark.deep
def test_the_map_shows_what_moved_into_the_region(tmp_path: Path) -> None:
    made = comparison(days=("2001-10-23",), modes=("reserved",))
    disk_map.draw(made, "2001-10-23", "fresh", "reserved", SIZES, tmp_path / "a.png")
    first = (tmp_path / "a.png").read_bytes()
    disk_map.draw(made, "2001-10-23", "fresh", "reserved", SIZES, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes() == first
    same = {key: counts("Default", 1) for key in made.heat}
    unmoved = dataclasses.replace(made, heat=same)
    disk_map.draw(unmoved, "2001-10-23", "fresh", "reserved", SIZES, tmp_path / "b.png")
    one, other = (imread(tmp_path / name)[..., :3] for name in ("a.png", "b.png"))
    assert one.shape == other.shape
    high, wide = one.shape[:2]
    zoom = slice(int(0.39 * high), int(0.49 * high))  # the region, below the writes' map
    left, right = slice(0, wide // 4), slice(3 * wide // 4, int(0.93 * wide))
    coloured = [
        (each[zoom, at].min(-1) < 0.6).sum() for each in (one, other) for at in (left, right)
    ]
    assert coloured[1] > 2 * coloured[0]  # all three, beside Default
    assert coloured[1] > 2 * coloured[3]  # and all three, had nothing moved
    assert (np.abs(one - ORANGE).max(-1) < 0.02).sum() > 1000  # the region is marked


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """What comes of the second bundled day, with locks hot and all directories."""
    folder = tmp_path_factory.mktemp("real")
    rules = [ImageRule("HotName", "last", b"lock", 1), ImageRule("HotDir", "any", b"", 1)]
    (folder / "hints.image").write_bytes(plain_image(HINTS, [RulesSection(rules)]))
    build([DAYS[1]], folder / "tuesday")
    options = Options(policies="HotDir+HotName", mode="reserved", seeds=1, cache="16M")
    return study([folder / "tuesday"], folder / "hints.image", options)


@pytest.mark.deep
def test_a_real_comparison_is_printed_and_drawn_whole(real: Comparison, tmp_path: Path) -> None:
    drawn = report.draw(real, tmp_path)
    names = ["locality-fresh.svg", "elapsed-fresh.svg", "map-tuesday-fresh-reserved.png"]
    assert [path.name for path in drawn] == names
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert len(report.tables(real)) == 2
    assert {"Default", "HotDir+HotName", "optimal"} <= set(words(drawn[0]))
    assert "NVRAM" in words(drawn[1])
    picture = imread(drawn[2])
    assert (picture[..., :3].min(-1) < 0.6).mean() > 0.005
