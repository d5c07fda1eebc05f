"""What somebody should look at, the worst first."""

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
"""It does not do what it is there for; it does so only in part; one should know."""

_NEWER = "Train on newer days: birthmark nightly does so, and publishes what is no worse."

FEW = 3
"""So many shifts are named in a warning, which is one sentence; the others are counted."""


@dataclass(frozen=True)
class Concern:
    """Something to look at: what it is `about`, and the rest of the sentence; what `to_do`."""

    level: Level
    about: str
    text: str
    to_do: str = ""


@dataclass(frozen=True)
class Facts:
    """All that warnings are drawn from.

    `failure` is why the published model could not be loaded, `card` what the card of `model` says,
    `troubles` are places of the registry that cannot be read, and `away` is why none of it can be;
    `live` is the status of the live history, if there is to be one, and `night` what came of the
    last nightly run, if that is known.
    """

    settings: Settings
    model: LoadedModel | None
    failure: str | None
    totals: Totals
    audits: Sequence[Audited]
    card: Mapping[str, Any] | None
    troubles: Sequence[str]
    away: str | None = None
    live: Mapping[str, Any] | None = None
    night: NightState | None = None


def warnings(facts: Facts) -> list[Concern]:
    """Return all that there is to say, the worst first."""
    found = [
        *_of_the_model(facts),
        *_of_the_night(facts.night, datetime.now(UTC)),
        *_of_audits(facts),
        *_of_the_service(facts),
    ]
    return sorted(found, key=lambda each: LEVELS.index(each.level))


def _of_the_model(facts: Facts) -> Iterator[Concern]:
    model = facts.model
    if model is None:
        yield Concern(
            "alarm",
            "No model",
            f"is loaded from {facts.settings.registry}: every question is answered with 503",
            "Train one into this registry (birthmark train DATASET): it answers a second later.",
        )
    if facts.failure is not None:
        goes_on = f"{model.version} goes on" if model else "there is no other"
        text = f"cannot be loaded; {goes_on}: {facts.failure}"
        to_do = "Publish another version: birthmark models list shows which there are."
        yield Concern("alarm", "The published model", text, to_do)
    if facts.away is not None:
        text = f"cannot be read, so that it is not known what is published: {facts.away}"
        yield Concern("warning", "The registry", text, "See that this host reaches the registry.")
    if model is None:
        return
    for key, reason in model.abstaining.items():
        text = f"is never a yes until the next model is published: {reason}"
        yield Concern("alarm", key, text, _NEWER)
    yield from _of_age(model, facts.settings)
    yield from _of_the_promise(model, facts.card)
    if said := marks(model.manifest.get("trained_on", {})):
        yield Concern("note", "Not real", f"is what {model.version} learned from: {said}")


def _of_age(model: LoadedModel, settings: Settings) -> Iterator[Concern]:
    created = datetime.fromisoformat(model.manifest["created"])
    age = datetime.now(UTC) - created
    if age > timedelta(days=settings.stale_days):
        text = f"was made {age / timedelta(days=1):.1f} days ago, and none published since"
        to_do = "See why the nightly run publishes no newer one: birthmark models list."
        yield Concern("warning", model.version, text, to_do)


def _of_the_promise(model: LoadedModel, card: Mapping[str, Any] | None) -> Iterator[Concern]:
    if model.point != "bounded":
        text = f"the model answers at the {model.point} threshold, which promises none"
        yield Concern("note", "No bound:", text)
        return
    kind = KINDS.get(model.kind)
    if kind is not None and kind.bound_is_of is not None:
        text = f"of the {kind.title.lower()} is of {kind.bound_is_of}: of others it is not promised"
        yield Concern("note", "The bound", text)
    if never := never_yes(card):
        text = f"never a yes, since no threshold keeps the bound: {', '.join(never)}"
        plural = "predicates are" if len(never) > 1 else "predicate is"
        yield Concern("note", f"{len(never)} {plural}", text)


def _of_the_night(night: NightState | None, now: datetime) -> Iterator[Concern]:
    if night is None:
        return
    if night.outcome == "failed":
        yield Concern("warning", "The last night", f"failed; {_succeeded(night)}: {night.why}")
    elif night.late(now):
        text = f"has succeeded lately ({_succeeded(night)}). Is the nightly run still started?"
        yield Concern("warning", "No night", text)
    if refused := night.did.get("refused"):
        were = "was" if refused == 1 else "were"
        text = f"{were} refused by the last night: its log, and birthmark doctor, say which and why"
        yield Concern("warning", counted(refused, "traces or directories"), text)
    for where in night.short():
        text = f"has room for less than {NIGHTS} nights like the last one"
        yield Concern("warning", f"The disk of the {where}", text)


def _succeeded(night: NightState) -> str:
    if night.succeeded is None:
        return "none has succeeded yet"
    return f"the last that succeeded ended {night.succeeded:%Y-%m-%d %H:%M} (UTC)"


def _of_audits(facts: Facts) -> Iterator[Concern]:
    for reason in facts.troubles:
        yield Concern("warning", "Cannot be read:", reason)
    if not facts.audits:
        return
    last = facts.audits[-1]
    known = facts.model.abstaining if facts.model else {}
    for key, figure in last.figures.items():
        if figure.standing is Standing.BROKEN and key not in known:
            text = f"was {figure.standing} as of {last.name}: it does not abstain now"
            yield Concern("warning", f"The bound of {key}", text, _NEWER)
        if figure.standing is Standing.ABOVE:
            yield Concern("warning", f"The bound of {key}", _above(figure, last), _NEWER)
    if last.drift:
        few = [f"{s['aspect']} {s['value']} ({s['change']})" for s in last.drift[:FEW]]
        more = f" and {len(last.drift) - FEW} more" if len(last.drift) > FEW else ""
        text = f"among the files that are created, as of {last.name}: {', '.join(few)}{more}"
        yield Concern("warning", "Changes", text, _NEWER)
    for count, what in ((last.unknown, "rows"), (last.damaged, "files")):
        if count:
            text = f"of the prediction log could not be judged by the audit of {last.name}"
            yield Concern("warning", counted(count, what), text)


def _above(figure: Figure, audit: Audited) -> str:
    return (
        f"is at most {figure.bound:g}% false positives, of which there were"
        f" {figure.false_positives:.2f}% in {audit.name}: {figure.standing}, but not shown broken"
    )


def _of_the_service(facts: Facts) -> Iterator[Concern]:
    totals = facts.totals
    if facts.live is not None and facts.live["why"] is not None:
        text = f"tells nothing; answers rest on what their askers tell: {facts.live['says']}"
        to_do = "See that birthmark follow runs, and keeps up with the traffic."
        yield Concern("warning", "The live history", text, to_do)
    if totals.failed:
        text = "failed since the service began; its log says how"
        to_do = "Look for errors in the service’s log."
        yield Concern("warning", counted(round(totals.failed), "requests"), text, to_do)
    if totals.shed:
        text = "refused since the service began, because others were enough"
        to_do = "Give the service more workers, or ask it for more files at once."
        yield Concern("warning", counted(round(totals.shed), "requests"), text, to_do)
    for outcome, why in (("dropped", "it was behind"), ("failed", "they could not be written")):
        if rows := totals.rows.get(outcome):
            text = f"missing from the prediction log: {why}"
            to_do = "See that the disk of the prediction log has room, and is fast enough."
            yield Concern("warning", counted(round(rows), "rows"), text, to_do)
