"""A paper's experiments, once per seed, and the judgement of its claims."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from joblib import Parallel, delayed

from birthmark.data.common.durable import write_text
from birthmark.research.papers import page
from birthmark.research.papers.claims import Figures, Judged, Paper, judge

PAPERS = {"000": "nfs_tricks", "003": "io_optimizations", "004": "attached_disks"}
"""The module of each paper in this folder."""


def paper(number: str) -> Paper:
    """Return a paper by its number, a key of ``PAPERS``."""
    found: Paper = import_module(f"birthmark.research.papers.{PAPERS[number]}").PAPER
    return found


def measure(number: str, seeds: int, jobs: int = 1) -> list[Figures]:
    """Run a paper's experiments with seeds from 1 to ``seeds``."""
    work = (delayed(_once)(number, seed) for seed in range(1, seeds + 1))
    return list(Parallel(n_jobs=jobs)(work))


def judged(of: Paper, runs: Sequence[Figures]) -> list[Judged]:
    """Return the result of each claim over the runs."""
    return [judge(claim, runs) for claim in of.claims]


def write(of: Paper, claims: Sequence[Judged], runs: Sequence[Figures], out: Path) -> None:
    """Write a paper's page and its pictures into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    pictures = of.draw(runs, out)
    text = page.as_markdown(of, claims)
    text += "".join(f"\n![{picture.stem}]({picture.name})\n" for picture in pictures)
    write_text(out / f"{of.number}.md", text)


def _once(number: str, seed: int) -> Figures:
    return paper(number).measure(seed)
