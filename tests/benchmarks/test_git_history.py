from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks import git_history
from benchmarks.days import Day
from benchmarks.git_history import DAY, UNKNOWN, observed, operations
from birthmark.data.common.durations import SECOND
from birthmark.predictor import BUILT_IN, births
from tests.builders.repositories import START, commit, drop, git, import_into, put

ODD = (b"a\nb", b"\n:100644", b":100644 x", b'"quoted"\t', b"\xff\xfe", b" -rf", b"n" * 300)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    import_into(tmp_path / "project")
    return tmp_path / "project"


def history(repository: Path, until: int | None = None) -> Day:
    return observed("project", operations(repository), until)


def lives(repository: Path, *commits: bytes, until: int | None = None) -> list[dict[str, Any]]:
    """Return the files of a history in the order of their birth."""
    import_into(repository, *commits)
    files = births(history(repository, until).files)
    return files.sort_by([("born", "ascending")]).to_pylist()


def at(day: float) -> datetime:
    return datetime.fromtimestamp((START / DAY + day), UTC)


def test_a_file_is_born_is_rewritten_and_dies(repository: Path) -> None:
    found = lives(
        repository,
        commit(0, put(b"src/run", b"12345", b"100755"), put(b"empty", b"")),
        commit(2, put(b"src/run", b"1234567"), author=b"c@d"),
        commit(9, put(b"new", b"1"), author=b"c@d"),
        commit(10, put(b"new", b""), author=b"c@d"),
        commit(40, drop(b"src/run")),
    )
    empty, run, new = sorted(found, key=lambda life: life["name"] != b"empty")
    assert (run["name"], run["dir_name"], run["mode"], run["uid"]) == (b"run", b"src", 0o755, 0)
    assert (run["writes"], run["max_size"], run["early_writes"]) == (2, 7, 2)
    assert abs(run["born"] - at(0)) < timedelta(milliseconds=1)
    assert abs(run["died"] - run["born"] - timedelta(seconds=40)) < timedelta(milliseconds=1)
    assert (empty["max_size"], empty["writes"], empty["dir_name"]) == (0, 0, None)
    assert (empty["death_seen"], new["uid"]) == (False, 1)
    assert (new["max_size"], new["last_size"], new["writes"]) == (1, 0, 1)


def test_predicates_hold_of_days_and_those_on_reads_are_unknown(repository: Path) -> None:
    born = [put(b"%d" % day, b"x") for day in range(1, 9)]
    lives(repository, commit(0, *born), *(commit(d + 0.5, drop(b"%d" % d)) for d in range(1, 9)))
    files = births(history(repository).files)
    short = BUILT_IN["lifespan<=5"].evaluate(files).to_pylist()
    names = files["name"].to_pylist()
    assert {name for name, gone in zip(names, short, strict=True) if gone} == {*b"1 2 3 4".split()}
    assert {key for key in UNKNOWN if BUILT_IN[key].evaluate(files).null_count} == {
        "amtime<=0",
        "amtime>0",
    }


def test_names_are_any_bytes(repository: Path) -> None:
    found = lives(repository, commit(0, *(put(b"d\xff/" + name, name) for name in ODD)))
    assert {life["name"] for life in found} == {*ODD}
    assert {life["dir_name"] for life in found} == {b"d\xff"}
    assert {life["name"]: life["max_size"] for life in found} == {n: len(n) for n in ODD}


def test_a_renamed_file_lives_on_and_its_name_does_not(repository: Path) -> None:
    found = lives(
        repository,
        commit(0, put(b"a/old", b"content")),
        commit(1, drop(b"a/old"), put(b"b/new", b"content")),
        commit(2, drop(b"b/new")),
    )
    (life,) = found
    assert life["name"] == b"old"
    assert (life["died"] - life["born"]) > timedelta(seconds=1.9)
    names = births(history(repository).names).to_pylist()
    assert [(name["name"], name["how_died"]) for name in names] == [
        (b"old", "rename"),
        (b"new", "remove"),
    ]


