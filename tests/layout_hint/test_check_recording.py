"""The allocator answers as FreeBSD's own does, and what is no recording is refused.

`ffs48-seed105-first-lines.txt` is the beginning of a run of FreeBSD 4.8's allocation functions over
a file system held in memory: each answer in it is that of the real code.
`ffs131-MODE-first-lines.txt` and `ffs15-MODE-first-lines.txt` are the same of FreeBSD 13.1's with
UFS1, and of 15's with UFS2 and a region of first inodes and data, with the patches in
`layout_hint/freebsd/` and a region of that mode, as `ffs/driver.c` writes them.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

EXCERPT = Path(__file__).with_name("ffs48-seed105-first-lines.txt")
LINES = EXCERPT.read_text().splitlines(keepends=True)


def run(*paths: Path) -> tuple[int, str, str]:
    """Run the program; return its exit code and what it printed."""
    command = [sys.executable, "-m", "birthmark.layout_hint.check_recording", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "panicked" not in done.stderr
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def count(lines: list[str]) -> tuple[int, int]:
    """Return how many operations and states a recording has."""
    states = sum(line.startswith("d ") for line in lines)
    return len(lines) - 2 - states, states


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return tmp_path / "recording.txt"


def test_the_excerpt_of_a_real_run_agrees_in_every_answer() -> None:
    operations, states = count(LINES)
    assert states > 0
    expected = f"{EXCERPT}: {operations} operations and {states} states agree\n"
    assert run(EXCERPT) == (0, expected, "")


@pytest.mark.parametrize("release", ["131", "15"])
@pytest.mark.parametrize("mode", ["preferred", "data", "reserved"])
def test_excerpts_with_a_region_agree_and_would_not_in_another_mode(
    mode: str, release: str, recording: Path
) -> None:
    excerpt = EXCERPT.with_name(f"ffs{release}-{mode}-first-lines.txt")
    operations, states = count(excerpt.read_text().splitlines())
    assert min(operations, states) > 10
    expected = f"{excerpt}: {operations} operations and {states} states agree\n"
    assert run(excerpt) == (0, expected, "")
    for other in {"preferred", "data", "reserved"} - {mode}:
        recording.write_text(excerpt.read_text().replace(f" {mode} 16 = ok", f" {other} 16 = ok"))
        assert run(recording)[0] == 1
    recording.write_text(excerpt.read_text().replace(" hot = ", " = "))
    assert run(recording)[0] == 1


def test_directories_of_the_root_are_elsewhere_in_another_kernel(recording: Path) -> None:
    excerpt = EXCERPT.with_name("ffs15-data-first-lines.txt").read_text()
    recording.write_text(excerpt.replace("kernel=freebsd15", "kernel=freebsd14"))
    assert run(recording)[0] == 1


def test_a_region_that_cannot_be_differs_and_one_taken_away_changes_nothing(
    recording: Path,
) -> None:
    away = "r 0 4194304 0 reserved 8 = ok\nr = ok\n"
    recording.write_text("".join(LINES[:2]) + away + "".join(LINES[2:]))
    assert run(recording)[0] == 0
    recording.write_text("".join(LINES[:2]) + "r 99999999999 1 0 data 8 = ok\n")
    code, out, _ = run(recording)
    assert code == 1
    assert "answered: the region ends at byte 100000000000" in out


def test_all_recordings_of_the_real_allocator_agree(shared: Path) -> None:
    paths = sorted((shared / "reference" / "ffs48").glob("*.txt.gz"))
    assert len(paths) == 6
    texts = [gzip.decompress(path.read_bytes()).decode() for path in paths]
    counts = [count(text.splitlines()) for text in texts]
    expected = [
        f"{path}: {operations:,} operations and {states} states agree"
        for path, (operations, states) in zip(paths, counts, strict=True)
    ]
    code, out, err = run(*paths)
    assert (code, err, out.splitlines()) == (0, "", expected)


def test_a_changed_answer_is_the_first_difference(recording: Path) -> None:
    at = next(i for i, line in enumerate(LINES) if line.startswith("w ") and i > 50)
    request, answer = LINES[at].rstrip("\n").split(" = ")
    inode = answer.split(":")[0]
    changed = [*LINES[:at], f"{request} = {inode}: 4000\n", *LINES[at + 1 :]]
    recording.write_text("".join(changed))
    code, out, err = run(recording)
    assert (code, err) == (1, "")
    first = out.splitlines()
    assert first[0] == f"{recording}:{at + 1}: {request}"
    assert first[1] == "  recorded: … 4000"
    assert first[2] == f"  answered: … {answer.split(': ')[1]}"


@pytest.mark.parametrize("kind", ["c", "m", "root", "d"])
def test_a_changed_number_in_any_kind_of_answer_is_found(kind: str, recording: Path) -> None:
    at = next(i for i, line in enumerate(LINES) if line.split()[0] == kind)
    request, answer = LINES[at].split(" = ")
    digit = next(i for i, c in enumerate(answer) if c.isdigit() and answer[i - 1 : i] != "0")
    digit = digit if kind != "d" else answer.index("f") + 1
    other = str((int(answer[digit]) + 1) % 10)
    changed = f"{request} = {answer[:digit]}{other}{answer[digit + 1 :]}"
    recording.write_text("".join([*LINES[:at], changed, *LINES[at + 1 :]]))
    code, out, _ = run(recording)
    assert code == 1
    assert out.startswith(f"{recording}:{at + 1}: {request}\n")


def test_a_file_system_all_of_which_is_reserved_is_the_superusers(recording: Path) -> None:
    recording.write_text(LINES[0].replace("minfree=8", "minfree=99") + "".join(LINES[1:3]))
    assert run(recording)[0] == 0


def test_other_random_numbers_than_the_recorded_place_directories_elsewhere(
    recording: Path,
) -> None:
    """Where a directory in the root goes is the kernel's random choice: one more is seen."""
    at = next(i for i, line in enumerate(LINES) if line.startswith("m 2 "))
    recording.write_text("".join(LINES[:at] + LINES[at + 1 :]))
    assert run(recording)[0] != 0


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("bsize=16384", "bsize=10000", "bsize=10000: expected a power of two"),
        ("fsize=2048", "fsize=0", "fsize=0: expected a power of two"),
        ("ipg=128", "ipg=0", "ipg=0: expected a multiple of 16"),
        ("ipg=128", "ipg=2147483520", "ipg=2147483520: expected a multiple of 16"),
        ("fpg=4096", "fpg=0", "fpg=0: expected a multiple of 8"),
        ("size_frags=65536", "size_frags=0", "size_frags=0: expected from 1 to"),
        ("size_frags=65536", "size_frags=99999999999", "size_frags: a number from 0 to"),
        ("size_frags=65536", "size_frags=-1", "size_frags: a number from 0 to"),
        ("minfree=8", "minfree=800", "minfree=800: expected a percentage"),
        ("minfree=8", "maxfree=8", "`# size_frags=N fpg=N"),
        ("# ", "", "`# size_frags=N fpg=N"),
        ("spc=4096", "", "`# size_frags=N fpg=N"),
        ("spc=4096", "spc=4096 kernel=linux", "`kernel=freebsd48`, `…14`, `…15` or nothing"),
        ("spc=4096", "spc=4096 kernel=freebsd14 x", "`format=ufs1`, `format=ufs2` or nothing"),
    ],
)
def test_impossible_geometries_are_refused(
    old: str, new: str, expected: str, recording: Path
) -> None:
    assert old in LINES[0]
    recording.write_text(LINES[0].replace(old, new) + "".join(LINES[1:]))
    code, out, err = run(recording)
    assert (code, out) == (2, "")
    assert err.startswith(f"{recording}:1: expected ")
    assert expected in err


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x 2 = 3", "expected `m DIR`, `c DIR`"),
        ("c 2", "expected `m DIR`, `c DIR`"),
        ("c 2 3 = 3", "expected `m DIR`, `c DIR`"),
        ("r 0 4096 = ok", "expected `m DIR`, `c DIR`"),
        ("r 0 4096 0 kept 8 = ok", "expected `preferred`, `data` or `reserved`, not `kept`"),
        ("r 0 -1 0 data 8 = ok", "expected a size from 0"),
        ("r = 3", "expected `ok`"),
        ("", "expected `m DIR`, `c DIR`"),
        ("c 5000000000 = 3", "expected a number from 0 to 2147483647, not `5000000000`"),
        ("c +2 = 3", "expected a number from 0 to 2147483647, not `+2`"),
        ("w 3 99999999999999999999 = 3:", "expected a size from 0"),
        ("w 3 9999999999999999 = 3:", "nothing has inode 3"),
        ("c 1999 = 3", "nothing has inode 1999"),
        ("m 0 = 3", "nothing has inode 0"),
        ("u 3 2 = ok", "nothing has inode 3"),
        ("u 2 2 = ok", "inode 2 is the root directory"),
        ("c 2 = three", "expected an inode in the file system's range"),
        ("c 2 = 999999", "expected an inode in the file system's range"),
        ("m 2 = 1", "expected `INODE: ADDRESSES` in the file system's range"),
        ("m 2 = 3: 65536", "expected `INODE: ADDRESSES` in the file system's range"),
        ("w 2 600 = 2: 33 x34", "expected `INODE: ADDRESSES` in the file system's range"),
        ("d = 0[1 2 3 4]", "expected the state of every group"),
    ],
)
def test_a_line_that_cannot_be_is_refused_by_its_number(
    line: str, expected: str, recording: Path
) -> None:
    recording.write_text("".join(LINES[:2]) + line + "\n" + "".join(LINES[2:]))
    code, out, err = run(recording)
    assert (code, out) == (2, "")
    assert err.startswith(f"{recording}:3: ")
    assert expected in err


