"""Claims of a paper, what runs say of them, and the page that tells it.

Tests also research/papers/page.py, research/papers/run.py.
"""

from __future__ import annotations

from pathlib import Path

from birthmark.research.papers import Claim, Figures, Paper, judge
from birthmark.research.papers.claims import between, pick
from birthmark.research.papers.page import as_json, as_markdown
from birthmark.research.papers.run import judged, write

RUNS: list[Figures] = [{"a": 1.0, "b": 30.0}, {"a": 3.0, "b": 10.0}]


def claim(name: str, figure: str, least: float, most: float, fitted: bool = False) -> Claim:
    tolerance = f"{least} to {most}"
    holds = between(least, most)
    ours = pick(here=figure)
    return Claim(name, "Fig. 1", "a | b", "2", tolerance, ours, holds, fitted, "because")


PAPER = Paper(
    number="009",
    title="Nobody, Nothing",
    assumptions=("all of it",),
    claims=(claim("A1", "a", 2, 2), claim("A2", "a", 3, 4), claim("A3", "b", 0, 99, fitted=True)),
    measure=lambda seed: RUNS[seed % 2],
    draw=lambda runs, out: [],
)


def test_a_claim_is_reproduced_if_the_mean_of_the_runs_agrees() -> None:
    found = judge(PAPER.claims[0], RUNS)
    assert (found.verdict, found.held, found.runs) == ("reproduced", 0, 2)
    assert (found.means, found.least, found.most) == ({"here": 2}, {"here": 1}, {"here": 3})
    found = judge(PAPER.claims[1], RUNS)
    assert (found.verdict, found.held) == ("not reproduced", 1)


def test_fitted_claims_never_count_as_agreement() -> None:
    assert judge(PAPER.claims[2], RUNS).verdict == "fitted"


def test_a_page_tells_each_claim_and_why_it_fails(tmp_path: Path) -> None:
    result = judged(PAPER, RUNS)
    write(PAPER, result, RUNS, tmp_path)
    text = (tmp_path / "009.md").read_text()
    assert text == as_markdown(PAPER, result)
    assert "- all of it" in text
    assert "| A2 | Fig. 1 | a \\| b | 2 | 3 to 4 | here 2 | 1 of 2 | not reproduced |" in text
    assert "3 claims: 1 reproduced, 1 not reproduced, 1 fitted." in text
    assert "- A2: because" in text
    assert "A1: because" not in text


def test_programs_read_the_same() -> None:
    found = as_json(PAPER, judged(PAPER, RUNS), RUNS)
    assert [each["verdict"] for each in found["claims"]] == [
        "reproduced",
        "not reproduced",
        "fitted",
    ]
    assert found["figures"] == {"a": [1, 3], "b": [30, 10]}
    assert found["seeds"] == 2
