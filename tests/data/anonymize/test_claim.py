"""The claim: models of name components are right exactly as often on the anonymized trace.

The forest is not: it looks at lengths, digits and shapes of names, which anonymizing takes away.

Tests also data/anonymize/run.py.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from birthmark.data.anonymize import Settings as Keep
from birthmark.data.anonymize import anonymize
from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.training.config import Settings
from birthmark.training.evaluate.evaluation import evaluate
from birthmark.training.learn.train import read_lives, train

pytestmark = pytest.mark.deep

SMALL = {"trees": 4, "rounds": 2}
"""Parameters of the forest, which is not under test here."""

COMPONENTS = pa.array(["name", "able", "rules"])
"""The kinds of models that know names by their components alone."""


def figures(days: list[Path], settings: Settings) -> pa.Table:
    """Train on the first day, test on the second: every figure of every predicate and model."""
    model, _ = train(read_lives([days[0]], settings.without_loss), settings)
    return evaluate(model, read_files(days[1]), read_names(days[1]))


def of_components(table: pa.Table) -> pa.Table:
    """Return the figures of the models of name components, at both thresholds."""
    own = table.filter(pc.is_in(table["model"], COMPONENTS))
    assert len(own) == len(COMPONENTS) * 2 * (20 + 5)
    return own


def forest_correct(table: pa.Table) -> float:
    """Return the forest's accuracy in percent, over all predicates."""
    own = table.filter(pc.equal(table["model"], "forest"))
    return float(pc.mean(own["correct"]).as_py())


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("original")
    for day in DAYS:
        ingest([day], root / day.stem)
    return [root / day.stem for day in DAYS]


@pytest.fixture(scope="module")
def before(originals: list[Path]) -> pa.Table:
    return figures(originals, Settings(**SMALL))


@pytest.mark.parametrize("way", ["tables", "operations"])
def test_every_figure_is_the_same(
    originals: list[Path], before: pa.Table, tmp_path: Path, way: str
) -> None:
    sources = {"tables": originals, "operations": DAYS}[way]
    days = [tmp_path / day.stem for day in DAYS]
    for source, day in zip(sources, days, strict=True):
        anonymize([str(source)], str(day), tmp_path / "mapping")  # the second day extends it
    after = figures(days, Settings(**SMALL))
    assert of_components(before).equals(of_components(after))
    assert forest_correct(after) == pytest.approx(forest_correct(before), abs=4)
    assert set(read_files(days[1])["name"].to_pylist()).isdisjoint(
        name for name in read_files(originals[1])["name"].to_pylist() if name and len(name) > 8
    )


def test_without_prefixes_it_holds_for_models_without_them(
    originals: list[Path], tmp_path: Path
) -> None:
    days = [tmp_path / day.stem for day in DAYS]
    for source, day in zip(originals, days, strict=True):
        anonymize([str(source)], str(day), tmp_path / "mapping", Keep(prefix=False))
    settings = Settings(prefix=False, **SMALL)
    before, after = (of_components(figures(each, settings)) for each in (originals, days))
    # of rules with equal evidence the one that stays goes by its text: see docs/researchers.md
    rules = pc.equal(before["model"], "rules")
    assert before.filter(pc.invert(rules)).equals(after.filter(pc.invert(rules)))
    counts = [each.filter(rules)["n_correct"] for each in (before, after)]
    differ = pc.abs(pc.subtract(*counts))
    assert pc.max(differ).as_py() <= 0.01 * pc.max(before["n"]).as_py()
