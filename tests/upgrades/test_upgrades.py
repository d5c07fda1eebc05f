"""A registry and datasets of each earlier release meet this one.

Each archive is a site that the program of a release made (`make.py`): two nights, two versions.
What it has either goes on, or is refused with what to do; a night mends it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.predictor import TrainedModel
from birthmark.predictor.parts import OlderModelError
from birthmark.serving.models.loaded import load_model
from birthmark.training.nightly.intake import datasets
from birthmark.training.nightly.state import read
from birthmark.training.registry.versions import Registry
from tests.archives import unpack
from tests.upgrades.make import trace

pytestmark = pytest.mark.deep

RELEASES = sorted(Path(__file__).parent.glob("*.tar.xz"))
ANOTHER = {"dbaf556": 3}
"""The releases whose models this one does not read, with their formats."""


@pytest.fixture(params=RELEASES, ids=[path.name.split(".")[0] for path in RELEASES])
def release(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.fixture
def site(release: Path, tmp_path: Path) -> Path:
    unpack(release, tmp_path)
    (tmp_path / "traces").mkdir(exist_ok=True)
    return tmp_path


@pytest.fixture
def is_read(release: Path) -> bool:
    return release.name.split(".")[0] not in ANOTHER


def run(*words: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(map(str, words)))
    return done.exit_code, done.output + str(done.exception or "")


def test_there_is_one_of_an_earlier_release_and_one_of_this_format() -> None:
    names = {path.name.split(".")[0] for path in RELEASES}
    assert names >= {"dbaf556"}
    assert names - ANOTHER.keys()
    assert sum(path.stat().st_size for path in RELEASES) < 1_000_000


def test_what_was_published_answers_or_is_refused_with_what_to_do(
    site: Path, is_read: bool
) -> None:
    registry = site / "registry"
    code, said = run("predict", "inbox.lock", "--registry", registry)
    assert (code == 0) == is_read
    if not is_read:
        assert "is of an earlier release (format 3, and this one reads 5)" in said
        assert "run birthmark nightly, or birthmark train" in said
    for command in ("publish", "pin"):
        version = Registry(registry).published()
        code, said = run("models", command, version, "--registry", registry)
        assert (code == 0) == is_read
    code, said = run("models", "rollback", "--registry", registry)
    assert "pinned" in said if is_read else "earlier release" in said
    assert run("models", "list", "--registry", registry)[0] == 0
    assert run("models", "verify", "--registry", registry)[0] == 0
    assert run("models", "show", "--registry", registry)[0] == 0


def test_the_next_night_learns_from_its_datasets_and_publishes(site: Path, is_read: bool) -> None:
    registry = Registry(site / "registry")
    before, held = registry.published(), datasets(site / "datasets")
    assert len(held) == 2
    (site / "traces" / "day2.txt").write_text(trace(2))
    code, said = run("nightly", "--config", site / "birthmark.toml")
    assert code == 0, said
    version = registry.published()
    assert version != before
    manifest = registry.manifest(version)
    assert manifest["trained_on"]["datasets"][:2] == [each.path.name for each in held]
    assert (f"{before} is of another release" in said) == (not is_read)
    assert load_model(registry).version == version
    assert run("evaluate", held[0].path, "--registry", registry.path)[0] == 0
    night = read(registry)
    assert night is not None
    assert night.outcome == "done"
    code, said = run("nightly", "--config", site / "birthmark.toml")
    assert (code, registry.published()) == (0, version)


def test_a_night_without_new_traces_mends_it_too(site: Path, is_read: bool) -> None:
    registry = Registry(site / "registry")
    before = registry.published()
    assert run("nightly", "--config", site / "birthmark.toml")[0] == 0
    assert (registry.published() == before) == is_read
    assert load_model(registry).version == registry.published()


def test_a_model_of_a_later_release_is_refused(site: Path) -> None:
    directory = Registry(site / "registry").directory(Registry(site / "registry").published())
    (directory / "model.json").write_text('{"format": 99}')
    with pytest.raises(OlderModelError, match="is of a later release"):
        TrainedModel.load(directory)
