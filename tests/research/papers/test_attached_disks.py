"""The claims of Ma and Reddy.

Tests also research/papers/attached_draw.py, research/papers/attached_runs.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from birthmark.research.papers import attached_disks as paper
from birthmark.research.papers.attached_runs import MEMORIES, each_disk, measure, name, net, server
from birthmark.research.papers.run import judged

EXPECTED = {"C2": "fitted", "C11": "fitted", "C7": "not reproduced"}
"""All others are reproduced."""


@pytest.fixture(scope="module")
def figures() -> dict[str, float]:
    return measure(1, part=0.01)


def test_each_claim_takes_its_figures_from_a_run(figures: dict[str, float]) -> None:
    result = judged(paper.PAPER, [figures])
    assert [each.claim.name for each in result] == [f"C{number}" for number in range(1, 14)]
    assert {each.claim.name for each in result if each.verdict == "fitted"} == {"C2", "C11"}


def test_pictures_are_drawn_of_runs(figures: dict[str, float], tmp_path: Path) -> None:
    for path in paper.PAPER.draw([figures], tmp_path):
        assert b"</svg>" in path.read_bytes()


def test_equal_memory_is_as_in_the_paper() -> None:
    assert [each_disk(memory) for memory in MEMORIES] == [4, 8, 16, 32, 64, 128]


def made(changes: dict[str, float]) -> dict[str, float]:
    """Return figures of equal memory in which each gap is as given, by memory."""
    own = {}
    for memory in MEMORIES:
        own[f"{name('nfs', server(memory))}: response"] = 1.0
        gap = changes[str(memory)]
        own[f"{name('nfs', net(each_disk(memory)))}: response"] = 1.0 + gap
    return own


@pytest.mark.parametrize(
    ("gaps", "holds"),
    [
        ((0.6, 0.4, 0.3, 0.2, 0.1, 0.1), True),
        ((0.6, 0.4, 0.3, 0.2, 0.1, -0.1), False),
        ((0.6, 0.4, 0.5, 0.2, 0.1, 0.1), False),
        ((0.6, 0.55, 0.5, 0.4, 0.1, 0.1), False),
    ],
)
def test_the_gap_shrinks_to_32_mb_and_little_beyond(gaps: tuple[float, ...], holds: bool) -> None:
    result = made(dict(zip(map(str, MEMORIES), gaps, strict=True)))
    assert paper.gaps_shrink(paper.gaps(result)) is holds


def test_more_disks_must_help_both_and_those_on_the_network_more() -> None:
    assert paper.more_disks_help({"server": 1, "4 MB": 2, "8 MB": 3})
    assert not paper.more_disks_help({"server": 2, "4 MB": 1, "8 MB": 3})
    assert not paper.more_disks_help({"server": -1, "4 MB": 1, "8 MB": 3})


@pytest.mark.deep
def test_the_claims_come_out_as_the_page_says() -> None:
    """A third of the load is enough for each."""
    verdicts = {each.claim.name: each.verdict for each in judged(paper.PAPER, [measure(1, 0.3)])}
    assert verdicts == {each.name: EXPECTED.get(each.name, "reproduced") for each in paper.CLAIMS}
