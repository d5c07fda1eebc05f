"""The test of a stored version on a dataset."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.generated import Mark, describe, in_dataset
from birthmark.data.traces import unread
from birthmark.predictor import births
from birthmark.training.evaluate.assessment import Assessment, assess
from birthmark.training.evaluate.cases import expect_births
from birthmark.training.evaluate.distributions import distributions
from birthmark.training.evaluate.sensitivity import sensitivity
from birthmark.training.evaluate.three_answers import of_served
from birthmark.training.learn.loss import without_loss
from birthmark.training.registry.stored import Stored
from birthmark.training.reports.bounded import known_bounds
from birthmark.training.reports.labels import TITLES
from birthmark.training.reports.report import render
from birthmark.training.reports.verdict import Before, Verdict, of_test


class EvaluationRun:
    """A stored version and the dataset at `dataset`; results are computed when needed.

    `touched` counts the lives that loss may have affected; `leave_out` leaves them out of all
    tests.
    """

    def __init__(self, stored: Stored, dataset: Path, leave_out: bool = False) -> None:
        self.stored = stored
        self.dataset = dataset
        self.generated = in_dataset(dataset)
        tables = read_files(dataset), read_names(dataset)
        self._files, self._names, self.touched = without_loss(*tables, leave_out)

    def __repr__(self) -> str:
        return f"<EvaluationRun of {self.stored.version} on {self.dataset}>"

    def expect_births(self) -> None:
        """Raise ValueError if there is nothing to test on."""
        expect_births(self.dataset, self._files)

    @cached_property
    def assessment(self) -> Assessment:
        """The figures, the curves and the breakdown."""
        return assess(self.stored.model, self._files, self._names)

    @property
    def evaluation(self) -> pa.Table:
        """The table of `EVALUATION`."""
        return self.assessment.evaluation

    def in_words(self) -> str:
        """Return the version and the dataset in words."""
        manifest, tested_on = self.stored.manifest, self._tested_on()
        answers = f"{self.stored.version} ({manifest['serve']}, {manifest['point']})"
        births = f"{tested_on['Files']} files, {tested_on['Names']} names"
        return f"{answers} on {tested_on['Data']}: {births}"

    def bounds_in_words(self) -> str:
        """Return the standing of the served kind's bounds in words."""
        known, *_ = known_bounds(self.evaluation, self.stored.manifest["serve"])
        return f"{known.model}: {known.in_words}"

    def served_answers(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of `ANSWERS` of the served kind, by subject."""
        manifest = self.stored.manifest
        return of_served(self.assessment.answers, manifest["serve"], manifest["point"])

    @cached_property
    def verdict(self) -> Verdict | None:
        """The verdict on the served kind; None if nothing could be tested."""
        manifest = self.stored.manifest
        answers = [row for rows in self.served_answers().values() for row in rows]
        return of_test(self.served(), answers, Before.of(manifest), self._learned_from())

    def served(self) -> list[dict[str, Any]]:
        """Return the rows of `EVALUATION` of the served kind."""
        kind = self.stored.manifest["serve"]
        return [row for row in self.evaluation.to_pylist() if row["model"] == kind]

    def _learned_from(self) -> int:
        """Return the number of tested files that may be training data.

        They are files of the training data's servers and period.
        """
        trained, files = self.stored.manifest["trained_on"], births(self._files)
        first, last = (
            pa.scalar(datetime.fromisoformat(trained[end]), files["born"].type)
            for end in ("since", "until")
        )
        within = pc.and_(pc.greater_equal(files["born"], first), pc.less_equal(files["born"], last))
        of_these = pc.is_in(files["server"].cast(pa.utf8()), pa.array(trained["servers"]))
        return pc.sum(pc.and_(within, of_these)).as_py() or 0

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
            self.verdict,
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
        if found := unread.of_dataset(self.dataset):
            about["Unread"] = found[0].removeprefix(f"{self.dataset}: ")
        about |= {"Files": f"{len(files):,}", "Names": f"{len(names):,}"}
        if self.touched.files or self.touched.names:
            about["Loss may have affected"] = self.touched.in_words()
        return about


def _data(names: str, generated: Iterable[Mark]) -> str:
    """Return the names of datasets, and the generator if they are generated."""
    return " · ".join(filter(None, (names, describe(generated))))


def _second(instant: str) -> str:
    """Return an ISO time cut to seconds."""
    return instant[:19].replace("T", " ")
