"""All that the page shows, gathered, and the page made of it."""

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
from birthmark.features.told import Told
from birthmark.serving.answers.evidence import in_percent, in_words
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

LEVELS: dict[Told, str] = {
    "directory": "called alike; of the same user; in the same directory",
    "caller": "called alike; of the same user",
    "name": "called alike",
    "nothing": "none",
}
"""Of which earlier files an answer was told."""


class Page:
    """The page of one worker: what it shows, of `service` and its `registry`."""

    def __init__(self, service: Service, registry: Registry) -> None:
        self.service = service
        self.registry = registry
        self.history = History(lambda: totals(service.metrics))
        self.audits = audited.Audits(registry)
        self.versions = versions.Versions(registry)

    def html(self, name: str | None, address: str) -> bytes:
        """Return the page; with the answers for a file called `name`, if that is given.

        `address` is that of the service, as who asks knows it.
        """
        content = {**self._content(), "address": address}
        asked = self._asked(name) if name else None
        text = _environment().get_template("page.html.j2").render(**content, asked=asked)
        return text.encode("utf-8", "replace")

    def _content(self) -> dict[str, Any]:
        slot, settings = self.service.slot, self.service.settings
        model, troubles = slot.model, []
        audits: list[audited.Audited] = []
        listed: list[dict[str, Any]] = []
        try:
            if slot.away is None:  # else asking takes its time, and is in vain
                audits, listed = self.audits.newest(), self.versions.listed()
        except (RegistryError, OSError) as error:
            troubles.append(str(error))
        card = versions.card(self.registry, model.version) if model else None
        samples, counted = self.history.now()
        troubles += self.audits.unreadable
        live = None if self.service.live is None else self.service.live.status()
        found = counted, audits, card, troubles
        facts = Facts(settings, model, slot.failure, *found, slot.away, live, slot.night)
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
            "told": traffic.told(samples),
            "followed": traffic.followed(samples),
            "controlled": controlled.controlled(self.service.moved.in_force(model)),
            "levels": LEVELS,
            "audits": audits,
            "bounds": summary(audited.standings(audits)) if audits else "nothing was audited yet",
            "audited": audited.drawn(audits),
            "card": card,
            "versions": listed,
        }

    def _asked(self, name: str) -> dict[str, Any]:
        """Return what is answered for a file called `name`, or what is wrong with that."""
        model = self.service.slot.model
        if model is None:
            return {"name": name, "error": "no model is loaded that could answer", "answers": []}
        try:
            files = parse(json.dumps({"name": name}).encode())
        except InvalidRequestError as error:
            return {"name": name, "error": str(error), "answers": []}
        found = explain_one(model, files)["prediction"]
        answers = [
            {
                "predicate": key,
                "answer": found["answers"][key],
                "likely": in_percent(found["probabilities"][key]),
                "evidence": in_words(why),
            }
            for key, why in found["predicates"].items()
        ]
        answers.sort(key=lambda each: ("yes", "no", "unsure").index(each["answer"]))
        return {"name": name, "error": None, "answers": answers}


def _states(model: LoadedModel | None, card: dict[str, Any] | None) -> dict[str, str]:
    """Return of those predicates that are never a yes what they are said to do."""
    if model is None:
        return {}
    never = versions.never_yes(card) if model.point == "bounded" else []
    found = dict.fromkeys(never, "abstains")
    return found | dict.fromkeys(model.abstaining, f"abstains: bound {Standing.BROKEN}")


def _duration(seconds: float) -> str:
    """Return a time as people read it, such as ``0.25 s`` or ``3.1 h``."""
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
