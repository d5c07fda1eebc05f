"""What a load of the virtual machine is made of, and what is read of what it prints."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.linux import kernel, machine, user_mode
from benchmarks.linux.bound import claimed
from benchmarks.linux.counters import Counters, read_counters
from benchmarks.linux.f2fs import policies, summary
from benchmarks.linux.filling import FOLDER, fill
from benchmarks.linux.hinted import classes, daemon_rule, in_turn
from benchmarks.linux.knowledge import BLOCK, Hint, begins, perfect, room_needed
from benchmarks.linux.load import RECORD, Op, Step, steps, write
from benchmarks.linux.users import some
from birthmark.layout_hint.f2fs.extensions import Lists
from birthmark.layout_hint.rewrite.schema import MANIFEST, OPERATIONS
from tests.builders.lives import files_of, life

SECOND = 1_000_000
MB = 1 << 20


def build_of(folder: Path, there: list[dict[str, Any]], done: list[dict[str, Any]]) -> Path:
    """Write a build of objects that are there and operations that succeed, a second apart."""
    known = {"parent": 0, "path": b"", "invented": False, "kind": "file"}
    names = [{**known, **row} for row in there]
    calls = [{"seq": n, "time": n * SECOND, "status": 0, **row} for n, row in enumerate(done)]
    for file, rows, schema in (
        ("manifest.parquet", names, MANIFEST),
        ("operations.parquet", calls, OPERATIONS),
    ):
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), folder / file)
    return folder


def test_a_build_becomes_what_changes_a_file_system(tmp_path: Path) -> None:
    there = [
        {"id": 1, "name": b"home", "kind": "directory"},
        {"id": 2, "name": b"inbox", "parent": 1, "size": 9},
        {"id": 2, "name": b"link", "parent": 1, "size": 9},
    ]
    done = [
        {"op": "create", "id": 1, "name": b"a.tmp", "new_id": 3},
        {"op": "create", "id": 1, "name": b"a.tmp", "new_id": 3},  # opened again
        {"op": "write", "id": 3, "offset": 0, "count": 10},
        {"op": "rename", "id": 1, "name": b"a.tmp", "id2": 0, "name2": b"b"},
        {"op": "write", "id": 3, "offset": 10, "count": 10},
        {"op": "commit", "id": 3},
        {"op": "setattr", "id": 3, "size": 5},
        {"op": "setattr", "id": 3, "mode": 0o600},
        {"op": "link", "id": 3, "id2": 1, "name": b"c"},
        {"op": "rename", "id": 0, "name": b"b", "id2": 1, "name2": b"inbox"},
        {"op": "remove", "id": 1, "name": b"c"},
        {"op": "remove", "id": 1, "name": b"never there"},
        {"op": "write", "id": 2, "offset": 0, "count": 1},  # by the name that is left
        {"op": "mkdir", "id": 0, "name": b"d", "new_id": 4},
    ]
    inbox, link, tmp, b, c = (1, b"inbox"), (1, b"link"), (1, b"a.tmp"), (0, b"b"), (1, b"c")
    assert list(steps(build_of(tmp_path, there, done), 13 * SECOND)) == [
        Step(Op.FOLDER),
        Step(Op.FOLDER, 1, (1, b"")),
        Step(Op.CREATE, 2, inbox, count=9),
        Step(Op.LINK, 2, inbox, link),
        Step(Op.CREATE, 3, tmp),
        Step(Op.WRITE, 3, tmp, offset=0, count=10),
        Step(Op.RENAME, 3, tmp, b),
        Step(Op.WRITE, 3, b, offset=10, count=10),
        Step(Op.SYNC, 3, b),
        Step(Op.TRUNCATE, 3, b, offset=5),
        Step(Op.LINK, 3, b, c),
        Step(Op.REMOVE, 2, inbox),
        Step(Op.RENAME, 3, b, inbox),
        Step(Op.REMOVE, 3, c),
        Step(Op.WRITE, 2, link, offset=0, count=1),
        Step(Op.MARK),
        Step(Op.FOLDER, 4, (4, b"")),
    ]


def test_dirty_data_is_written_out_half_a_minute_later_unless_removed(tmp_path: Path) -> None:
    def make(number: int) -> list[dict[str, Any]]:
        name = b"%d" % number
        return [
            {"op": "create", "id": 0, "name": name, "new_id": number},
            {"op": "write", "id": number, "offset": 0, "count": 1},
        ]

    synced, gone = {"op": "commit", "id": 2}, {"op": "remove", "id": 0, "name": b"3"}
    done = [*make(1), *make(2), *make(3), synced, gone, *([make(4)[0]] * 40)]
    found = list(steps(build_of(tmp_path, [], done)))
    flushed = [step.file for step in found if step.op is Op.FLUSH]
    assert flushed == [1]
    assert found.index(Step(Op.FLUSH, 1, (0, b"1"))) == len(found) - 1


def test_steps_are_written_as_the_player_reads_them() -> None:
    file = BytesIO()
    played = [Step(Op.CREATE, 7, (1, b"ab"), count=5), Step(Op.RENAME, 7, (1, b"ab"), (2, b"c"))]
    write(file, played, {7: Hint.SHORT})
    text, size = file.getvalue(), RECORD.size
    assert RECORD.unpack(text[:size]) == (Op.CREATE, Hint.SHORT, 2, 0, 0, 1, 0, 0, 5)
    assert text[size : size + 2] == b"ab"
    assert RECORD.unpack(text[size + 2 : 2 * size + 2]) == (Op.RENAME, 0, 2, 1, 0, 1, 2, 0, 0)
    assert text[2 * size + 2 :] == b"abc" + RECORD.pack(Op.END, *[0] * 8)


def test_a_files_own_future_gives_its_hint() -> None:
    there = [Step(Op.CREATE, file, (0, b"%d" % file), count=MB) for file in range(1, 6)]
    done = [
        Step(Op.REMOVE, 1),  # at once
        *([Step(Op.WRITE, 2, count=MB)] * 64),  # written over and over, a megabyte apart
        Step(Op.TRUNCATE, 3, offset=1),  # after 64 MB were written
        Step(Op.LINK, 5),
        Step(Op.REMOVE, 5),  # has another name
    ]
    hints = perfect([*there, *done], free=16 * MB)
    expected = {1: Hint.NOT_SET, 2: Hint.SHORT, 3: Hint.EXTREME, 4: Hint.EXTREME, 5: Hint.EXTREME}
    assert hints == expected, "four megabytes were written after the first and before its end"


def test_the_room_of_a_load_is_what_its_files_fill_at_their_fullest() -> None:
    there = [Step(Op.FOLDER), Step(Op.CREATE, 1, count=MB)]
    done = [Step(Op.WRITE, 1, offset=MB, count=MB), Step(Op.REMOVE, 1), Step(Op.CREATE, 2, count=9)]
    assert begins([*there, *done]) == 2
    assert room_needed([*there, *done]) == (2 * MB + BLOCK, MB)


def test_the_filling_is_like_what_is_there_and_ages_it() -> None:
    like = [Step(Op.CREATE, 1, (1, b"a.html"), count=8192), Step(Op.CREATE, 2, (1, b".b"), count=9)]
    filled = list(fill(like, 50, MB, seed=1))
    assert filled == list(fill(like, 50, MB, seed=1)) != list(fill(like, 50, MB, seed=2))
    made = [step for step in filled if step.op is Op.FILL]
    removed = [step for step in filled if step.op is Op.REMOVE]
    assert {step.percent for step in made} == {50}
    assert {step.count for step in made} == {8192, 4096}
    assert all(step.name[1].endswith(b".html") for step in made if step.count == 8192)
    assert all(step.name[1].startswith(b".") for step in made if step.count == 4096)
    times = Counter(step.name for step in made)
    assert {*times.values()} == {1, 2}
    assert {name for name, number in times.items() if number == 2} == {s.name for s in removed}
    folders = {step.name[0] for step in filled if step.op is Op.FOLDER}
    assert folders == {name[0] for name in times}
    assert min(folders) == FOLDER


def test_the_files_of_one_name_have_its_hints_in_turn() -> None:
    creates = [(b"a", 1), (b"b", 2), (b"a", 1), (b"a", 3), (b"c", 4)]
    hinted = {b"a": [Hint.SHORT, Hint.EXTREME], b"b": [Hint.NOT_SET]}
    assert in_turn(creates, hinted) == {1: Hint.SHORT, 2: Hint.NOT_SET, 3: Hint.EXTREME}


def test_hints_follow_the_daemons_own_rule() -> None:
    rule = daemon_rule()
    assert list(rule) == [Hint.SHORT, Hint.MEDIUM, Hint.EXTREME, Hint.LONG]
    assert (rule[Hint.SHORT], rule[Hint.LONG]) == ([], [])
    assert {"lifespan<=30", "HotWrite"} < set(rule[Hint.MEDIUM])
    assert "lifespan>5" in rule[Hint.EXTREME]
    with pytest.raises(ValueError, match="expected the option 'short', found none"):
        daemon_rule("")


def test_a_file_is_of_the_first_class_that_is_said_of_it() -> None:
    answers = {
        "lifespan<=30": pa.array([True, False, True, False]),
        "lifespan>5": pa.array([True, True, False, False]),
    }
    rule = {Hint.MEDIUM: ["lock", "lifespan<=30"], Hint.EXTREME: ["lifespan>5"]}
    assert classes(answers, 4, rule) == [Hint.MEDIUM, Hint.EXTREME, Hint.MEDIUM, Hint.NOT_SET]


def test_a_policy_that_is_none_is_refused() -> None:
    assert policies("own,beside") == ["own", "beside"]
    with pytest.raises(ArgumentTypeError, match="perfect-short, found 'best'"):
        policies("own,best")


def test_runs_are_summed_up_beside_f2fs_own_lists_and_perfect_knowledge() -> None:
    moved = {"own": [100, 140], "learned": [80, 100], "perfect": [60, 60]}
    rows = [
        {"policy": policy, "seed": seed, "moved": n, "device": 150, "user": 100}
        for policy, own in moved.items()
        for seed, n in enumerate(own)
    ]
    (learned,) = (line.split() for line in summary(rows) if line.startswith("learned"))
    assert learned == ["learned", "2", "1.500", "90", "80", "100", "25.0%", "50%"]
    (own,) = (line.split() for line in summary(rows) if line.startswith("own"))
    assert own[-2:] == ["0.0%", "0%"]
    alone = summary(rows[2:4])[1].split()
    assert alone == ["learned", "2", "1.500", "90", "80", "100"]


def test_a_list_is_wrong_of_the_births_that_became_what_it_does_not_say() -> None:
    data = {"max_size": 9000, "writes": 1, "bytes_written": 9000}
    lives = files_of(
        life(b"a.tmp", 0.0, 2.0, **data),
        life(b"b.TMP~", 1.0, 100.0, **data),  # lives longer
        life(b"c.html", 2.0, 100.0, **data),
        life(b"d.html", 3.0, 100.0, **{**data, "bytes_written": 90_000_000}),  # written over
        life(b"e.tmp", 4.0, **{**data, "observed_until": 5.0}),  # not known
    )
    lists = Lists(cold=("html",), hot=("tmp",))
    assert claimed(lists, lives, "hot")[:2] == (2, 1)
    assert claimed(lists, lives, "cold")[:2] == (2, 1)


def test_some_users_of_a_trace_are_kept_with_all_that_they_do(tmp_path: Path) -> None:
    trace, out = tmp_path / "all.parquet", tmp_path / "some.parquet"
    rows = {"uid": [7, 3, 9, 3, None, 5], "name": [b"a", b"b", b"c", b"d", b"e", b"f"]}
    pq.write_table(
        pa.table({"uid": pa.array(rows["uid"], pa.uint32()), "name": rows["name"]}), trace
    )
    some(trace, out, of=2)
    assert pq.read_table(out)["name"].to_pylist() == [b"a", b"b", b"d"]


STATUS = """
  - COLD   data:       61       61       61          0          0       {cold}
  - WARM   data:      123      123      123          0          0        20
  - HOT    data:       -1        3        3          1          0         30
  - Dir   dnode:        0        0        0          1          0          1
