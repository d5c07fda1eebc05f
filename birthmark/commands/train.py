"""``birthmark train``: a model from datasets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from birthmark.exits import MISCONFIGURED, exits, warn
from birthmark.options import Options, described, with_options
from birthmark.outputs import Json, print_result
from birthmark.serving.settings import Settings as Serving
from birthmark.terminal import working
from birthmark.training.config import Settings, Testing

if TYPE_CHECKING:  # the other commands do without it, and start sooner
    from birthmark.predictor import Predicate
    from birthmark.predictor.models.estimators.estimator import Estimator

Configured = Annotated[
    Path | None,
    typer.Option(help="TOML file of custom predicates and estimators"),
]


@with_options
def train(
    datasets: Annotated[
        list[Path], typer.Argument(metavar="DATASET", help="datasets made by `birthmark ingest`")
    ],
    registry: Annotated[str, described(Serving, "registry")],
    settings: Annotated[Settings, Options()],
    testing: Annotated[Testing, Options()],
    config: Configured = None,
    as_json: Json = False,
) -> None:
    """Train a model on datasets, and publish it."""
    from birthmark.data.generated import describe
    from birthmark.data.traces.unread import of_dataset
    from birthmark.training.learn.train import read_lives
    from birthmark.training.nightly.candidate import train_alone
    from birthmark.training.registry.stored import load_published
    from birthmark.training.registry.versions import Registry

    predicates, estimators = own_of(config)
    with working("training") as step:
        versions = Registry(registry)
        lives = read_lives(datasets, settings.without_loss)
        warn(unread for path in datasets for unread in of_dataset(path))
        options = predicates, testing.test, estimators
        candidate = train_alone(load_published(versions), lives, settings, *options)
        step("publishing")
        version = versions.publish(candidate.write_parts, candidate.manifest)
    manifest = candidate.manifest
    trained = manifest["trained_on"]
    result = {
        "version": version,
        "files": trained["files"],
        "names": trained["names"],
        "rules": sum(manifest["rules"].values()),
        "left_out": trained["loss"]["files"] + trained["loss"]["names"]
        if settings.without_loss
        else None,
    }
    if trained["generated"]:
        marks = trained["generated"]
        result["generated"] = marks if as_json else describe(marks).removeprefix("generated: ")
    print_result(result, as_json)


def own_of(config: Path | None) -> tuple[Collection[Predicate], Mapping[str, Estimator]]:
    """Return the predicates and estimators to train, with those of the user's file.

    Exits with the code of bad settings if the file cannot be used.
    """
    from birthmark.site_file import SiteFile
    from birthmark.training.config import ConfigError, read_config

    with exits(MISCONFIGURED, ConfigError):
        own = SiteFile() if config is None else read_config(config, SiteFile)
        return own.all_predicates().values(), own.all_estimators()
