"""Gathers the content of the page and renders it."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader

from birthmark.data.common import sizes
from birthmark.data.common.percentages import shown
from birthmark.data.common.plurals import counted
from birthmark.features.history_scope import HistoryScope
from birthmark.serving.answers.evidence import in_percent, why
from birthmark.serving.answers.json_answers import explain_one
from birthmark.serving.messages.requests import parse
from birthmark.serving.models.loaded import LoadedModel
from birthmark.serving.page import audited, controlled, traffic, versions
from birthmark.serving.page.history import History
from birthmark.serving.page.totals import totals
from birthmark.serving.page.verdict import verdict
from birthmark.serving.page.warnings import Facts, warnings
from birthmark.serving.service.service import Service
from birthmark.training.registry.versions import Registry, RegistryError
from birthmark.training.reports.environment import pages
from birthmark.training.reports.labels import TITLES
from birthmark.training.statistics.standing import Standing, summary
from birthmark_native import InvalidRequestError

LEVELS: dict[HistoryScope, str] = {
    "directory": "of similar name, of the same user, in the same directory",
    "caller": "of similar name, of the same user",
    "name": "of similar name",
    "nothing": "none",
}
"""The earlier files in each history scope."""


class Page:
    """The page about a `service` and its `registry`."""

    def __init__(self, service: Service, registry: Registry) -> None:
        self.service = service
        self.registry = registry
        self.history = History(lambda: totals(service.metrics))
        self.audits = audited.Audits(registry)
        self.versions = versions.Versions(registry)

    def html(self, name: str | None, address: str) -> bytes:
        """Return the page, with predictions for a file called `name`, if given.

        `address` is the URL of the service as the client sees it.
        """
        content = {**self._content(), "address": address}
        prediction = self._prediction(name) if name else None
        text = _environment().get_template("page.html.j2").render(**content, prediction=prediction)
        return text.encode("utf-8", "replace")

    def _content(self) -> dict[str, Any]:
        slot, settings = self.service.slot, self.service.settings
        model, troubles = slot.model, []
        audits: list[audited.Audited] = []
        listed: list[dict[str, Any]] = []
        try:
            if slot.registry_error is None:  # otherwise reading it may block, in vain
                audits, listed = self.audits.newest(), self.versions.listed()
        except (RegistryError, OSError) as error:
            troubles.append(str(error))
        card = versions.card(self.registry, model.version) if model else None
        samples, counts = self.history.now()
        troubles += self.audits.unreadable
        live = None if self.service.live is None else self.service.live.status()
        read = counts, audits, card, troubles
        facts = Facts(settings, model, slot.failure, *read, slot.registry_error, live, slot.night)
        known = model.answerer.predicates if model else []
        concerns = warnings(facts)
        return {
            "now": datetime.now(UTC),
            "verdict": verdict(audits, concerns, card, settings.log_predictions is not None),
            "warnings": [asdict(each) for each in concerns],
            "model": model,
            "kinds": TITLES,
            "since": slot.since,
            "counted": self.history.since,
            "traffic": traffic.traffic(samples),
            "predicates": traffic.predicates(samples, known),
            "states": _states(model, card),
            "live": live,
            "night": slot.night,
            "settings": settings,
            "scopes": traffic.scopes(samples),
            "followed": traffic.followed(samples),
            "controlled": controlled.controlled(self.service.thresholds.in_force(model)),
            "levels": LEVELS,
            "audits": audits,
            "bounds": summary(audited.standings(audits)) if audits else "nothing was audited yet",
            "audited": audited.drawn(audits),
            "card": card,
            "versions": listed,
        }

    def _prediction(self, name: str) -> dict[str, Any]:
        """Return the predictions for a file called `name`, or an error."""
        model = self.service.slot.model
        if model is None:
            return {"name": name, "error": "no model is loaded", "answers": []}
        try:
            files = parse(json.dumps({"name": name}).encode())
        except InvalidRequestError as error:
            return {"name": name, "error": str(error), "answers": []}
        explained = explain_one(model, files)["prediction"]
        answers = [
            {
                "predicate": key,
                "answer": explained["answers"][key],
                "probability": in_percent(explained["probabilities"][key]),
                "evidence": why(key, explained),
            }
            for key in explained["predicates"]
        ]
        answers.sort(key=lambda each: ("yes", "no", "unsure").index(each["answer"]))
        return {"name": name, "error": None, "answers": answers}


def _states(model: LoadedModel | None, card: dict[str, Any] | None) -> dict[str, str]:
    """Return the states of the predicates that abstain."""
    if model is None:
        return {}
    never = versions.never_yes(card) if model.point == "bounded" else []
    states = dict.fromkeys(never, "abstains")
    return states | dict.fromkeys(model.abstaining, f"abstains: {Standing.ABOVE}")


def _duration(seconds: float) -> str:
    """Return a duration for people, such as ``0.25 s`` or ``3.1 h``."""
    units = {86_400: "days", 3600: "h", 60: "min"}
    for unit, name in units.items():
        if seconds >= 2 * unit:
            return f"{seconds / unit:,.1f} {name}"
    return f"{seconds:.2f} s"


@cache
def _environment() -> Environment:
    environment = pages(
        # report.css is the style of all pages
        ChoiceLoader(
            [PackageLoader("birthmark.serving.page"), PackageLoader("birthmark.training.reports")]
        )
    )
    environment.filters |= {
        "counted": counted,
        "percent": shown,
        "minute": lambda time: time.strftime("%Y-%m-%d %H:%M"),
        "ms": lambda value: "–" if value is None else f"{value:,.3g} ms",
        "duration": _duration,
    }
    environment.filters["size"] = sizes.in_words
    return environment
