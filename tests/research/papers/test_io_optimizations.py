"""Hsu and Smith's claims: what agrees with them, and that experiments give what they compare.

Tests also research/papers/io_experiments.py, research/papers/io_figures.py,
research/papers/io_fits.py, research/papers/io_pictures.py, research/papers/io_reads.py,
research/papers/io_trends.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from birthmark.research.papers import Claim, Figures, judge
from birthmark.research.papers import io_experiments as experiments
from birthmark.research.papers.io_figures import figures
from birthmark.research.papers.io_fits import FITS, PRINTED
from birthmark.research.papers.io_optimizations import PAPER
from birthmark.research.papers.run import judged, measure, paper

CLAIMS: Mapping[str, Claim] = {claim.name: claim for claim in PAPER.claims}

AGREES: Mapping[str, Figures] = {
    "B1": {"poor": 4.49, "rich": 37.4},
    "B2": {"P_LFU": 33.8, "P_RA": 31.5, "P_CSP": 33.5, "S_LFU": 39.0, "S_RA": 47.7, "S_CSP": 53.7},
    "B4": {"LFU": 18.3, "RA": 26.7, "CSP": 22.2},
    "B5": {"response": 26.7, "late_response": 24.3, "service": 29.6, "late_service": 37.4},
    "B6": {"poor": 46.6, "rich": 51.1},
    "B7": {"poor": 93.8, "rich": 96.0},
    "B8": {"poor": 71.8, "rich": 86.2},
    "B9": {"reads_poor": 3.8, "reads_rich": 3.3, "writes_poor": 26.3, "writes_rich": 37.3},
    "B10": {"P": 17.8, "Pm": 26.6, "Sm": 38.3},
    "B11": {"response_8": 17.8, "response_16": 17.2, "service_8": 13.7, "service_16": 15.8},
    "B12": {"poor": 46.8, "rich": 40.0},
    "B14": {"reads_poor": 13.6, "reads_rich": 13.1, "writes_poor": 19.4, "writes_rich": 19.6},
    "B15": {"seek": 3.08, "rpm": 5.41, "linear": 7.08, "track": 3.42},
    "B16": {"areal": 9.31, "mechanical": 8.33, "all": 15.3},
    "B17": {"all": 15.3, "sum": 17.6},
    "B18": {"seek": 35.0, "rotation": 60.0},
    "B19": {"rotation": 35.0, "seek": 25.0, "transfer": 4.0, "processing": 4.0},
    "B20": {"seek": 45.0, "rotation": 35.0, "transfer": 10.0},
}
"""What is printed for each claim with numbers, which has to agree with itself."""


@pytest.mark.parametrize("name", AGREES)
def test_printed_values_agree_and_distant_ones_do_not(name: str) -> None:
    holds = CLAIMS[name].holds
    assert holds(AGREES[name])
    # All values with the other sign: far from each, and in the opposite order.
    assert not holds({label: -value for label, value in AGREES[name].items()})


@pytest.fixture(scope="module")
def run() -> Figures:
    """Return the figures of experiments with loads that are too short to agree."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments, "REQUESTS", 2_000)
        return figures(experiments.measure_all(1))


def test_every_claim_finds_what_it_compares(run: Figures) -> None:
    result = judged(PAPER, [run])
    assert [each.claim.name for each in result[:25]] == [f"B{number}" for number in range(1, 26)]
    assert all(each.means for each in result)


def test_gains_of_a_year_are_of_the_old_value_and_so_less_than_of_the_new_one(run: Figures) -> None:
    for year in experiments.YEARS:
        of_old, of_new = (run[f"year {year} service{of}"] for of in ("", " of new"))
        assert 0 < of_old < of_new < 1.3 * of_old


def test_fitted_figures_never_count(run: Figures) -> None:
    assert {judge(row, [run]).verdict for row in FITS} == {"fitted"}
    assert len(FITS) == 3 * len(PRINTED)


def test_the_pictures_are_drawn_the_same_each_time(run: Figures, tmp_path: Path) -> None:
    first = {path.name: path.read_bytes() for path in PAPER.draw([run], tmp_path)}
    assert sorted(first) == ["003-figures.svg", "003-techniques.svg", "003-years.svg"]
    assert first == {path.name: path.read_bytes() for path in PAPER.draw([run, run], tmp_path)}


def test_it_is_found_by_its_number() -> None:
    assert paper("003") is PAPER


@pytest.mark.deep
def test_stable_results_stay_reproduced() -> None:
    result = {each.claim.name: each for each in judged(PAPER, measure("003", 1))}
    for name in ("B5", "B7", "B9", "B19", "B23", "B24", "B25"):
        assert result[name].verdict == "reproduced"
