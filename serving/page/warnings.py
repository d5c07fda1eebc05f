"""The warnings on the page, the most severe first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from birthmark.data.common.plurals import counted
from birthmark.predictor.models.kinds import KINDS
from birthmark.serving.models.loaded import LoadedModel
from birthmark.serving.page.audited import Audited, Figure
from birthmark.serving.page.totals import Totals
from birthmark.serving.page.versions import marks, never_yes
from birthmark.serving.settings import Settings
from birthmark.training.nightly.state import NIGHTS, NightState
from birthmark.training.statistics.standing import Standing

Level = Literal["alarm", "warning", "note"]
LEVELS: tuple[Level, ...] = ("alarm", "warning", "note")
"""The service does not work; it works in part; for information."""

_NEWER = "Train on newer days: birthmark nightly does so, and publishes a model that is no worse."

FEW = 3
"""The most shifts that a warning names; it counts the others."""


@dataclass(frozen=True)
class Concern:
    """A warning: its subject (`about`), the rest of the sentence, and what `to_do`."""

    level: Level
    about: str
    text: str
    to_do: str = ""


@dataclass(frozen=True)
class Facts:
    """The state that warnings are based on.

    - `failure`: why the published model cannot be loaded.
    - `card`: the card of `model`.
    - `troubles`: errors of parts of the registry that cannot be read.
    - `registry_error`: why the whole registry cannot be read.
    - `live`: the status of the live history, if one is configured.
    - `night`: the state of the last nightly run, if known.
    """

    settings: Settings
    model: LoadedModel | None
    failure: str | None
    totals: Totals
    audits: Sequence[Audited]
    card: Mapping[str, Any] | None
    troubles: Sequence[str]
    registry_error: str | None = None
    live: Mapping[str, Any] | None = None
    night: NightState | None = None


def warnings(facts: Facts) -> list[Concern]:
    """Return all warnings, the most severe first."""
    concerns = [
        *_model_warnings(facts),
        *_night_warnings(facts.night, datetime.now(UTC)),
        *_audit_warnings(facts),
        *_service_warnings(facts),
    ]
    return sorted(concerns, key=lambda each: LEVELS.index(each.level))


def _model_warnings(facts: Facts) -> Iterator[Concern]:
    model = facts.model
    if model is None:
        yield Concern(
            "alarm",
            "No model",
            f"is loaded from {facts.settings.registry}: every request gets 503",
            "Train one into this registry (birthmark train DATASET): it answers a second later.",
        )
    if facts.failure is not None:
        fallback = f"{model.version} still answers" if model else "there is no other"
        text = f"cannot be loaded; {fallback}: {facts.failure}"
        to_do = "Publish another version: birthmark models list shows all."
        yield Concern("alarm", "The published model", text, to_do)
    if facts.registry_error is not None:
        text = f"cannot be read, so a newer model goes unnoticed: {facts.registry_error}"
        yield Concern("warning", "The registry", text, "Check that this host reaches the registry.")
    if model is None:
        return
    for key, row in model.abstaining.items():
        text = (
            f"is never a yes for now: {row.false_positives:,} of {row.outcomes:,} files got a wrong"
            " yes, more than the bound allows"
        )
        yield Concern("alarm", key, text, _NEWER)
    yield from _age_warnings(model, facts.settings)
    yield from _bound_warnings(model, facts.card)
    if generated := marks(model.manifest.get("trained_on", {})):
        text = f"of {model.version} is generated, not real: {generated}"
        yield Concern("note", "The training data", text)


def _age_warnings(model: LoadedModel, settings: Settings) -> Iterator[Concern]:
    created = datetime.fromisoformat(model.manifest["created"])
    age = datetime.now(UTC) - created
    if age > timedelta(days=settings.stale_days):
        text = f"was trained {age / timedelta(days=1):.1f} days ago, and none published since"
        to_do = "See why the nightly run published no newer one: birthmark models list."
        yield Concern("warning", model.version, text, to_do)


def _bound_warnings(model: LoadedModel, card: Mapping[str, Any] | None) -> Iterator[Concern]:
    if model.point != "bounded":
        text = f"the model answers at the {model.point} operating point, which has none"
        yield Concern("note", "No bound:", text)
        return
    kind = KINDS.get(model.kind)
    if kind is not None and kind.bound_is_of is not None:
        text = f"of the {kind.title.lower()} holds only for {kind.bound_is_of}"
        yield Concern("note", "The bound", text)
    if never := never_yes(card):
        text = f"as no threshold keeps the bound: {', '.join(never)}"
        subject = "predicates abstain" if len(never) > 1 else "predicate abstains"
        yield Concern("note", f"{len(never)} {subject}", text)


def _night_warnings(night: NightState | None, now: datetime) -> Iterator[Concern]:
    if night is None:
        return
    if night.outcome == "failed":
        yield Concern("warning", "The last night", f"failed; {_succeeded(night)}: {night.why}")
    elif night.late(now):
        text = f"has succeeded lately ({_succeeded(night)}). Is the nightly run still scheduled?"
        yield Concern("warning", "No night", text)
    if refused := night.did.get("refused"):
        were = "was" if refused == 1 else "were"
        text = f"{were} refused by the last night: birthmark doctor and its log say why"
        yield Concern("warning", counted(refused, "traces or directories"), text)
    for where in night.short():
        text = f"has space for less than {NIGHTS} nights like the last one"
        yield Concern("warning", f"The disk of the {where}", text)


def _succeeded(night: NightState) -> str:
    if night.succeeded is None:
        return "none has succeeded yet"
    return f"the last that succeeded ended {night.succeeded:%Y-%m-%d %H:%M} (UTC)"


def _audit_warnings(facts: Facts) -> Iterator[Concern]:
    for reason in facts.troubles:
        yield Concern("warning", "Cannot be read:", reason)
    if not facts.audits:
        return
    last = facts.audits[-1]
    abstaining = facts.model.abstaining if facts.model else {}
    for key, figure in last.figures.items():
        if figure.standing in (Standing.BROKEN, Standing.ABOVE) and key not in abstaining:
            yield Concern("warning", f"The bound of {key}", _above(figure, last), _NEWER)
    if last.drift:
        few = [f"{s['aspect']} {s['value']} ({s['change']})" for s in last.drift[:FEW]]
        more = f" and {len(last.drift) - FEW} more" if len(last.drift) > FEW else ""
        text = f"of the created files, as of {last.name}: {', '.join(few)}{more}"
        yield Concern("warning", "Drift", text, _NEWER)
    for count, what in ((last.unknown, "rows"), (last.damaged, "files")):
        if count:
            text = f"of the prediction log could not be used by the audit of {last.name}"
            yield Concern("warning", counted(count, what), text)


def _above(figure: Figure, audit: Audited) -> str:
    return (
        f"is {figure.bound:g}% false positives, and {audit.name} had {figure.false_positives:.2f}%:"
        f" {figure.standing}"
    )


def _service_warnings(facts: Facts) -> Iterator[Concern]:
    totals = facts.totals
    if facts.live is not None and facts.live["why"] is not None:
        text = f"is not used; answers use only the histories in requests: {facts.live['says']}"
        to_do = "Check that birthmark follow runs, and keeps up with the traffic."
        yield Concern("warning", "The live history", text, to_do)
    if totals.failed:
        text = "failed since the service began; its log says how"
        to_do = "Look for errors in the service’s log."
        yield Concern("warning", counted(round(totals.failed), "requests"), text, to_do)
    if totals.shed:
        text = "refused since the service began, because it was overloaded"
        to_do = "Give the service more threads, or send it more files in each request."
        yield Concern("warning", counted(round(totals.shed), "requests"), text, to_do)
    for outcome, why in (("dropped", "it was behind"), ("failed", "they could not be written")):
        if rows := totals.rows.get(outcome):
            text = f"missing from the prediction log: {why}"
            to_do = "Check that the disk of the prediction log has space, and is fast enough."
            yield Concern("warning", counted(round(rows), "rows"), text, to_do)
