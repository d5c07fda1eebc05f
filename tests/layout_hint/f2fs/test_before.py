"""Lists are changed and taken back to what they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from birthmark.layout_hint.f2fs.before import Before
from birthmark.layout_hint.f2fs.extensions import Lists
from birthmark.layout_hint.f2fs.sysfs import read
from tests.layout_hint.f2fs.kernel import OWN, mount

LEARNED = Lists(cold=("jpg", "html"), hot=("lock",))
LATER = Lists(cold=("tex",), hot=("lock", "tmp"))


@pytest.fixture
def lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return mount(tmp_path / "kernel", "sda1", monkeypatch)


@pytest.fixture
def before(tmp_path: Path) -> Before:
    return Before(tmp_path / "before", tmp_path / "kernel")


def test_lists_are_taken_back_to_what_they_were_however_often_they_changed(
    lists: Path, before: Before
) -> None:
    assert before.change("sda1", LEARNED) == [
        *("[c]!mp", "[c]!so", "[h]!db"),
        *("[c]html", "[h]lock"),
    ]
    assert before.change("sda1", LEARNED) == []
    before.change("sda1", LATER)
    before.take_back("sda1")
    was = Lists.parse(OWN, "own")
    found = read("sda1", lists.parents[1])
    assert ({*found.cold}, {*found.hot}) == ({*was.cold}, {*was.hot})
    with pytest.raises(ValueError, match="before/sda1: expected the original lists, found none"):
        before.take_back("sda1")


def test_a_change_that_the_kernel_refuses_can_still_be_taken_back(
    lists: Path, before: Before, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_text

    def refuses(path: Path, text: str, *how: object, **named: object) -> int:
        if text == "[h]lock":
            raise OSError(5, "Input/output error")
        return write(path, text, *how, **named)  # type: ignore[arg-type]

    with monkeypatch.context() as context:
        context.setattr(Path, "write_text", refuses)
        with pytest.raises(OSError, match="refused '\\[h\\]lock': Input/output error"):
            before.change("sda1", LEARNED)
    before.take_back("sda1")
    assert {*read("sda1", lists.parents[1]).hot} == {"db"}


def test_refuses_a_damaged_backup(lists: Path, before: Before, tmp_path: Path) -> None:
    before.change("sda1", LEARNED)
    (tmp_path / "before" / "sda1").write_text("nonsense")
    with pytest.raises(ValueError, match="before/sda1: line 1: expected 'cold file extension:'"):
        before.take_back("sda1")
    assert {*read("sda1", lists.parents[1]).hot} == {"lock"}
