"""A stored version of the model, put to the test on a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.datasets import read_files, read_names
from birthmark.data.generated import Mark, describe, in_dataset
from birthmark.predictor import TrainedModel, births
from birthmark.training.answers import of_served
from birthmark.training.assess import Assessment, assess
from birthmark.training.bounded import known_bounds
from birthmark.training.distributions import distributions
from birthmark.training.loss import without_loss
from birthmark.training.registry import Registry, RegistryError
from birthmark.training.report import render
from birthmark.training.sensitivity import sensitivity
from birthmark.training.shown import TITLES


@dataclass(frozen=True)
class Stored:
    """A version of a registry, checked and loaded."""

    version: str
    manifest: Mapping[str, Any]
    model: TrainedModel


def load(registry: Registry, version: str | None = None) -> Stored:
    """Check and load `version`, or the published one; raise `RegistryError` if that cannot be."""
    version = version or registry.current()
    if version is None:
        raise RegistryError(f"{registry.place}: expected a published version, found none")
    registry.verify(version)
    model = TrainedModel.load(registry.directory(version))
    return Stored(version, registry.manifest(version), model)


def load_published(registry: Registry) -> Stored | None:
    """Return the published version; None where there is none, or none that can be loaded."""
    try:
        return None if registry.current() is None else load(registry)
    except (OSError, ValueError):
        return None


def expect_births(dataset: Path, files: pa.Table) -> None:
    """Raise ValueError where none of a dataset's `files` can be tested on: no creation is seen."""
    if not len(births(files)):
        raise ValueError(
            f"{dataset}: expected files whose creation is seen, found none among {len(files):,}"
        )


class Trial:
    """One stored version and the dataset at `dataset`; the results are worked out when asked.

    `touched` counts the lives that loss may have touched; `leave_out` leaves them out of all tests.
    """

    def __init__(self, stored: Stored, dataset: Path, leave_out: bool = False) -> None:
        self.stored = stored
        self.dataset = dataset
        self.generated = in_dataset(dataset)
        tables = read_files(dataset), read_names(dataset)
        self._files, self._names, self.touched = without_loss(*tables, leave_out)

    def expect_births(self) -> None:
        """Raise ValueError where there is nothing to test on."""
        expect_births(self.dataset, self._files)

    @cached_property
    def assessment(self) -> Assessment:
        """The figures, the curves and the breakdown."""
        return assess(self.stored.model, self._files, self._names)

    @property
    def evaluation(self) -> pa.Table:
        """The table of `EVALUATION`."""
        return self.assessment.evaluation

    def bounds_in_words(self) -> str:
        """Return what is known of the bounds of the kind of model that answers."""
        known, *_ = known_bounds(self.evaluation, self.stored.manifest["serve"])
        return f"{known.model}: {known.in_words}"

    def served_answers(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of `ANSWERS` of what answers, by subject."""
        manifest = self.stored.manifest
        return of_served(self.assessment.answers, manifest["serve"], manifest["point"])

    def to_json(self) -> dict[str, Any]:
        """Return the results as JSON objects."""
        return {
            "version": self.stored.version,
            "loss": self.touched.to_json(),
            "generated": self.generated,
            "figures": self.evaluation.to_pylist(),
            "answers": self.assessment.answers.to_pylist(),
            "reliability": self.assessment.reliability.to_pylist(),
        }

    def report(self) -> str:
        """Return the report as one HTML page."""
        return render(
            {"Trained on": self._trained_on(), "Tested on": self._tested_on()},
            self.stored.manifest["serve"],
            self.stored.manifest["point"],
            self.assessment,
            sensitivity(self.stored.model, self._files, self._names),
            distributions(self._files),
        )

    def _trained_on(self) -> dict[str, str]:
        trained = self.stored.manifest["trained_on"]
        parameters = self.stored.manifest["parameters"]
        return {
            "Version": self.stored.version,
            "Data": _data(", ".join(trained["datasets"]), trained.get("generated", [])),
            "Created": f"{_second(trained['since'])} to {_second(trained['until'])} (UTC)",
            "Files": f"{trained['files']:,}",
            "Names": f"{trained['names']:,}",
            "Parameters": ", ".join(f"{name} {value}" for name, value in parameters.items()),
            "Served": TITLES[self.stored.manifest["serve"]],
        }

    def _tested_on(self) -> dict[str, str]:
        files, names = births(self._files), births(self._names)
        about = {"Data": _data(self.dataset.resolve().name, self.generated)}
        if len(files):
            first, last = pc.min_max(files["born"]).as_py().values()
            about["Created"] = f"{_second(first.isoformat())} to {_second(last.isoformat())} (UTC)"
        about |= {"Files": f"{len(files):,}", "Names": f"{len(names):,}"}
        if self.touched.files or self.touched.names:
            about["Loss may have touched"] = self.touched.in_words()
        return about


def _data(names: str, generated: Iterable[Mark]) -> str:
    """Return what data are called, and by what they were generated if they are not real."""
    return " · ".join(filter(None, (names, describe(generated))))


def _second(instant: str) -> str:
    """Return an ISO time without what is finer than a second."""
    return instant[:19].replace("T", " ")
