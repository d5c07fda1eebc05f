"""Suites of cases keep all but the expectations when these are rewritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import cases

SUITES = sorted(cases.ROOT.glob("tests/**/*.yml"))
SUITE = """\
# Comments stay,
a title with an é:
  source: and what is cited
  input: |
    1 é

    2
  output: |
    old

# here, too,

an expectation that is missing:
  input: 3
  # and here
  output:
'and: an expectation of one line':
  output: one
"""


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_an_expectation_that_is_met_is_rewritten_without_a_change(path: Path) -> None:
    text = path.read_text()
    for case in cases.read(path):
        assert cases.rewrite(text, case.title, case.expected) == text, case.title


@pytest.mark.parametrize(
    ("title", "old", "new"),
    [
        ("a title with an é", "    old\n", "    new\n\n    é\n"),
        ("an expectation that is missing", "output:\n", "output: |\n    new\n\n    é\n"),
        ("and: an expectation of one line", "output: one", "output: |\n    new\n\n    é"),
    ],
)
def test_only_the_expectation_is_rewritten(title: str, old: str, new: str) -> None:
    assert cases.rewrite(SUITE, title, "new\n\né") == SUITE.replace(old, new)


def test_a_case_that_fails_shows_the_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(cases.REWRITE, raising=False)
    case = cases.Case(Path("suite.yml"), "the title", {"output": "a\nb\n"})
    case.expect("a\nb")
    with pytest.raises(pytest.fail.Exception, match=r"suite.yml: the title\n(.*\n)+-b\n\+c"):
        case.expect("a\nc")


def test_what_is_found_is_written_for_review(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cases.REWRITE, "1")
    suite = tmp_path / "suite.yml"
    suite.write_text(SUITE)
    for case in cases.read(suite):
        case.expect(f"of {case.title}")
    assert [case.expected for case in cases.read(suite)] == [
        f"of {case.title}" for case in cases.read(suite)
    ]
    assert suite.read_text().startswith(SUITE.partition("    old")[0])


def test_two_cases_of_one_title_are_refused(tmp_path: Path) -> None:
    suite = tmp_path / "suite.yml"
    suite.write_text("a: {output: b}\na: {output: c}\n")
    with pytest.raises(AssertionError, match="two cases have the title 'a'"):
        cases.read(suite)
