"""Policies of one's own: what a function may return, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from birthmark.layout_hint.comparison.compare import DEFAULT, Plan, read_policies
from birthmark.layout_hint.replay.conditions import POLICIES
from birthmark.layout_hint.replay.rules import GROUP, Rule

CREATES = pa.table({"name": [b"a.lock", b"b", b"c.lock"], "directory": [False, False, True]})
ALL = POLICIES["all three"]

MODULE = """
import pyarrow.compute as pc

VALUE = 3

def locks(creates):
    return pc.ends_with(creates["name"], b".lock")
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a module with a policy, which can be imported."""
    (tmp_path / "placement_of_mine.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return "placement_of_mine"


@pytest.mark.parametrize(
    "answer",
    [
        [True, None, True],
        pa.chunked_array([[True], [False, True]]),
        pa.array([True, None, True]),
        pd.Series([True, False, True]),
        (pc.ends_with(CREATES["name"], b".lock")).to_numpy(),
    ],
)
def test_hot_creates_are_hot_in_every_respect(answer: object) -> None:
    assert Rule("mine", lambda creates: answer).verdicts(CREATES).to_pylist() == [ALL, 0, ALL]


def test_nothing_known_is_nothing_hot() -> None:
    assert Rule("mine", lambda creates: [None] * 3).verdicts(CREATES).to_pylist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("answer", "found"),
    [([True], "1 of bool"), ([1, 2, 3], "3 of int64"), (3, "a boolean for each create: ")],
)
def test_refuses_anything_but_one_boolean_for_each_create(answer: object, found: str) -> None:
    with pytest.raises(ValueError, match=f"^mine: expected.*{found}"):
        Rule("mine", lambda creates: answer).verdicts(CREATES)


def test_own_policies_stand_behind_ours_and_are_run_once(module: str) -> None:
    name = f"{module}:locks"
    policies = read_policies(f"hotdir,{name},{name}")
    assert [str(getattr(each, "name", each)) for each in policies] == [DEFAULT, "HotDir", name]
    plan = Plan(policies, ("data",), ("fresh",), nvram=False)
    assert [run.policy for run in plan.runs([1])] == [DEFAULT, "HotDir", name]
    assert plan.rules[0].verdicts(CREATES).to_pylist() == [ALL, 0, ALL]


def test_an_entry_point_is_a_policy(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "placement_of_mine-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: placement-of-mine\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[{GROUP}]\nlocks = {module}:locks\n")
    (rule,) = Plan(read_policies("locks"), (), (), nvram=False).rules
    assert rule.name == "locks"
    assert rule.verdicts(CREATES).to_pylist() == [ALL, 0, ALL]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nowhere_to_be_found:locks", "install the package that has it"),
        ("{module}:nothing", "expected package.module:name"),
        ("{module}:VALUE", "expected a function, found 3"),
        ("hotfile", "'hotfile' is no policy.*package.module:function"),
    ],
)
def test_refuses_other_things_than_policies(module: str, text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        read_policies(text.format(module=module))
