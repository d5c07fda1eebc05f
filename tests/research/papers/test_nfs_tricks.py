"""The claims of the NFS tricks: by a run of small files, and in depth as the page tells them.

Tests also research/papers/nfs_measure.py, research/papers/nfs_pictures.py,
research/papers/nfs_runs.py, research/papers/nfs_values.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from birthmark.research.papers import run
from birthmark.research.papers.claims import Claim, Figures, judge
from birthmark.research.papers.nfs_measure import MB, measure
from birthmark.research.papers.nfs_pictures import draw
from birthmark.research.papers.nfs_runs import LOCAL, nfs
from birthmark.research.papers.nfs_runs import run as run_once
from birthmark.research.papers.nfs_tricks import PAPER

REPRODUCED = {f"A{number}" for number in (*range(1, 9), *range(10, 16), 18, 21, 22)}
"""What every seed shows. The page has the means of ten seeds, which show A16 and A23, too."""


@pytest.fixture(scope="module")
def small() -> Figures:
    """Figures of files that have 32 MB together."""
    return measure(1, 32 * MB)


def claim(name: str) -> Claim:
    return next(own for own in PAPER.claims if own.name == name)


def test_every_claim_of_the_paper_is_judged(small: Figures) -> None:
    assert [own.name for own in PAPER.claims] == [f"A{number}" for number in range(1, 24)]
    result = run.judged(PAPER, [small])
    assert all(own.means for own in result)
    assert all(own.claim.reason for own in result if own.claim.name in ("A9", "A17", "A19", "A20"))


@pytest.mark.parametrize("name", ["A3", "A8", "A10", "A18", "A21"])
def test_small_files_show_it_already(small: Figures, name: str) -> None:
    assert judge(claim(name), [small]).verdict == "reproduced", judge(claim(name), [small]).means


def test_claims_fail_where_the_figures_say_otherwise(small: Figures) -> None:
    unfair = {name: 5.0 for name in small if name.startswith("done elevator")}
    assert judge(claim("A1"), [{**small, **unfair}]).verdict == "not reproduced"
    slow = {name: 1.0 for name in small if name.startswith("stride cursor")}
    assert judge(claim("A18"), [{**small, **slow}]).verdict == "not reproduced"
    alike = {"small default4 32": small["large default4 32"]}
    assert judge(claim("A23"), [{**small, **alike}]).verdict == "not reproduced"


def test_the_outer_quarter_of_a_drive_is_faster() -> None:
    rates = [run_once("ide", 1, LOCAL, partition=p, size=32 * MB)["rate"] for p in (1, 2, 3, 4)]
    assert rates == sorted(rates, reverse=True)


def test_the_network_costs_half_of_what_the_link_carries() -> None:
    local = run_once("ide", 1, LOCAL, readers=4, size=32 * MB)["rate"]
    assert run_once("ide", 1, nfs(1, "always"), readers=4, size=32 * MB)["rate"] < 0.7 * local


def test_pictures_show_means_over_the_runs(small: Figures, tmp_path: Path) -> None:
    files = draw([small, small], tmp_path)
    names = [f"000-{name}.svg" for name in ("drive", "queues", "network", "heuristics")]
    assert [file.name for file in files] == names
    assert "Figure 3" in files[1].read_text()


@pytest.mark.deep
def test_a_seed_says_what_the_page_says() -> None:
    result = run.judged(PAPER, run.measure("000", 1))
    reproduced = {own.claim.name for own in result if own.verdict == "reproduced"}
    assert reproduced >= REPRODUCED