"""


def printed(when: str, user: int, moved: int, sectors: int, cold: int | None = None) -> str:
    counted = {"user_blocks": user, "refused": 1, "hinted": 2, "full": 79}
    lines = "".join(f"{when}.{key} {value}\n" for key, value in counted.items())
    files = {
        "/sys/fs/f2fs/ubda/moved_blocks_foreground": str(moved - 4),
        "/sys/fs/f2fs/ubda/moved_blocks_background": "4",
        "/sys/block/ubda/stat": f"1 2 3 4 5 6 {sectors} 8",
    }
    if cold is not None:
        files["/sys/kernel/debug/f2fs/status"] = STATUS.format(cold=cold)
    return lines + "".join(f"<{when} {path}>\n{text}\n</{when}>\n" for path, text in files.items())


def test_counters_are_read_and_those_of_an_earlier_time_taken_from_them() -> None:
    text = printed("mark", 10, 100, 800) + printed("end", 15, 130, 880)
    end = read_counters(text, "end")
    assert end == Counters(15, 110, 130, 1, 2, 79)
    since = end.since(read_counters(text, "mark"))
    assert since == Counters(5, 10, 30, 0, 0, 79)


def test_where_the_kernel_says_what_is_valid_in_each_log_that_is_read_too() -> None:
    found = read_counters(printed("end", 15, 130, 880, cold=10), "end")
    assert (found.cold, found.warm, found.hot) == (10, 20, 30)


def test_counters_that_are_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected /sys/block/.* at 'end', found none"):
        read_counters(printed("mark", 1, 5, 1), "end")
    without = printed("end", 1, 5, 1).replace("blocks_background", "blocks")
    with pytest.raises(ValueError, match=r"moved_blocks_background at 'end', found none"):
        read_counters(without, "end")
    with pytest.raises(ValueError, match="found no 'hinted'"):
        read_counters(printed("end", 1, 5, 1).replace("end.hinted", "x"), "end")


def test_a_kernel_that_runs_as_a_program_is_found_and_needs_no_modules_for_disks(
    tmp_path: Path,
) -> None:
    with pytest.raises(kernel.MachineError, match="expected the package user-mode-linux"):
        user_mode.find_user_mode(tmp_path)
    modules = tmp_path / "lib/uml/modules/6.1"
    for folder in (modules, tmp_path / "bin"):
        folder.mkdir(parents=True)
    (tmp_path / "bin/linux.uml").touch()
    (modules / "modules.dep").write_text("fs/f2fs.ko: lib/a.ko\nlib/a.ko:\n")
    found = user_mode.find_user_mode(tmp_path).needed(["virtio_blk", "f2fs"])
    assert [path.name for path in found] == ["a.ko", "f2fs.ko"]


def kernel_with(folder: Path, modules: str, built_in: str = "") -> kernel.Kernel:
    (folder / "modules.dep").write_text(modules)
    (folder / "modules.builtin").write_text(built_in)
    return kernel.Kernel(folder / "vmlinuz", folder)


def test_modules_come_behind_those_that_they_need_and_built_in_ones_not_at_all(
    tmp_path: Path,
) -> None:
    debian = kernel_with(
        tmp_path, "fs/f2fs.ko: lib/b.ko lib/a.ko\nlib/a.ko:\nlib/b.ko: lib/a.ko\n", "x/blk.ko\n"
    )
    names = [path.name for path in debian.needed(["blk", "f2fs", "a"])]
    assert names == ["a.ko", "b.ko", "f2fs.ko"]
    with pytest.raises(kernel.MachineError, match="expected the module zonefs"):
        debian.needed(["zonefs"])


@pytest.mark.parametrize("text", ["panic", "birthmark: begins\nwork\nbirthmark: ends 1\n"])
def test_reports_the_output_of_a_failed_script(text: str) -> None:
    with pytest.raises(kernel.MachineError, match=text.split("\n")[0]):
        machine.printed_by(text, "")


def test_reports_a_script_s_output_without_the_kernel_s() -> None:
    text = "Booting\r\nbirthmark: begins\r\nwork\r\nbirthmark: ends 0\r\n"
    assert machine.printed_by(text, "") == "work\n"
