"""Comparing policies: the runs, and their joint results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

import pyarrow as pa

from birthmark.data.common.choices import expect
from birthmark.layout_hint.comparison.figures import Comparison, Result, Shares, Spread
from birthmark.layout_hint.replay.conditions import (
    DEFAULT,
    HOT_WRITE,
    INVERTED,
    ORACLE,
    POLICIES,
    RANDOM,
    Settings,
)
from birthmark.layout_hint.replay.days import Day
from birthmark.layout_hint.replay.rules import GROUP, Rule
from birthmark.layout_hint.replay.runs import Outcome, Replay, Run, run_all

ALL_POLICIES = (*POLICIES, ORACLE, HOT_WRITE, INVERTED, RANDOM)
USUAL = (*POLICIES, ORACLE)
BOTH = "HotDir+HotName"
DRAWN = (DEFAULT, BOTH, "all three")
"""The policies whose counts are stored for the map of the disk."""


@dataclass(frozen=True)
class Plan:
    """The runs of each day."""

    policies: tuple[str | Rule, ...]  # Default is always run
    modes: tuple[str, ...]
    states: tuple[str, ...]
    nvram: bool  # HotDir+HotName with the region in memory, too

    def runs(self, seeds: Sequence[int]) -> list[Run]:
        """Return the runs, those by default first."""
        found = [Run(DEFAULT, None, state, seed) for state in self.states for seed in seeds]
        others = [each for each in ALL_POLICIES if each in self.policies and each != DEFAULT]
        others += [rule.name for rule in self.rules]
        kinds = [(policy, False) for policy in others]
        if self.nvram and BOTH in others:
            kinds.append((BOTH, True))
        return found + [
            Run(policy, mode, state, seed, nvram)
            for state in self.states
            for mode in self.modes
            for policy, nvram in kinds
            for seed in seeds
        ]

    @property
    def rules(self) -> list[Rule]:
        """The user's own policies."""
        return [each for each in self.policies if isinstance(each, Rule)]


def read_policies(text: str) -> tuple[str | Rule, ...]:
    """Return the policies of a list with commas; ``all`` are those of the tables and the oracle.

    Another one is given as ``package.module:function`` or an entry point (`replay.rules`).

    Raises:
        ValueError: there is no such policy.
    """
    known = {each.lower(): each for each in (*ALL_POLICIES, "all three")}
    own = entry_points(group=GROUP).names
    found: list[str | Rule] = []
    for word in text.split(","):
        if word == "all":
            found += USUAL
        elif word.lower() in known:
            found.append(known[word.lower()])
        else:
            if ":" not in word:
                expect("policy", word, ["all", *known, *own, "package.module:function"])
            found.append(Rule.read(word))
    return tuple(dict.fromkeys((DEFAULT, *found)))


def compare(
    title: str,
    days: Sequence[Day],
    image: bytes,
    disk: dict[str, Any],
    settings: Settings,
    plan: Plan,
    jobs: int,
    progress: Callable[[int, int], None],
) -> Comparison:
    """Run all policies on all days, one day after the other.

    ``progress`` is called with the number of finished runs, and of all runs.

    Raises:
        ValueError: a build or a setting is invalid.
    """
    runs = plan.runs(settings.seeds)
    counted = {run for run in runs if _drawn(run, settings)}
    results: list[Result] = []
    heat: dict[tuple[str, str, str | None, str], pa.Table] = {}
    done = 0
    progress(done, len(runs) * len(days))
    for day in days:
        replay = Replay(day, settings, image, disk, plan.rules)
        outcomes: dict[Run, Outcome] = {}
        for outcome in run_all(replay, runs, counted, jobs):
            outcomes[outcome.run] = outcome
            done += 1
            progress(done, len(runs) * len(days))
        results += _results(day.name, runs, outcomes)
        for run in runs:
            if (counts := outcomes[run].counts) is not None:
                heat[day.name, run.policy, run.mode, run.state] = counts
    marks = {repr(mark): mark for day in days for mark in day.generated}
    names = tuple(day.name for day in days)
    return Comparison(title, settings, names, tuple(results), heat, tuple(marks.values()))


def _drawn(run: Run, settings: Settings) -> bool:
    return run.policy in DRAWN and run.seed == settings.seeds[0] and not run.nvram


def _results(day: str, runs: Sequence[Run], outcomes: dict[Run, Outcome]) -> list[Result]:
    """Return the results of a day: runs that differ only in their seeds form one."""
    groups: dict[tuple[Any, ...], list[Outcome]] = {}
    for run in runs:
        key = (run.policy, run.mode, run.state, run.nvram)
        groups.setdefault(key, []).append(outcomes[run])
    return [_result(day, group, outcomes) for group in groups.values()]


def _result(day: str, group: list[Outcome], outcomes: dict[Run, Outcome]) -> Result:
    run, localities = group[0].run, [each.locality for each in group]
    return Result(
        day=day,
        policy=run.policy,
        mode=run.mode,
        state=run.state,
        nvram=run.nvram,
        target=_shares([each.target for each in localities]),
        optimal=_shares([each.optimal for each in localities]),
        random=Spread(tuple(each.random for each in localities)),
        reads=Spread(tuple(float(each.reads) for each in localities)),
        writes=Spread(tuple(float(each.writes) for each in localities)),
        elapsed=Spread(tuple(each.elapsed for each in group)),
        improvement=Spread(tuple(_improvement(each, outcomes) for each in group)),
        speed=Spread(tuple(each.summary["operations"] / each.summary["seconds"] for each in group)),
        inconsistency=next((s for each in group if (s := each.summary["inconsistency"])), None),
    )


def _shares(each: list[tuple[float, ...]]) -> Shares:
    return Shares(*(Spread(tuple(values)) for values in zip(*each, strict=True)))


def _improvement(outcome: Outcome, outcomes: dict[Run, Outcome]) -> float:
    run = outcome.run
    default = outcomes[Run(DEFAULT, None, run.state, run.seed)].elapsed
    return (default - outcome.elapsed) / default if default else 0.0