def test_files_and_directories_change_places(repository: Path) -> None:
    found = lives(
        repository,
        commit(0, put(b"a/x", b"1"), put(b"a/y", b"2"), put(b"b", b"3"), put(b"c", b"4")),
        commit(1, drop(b"a/x"), drop(b"a/y"), put(b"a", b"1")),
        commit(2, drop(b"b"), put(b"b/z", b"3")),
        commit(3, drop(b"c"), drop(b"b/z"), put(b"b/z/c", b"4")),
    )
    ended = {life["name"]: life["death_seen"] for life in found}
    assert ended[b"y"]
    assert (ended[b"x"], found[-1]["name"], found[-1]["death_seen"]) == (False, b"c", False)
    assert sum(not life["death_seen"] for life in found) == 2


def test_a_merge_is_one_commit_of_the_branch(repository: Path) -> None:
    side = commit(1, put(b"side", b"1"), put(b"kept", b"22"), author=b"side@x")
    side = side.replace(b"refs/heads/main", b"refs/heads/side").replace(
        b"data 0\n", b"data 0\nfrom refs/heads/main\n"
    )
    found = lives(
        repository,
        commit(0, put(b"kept", b"1")),
        side,
        commit(2, put(b"main", b"1")),
        commit(5, put(b"side", b"1"), put(b"kept", b"22"), more=b"merge refs/heads/side\n"),
    )
    assert {life["name"]: life["born"].second - at(0).second for life in found} == {
        b"kept": 0,
        b"main": 2,
        b"side": 5,
    }
    assert found[0]["writes"] == 2


def test_settings_of_the_user_change_nothing(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = repository.parent / "gitconfig"
    settings.write_text("[log]\nshowRoot = false\nshowSignature = true\n[diff]\nrelative = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    (life,) = lives(repository, commit(0, put(b"a", b"1")))
    assert life["name"] == b"a"


def test_submodules_are_left_out_and_links_are_no_files(repository: Path) -> None:
    module = b"M 160000 %s module\n" % (b"1" * 40)
    link = put(b"link", b"target", b"120000")
    found = lives(repository, commit(0, module, link, put(b"link2", b"x")))
    assert [life["name"] for life in found] == [b"link2"]
    found = lives(repository, commit(1, drop(b"module"), put(b"link", b"now a file")))
    assert b"link" in {life["name"] for life in found}


def test_the_trace_ends_where_it_is_asked_to_end(repository: Path) -> None:
    both = commit(0, put(b"a", b"1")), commit(5, drop(b"a"), put(b"b", b"2"))
    until = round((START / DAY + 1) * SECOND)
    (life,) = lives(repository, *both, until=until)
    assert not life["death_seen"]


def test_a_clock_that_goes_back_changes_no_order(repository: Path) -> None:
    found = lives(
        repository,
        commit(9, put(b"a", b"1")),
        commit(-20_000, put(b"b", b"1")),
        commit(10, drop(b"b")),
        commit(10**13, put(b"c", b"1")),
    )
    assert [life["name"] for life in found] == [b"a", b"b", b"c"]
    assert all(life["died"] is None or life["died"] > life["born"] for life in found)


def test_a_repository_without_its_contents_is_refused(repository: Path) -> None:
    tree = git(
        repository, "mktree", "--missing", given=b"100644 blob %s\tgone\n" % (b"2" * 40)
    ).strip()
    who = ("-c", "user.name=x", "-c", "user.email=a@b")
    made = git(repository, *who, "commit-tree", tree).strip()
    git(repository, "update-ref", "refs/heads/main", made)
    with pytest.raises(ValueError, match=r"2{40} is missing"):
        history(repository)


def test_batches_do_not_change_what_is_read(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lives(repository, commit(0, *(put(b"%d/x" % n, b"%d" % n) for n in range(20))))
    whole = list(operations(repository))
    monkeypatch.setattr(git_history, "_ROWS", 7)
    monkeypatch.setattr(git_history, "_BYTES", 5)
    parts = list(operations(repository))
    assert len(parts) > 1 == len(whole)
    columns = ["op", "fh", "name", "new_fh", "size", "time"]
    tables = (pa.Table.from_batches(each).select(columns).to_pylist() for each in (parts, whole))
    assert next(tables) == next(tables)


def test_what_is_no_repository_is_refused_with_gits_message(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a git repository"):
        history(tmp_path)