def test_a_cut_recording_is_refused_where_it_ends(tmp_path: Path) -> None:
    plain, empty, packed = tmp_path / "cut.txt", tmp_path / "empty.txt", tmp_path / "cut.txt.gz"
    plain.write_text("".join(LINES[:100])[:-1])
    empty.write_text("")
    header = tmp_path / "header.txt"
    header.write_text(LINES[0])
    whole = gzip.compress("".join(LINES).encode())
    packed.write_bytes(whole[: len(whole) // 2])
    assert run(plain) == (2, "", f"{plain}:100: expected a whole line, but it is cut off\n")
    assert run(empty)[2].startswith(f"{empty}:1: expected a recording")
    assert run(header)[2].startswith(f"{header}:2: expected `root = INODE: BLOCK`")
    code, out, err = run(packed)
    assert (code, out) == (2, "")
    line = int(err.removeprefix(f"{packed}:").split(":")[0])
    assert 1 < line <= len(LINES)


def test_bytes_that_are_no_text_and_files_that_are_not_there_are_refused(tmp_path: Path) -> None:
    noise, absent = tmp_path / "noise.txt", tmp_path / "absent.txt"
    noise.write_bytes("".join(LINES[:9]).encode() + b"c \xff\xfe = 3\n")
    assert run(noise)[2].startswith(f"{noise}:10: expected a line of text")
    assert run(absent) == (2, "", f"{absent}: expected a recording: No such file or directory\n")
    assert run(tmp_path)[0] == 2


def test_the_exit_code_is_that_of_the_worst_file(tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text("no recording\n")
    code, out, err = run(bad, EXCERPT)
    assert code == 2
    assert out.startswith(f"{EXCERPT}: ")
    assert err.startswith(f"{bad}:1: ")


def test_a_write_that_fills_the_file_system_is_answered_enospc(recording: Path) -> None:
    """Not in the real recordings: there, nothing ran out."""
    recording.write_text("".join(LINES[:2]) + "c 2 = 3\nw 3 99999999999 = ENOSPC\nu 3 2 = ok\n")
    assert run(recording)[1] == f"{recording}: 3 operations and 0 states agree\n"
