"""A paper's page: every claim with the simulator's result, for people and programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from birthmark.research.papers.claims import Figures, Judged, Paper

HEADINGS = ("claim", "where", "says", "printed", "agrees", "simulated", "in runs", "verdict")


def rows(judged: Sequence[Judged]) -> list[tuple[str, ...]]:
    """Return a row of ``HEADINGS`` for each claim."""
    return [
        (
            each.claim.name,
            each.claim.where,
            each.claim.says,
            each.claim.printed,
            each.claim.tolerance,
            _values(each),
            f"{each.held} of {each.runs}",
            each.verdict,
        )
        for each in judged
    ]


def reasons(judged: Sequence[Judged]) -> list[str]:
    """Return why claims are not reproduced, and the data to which others were fitted."""
    explained = [each for each in judged if each.verdict != "reproduced"]
    return [f"{each.claim.name}: {each.claim.reason}" for each in explained if each.claim.reason]


def counted(judged: Sequence[Judged]) -> str:
    """Return the number of claims with each verdict, in words."""
    verdicts = [each.verdict for each in judged]
    counts = (
        f"{verdicts.count(word)} {word}" for word in ("reproduced", "not reproduced", "fitted")
    )
    return f"{len(judged)} claims: {', '.join(counts)}"


def as_json(paper: Paper, judged: Sequence[Judged], runs: Sequence[Figures]) -> dict[str, Any]:
    """Return a page as one object."""
    return {
        "paper": paper.number,
        "title": paper.title,
        "assumptions": list(paper.assumptions),
        "seeds": len(runs),
        "claims": [_claim(each) for each in judged],
        "figures": {name: [run[name] for run in runs] for name in runs[0]},
    }


def as_markdown(paper: Paper, judged: Sequence[Judged]) -> str:
    """Return a page as Markdown."""
    lines = [f"{paper.title}.", "", *(f"- {assumption}" for assumption in paper.assumptions), ""]
    lines += [_row(HEADINGS), _row(["---"] * len(HEADINGS))]
    lines += [_row(row) for row in rows(judged)]
    lines += ["", f"{counted(judged)}.", "", *(f"- {reason}" for reason in reasons(judged))]
    return "\n".join(lines).rstrip() + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _claim(each: Judged) -> dict[str, Any]:
    claim = each.claim
    return {
        "claim": claim.name,
        "where": claim.where,
        "says": claim.says,
        "printed": claim.printed,
        "agrees": claim.tolerance,
        "means": dict(each.means),
        "least": dict(each.least),
        "most": dict(each.most),
        "held": each.held,
        "runs": each.runs,
        "verdict": each.verdict,
        "reason": claim.reason if each.verdict != "reproduced" else "",
    }


def _values(each: Judged) -> str:
    return ", ".join(f"{label} {_short(value)}" for label, value in each.means.items())


def _short(value: float) -> str:
    """Return a number with three significant digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
