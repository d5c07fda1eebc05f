"""``birthmark top``, as it is typed, and as it is seen on a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.commands.top_page import Picture, screen
from birthmark.commands.top_screen import PAUSE, View, next_beat
from birthmark.data.common.durations import SECOND
from birthmark.data.samples import DAYS
from birthmark.data.settings import TopKey, Watching
from birthmark.data.top.feeds import Played
from birthmark.data.top.load import LiveCounts, Row, Snapshot
from birthmark.data.top.sums import Evicted
from birthmark.data.top.watch import Watch
from birthmark.terminal import Terminal
from tests.builders.traces import trace_of
from tests.generated import write
from tests.waiting import eventually

DAY = str(DAYS[0])
TOP = [sys.executable, "-m", "birthmark", "top"]
HOME, ALTERNATE, NORMAL, CURSOR = b"\x1b[H", b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"
ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
FORGED = b"x\x1b[2J\x1b]0;owned\x07\xc2\x9b31m\r\n\xe2\x80\xaeevil"
KEYS = "Users Clients Dirs Files  Ops Bytes Read Written Latency Errs  Time Pause Quit ?"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["top", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def table(text: str) -> list[list[str]]:
    """Return the words of the rows below the columns' names."""
    lines = text.splitlines()
    (head,) = [at for at, line in enumerate(lines) if line.rstrip().endswith("mostly")]
    return [line.split() for line in lines[head + 1 :] if line.strip() and line.rstrip() != KEYS]


class Shown:
    """A program on a terminal of its own, whose keyboard and screen these are."""

    def __init__(self, arguments: Sequence[str], stdin: int | None, **environment: str) -> None:
        self.terminal, self.program = pty.openpty()
        self.resize(24, 80)
        self.before = termios.tcgetattr(self.program)
        self.report = b""
        own = ("NO_COLOR", "COLUMNS", "LINES")  # a tester's terminal is not this one
        plain = {name: value for name, value in os.environ.items() if name not in own}
        self.process = subprocess.Popen(
            [*TOP, *arguments],
            stdin=self.program if stdin is None else stdin,
            stdout=self.program,
            stderr=subprocess.PIPE,
            env={**plain, "TERM": "xterm-256color", **environment},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0),
        )

    def resize(self, lines: int, columns: int) -> None:
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys: bytes) -> None:
        os.write(self.terminal, keys)

    @property
    def picture(self) -> str:
        """The last picture that was drawn whole."""
        frames = self.report.split(HOME)
        return ESCAPES.sub(b"", frames[-1]).decode().replace("\r", "")

    @property
    def drawn(self) -> int:
        """How many pictures were drawn."""
        return self.report.count(HOME)

    def until(self, what: str) -> str:
        """Wait for a picture that holds a pattern; return it."""
        end = time.monotonic() + 30
        while not (self.picture.endswith(self.ending) and re.search(what, self.picture)):
            assert time.monotonic() < end, self.picture
            self.read()
        return self.picture

    ending = "Quit ?"

    def read(self) -> None:
        if select.select([self.terminal], [], [], 0.1)[0]:
            self.report += os.read(self.terminal, 1 << 16)

    def end(self) -> int:
        """Wait for the end; the terminal must be as it was."""
        end = time.monotonic() + 20
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
        code = self.process.wait(1)
        self.read()
        assert self.report.endswith(NORMAL)
        assert self.report.count(ALTERNATE) == self.report.count(NORMAL)
        assert self.report.rfind(CURSOR) > self.report.rfind(b"\x1b[?25l")
        assert termios.tcgetattr(self.program) == self.before
        return code


@contextmanager
def shown(*arguments: str, stdin: int | None = None, **environment: str) -> Iterator[Shown]:
    """Run it on a terminal; end it in any case."""
    own = Shown(arguments, stdin, **environment)
    try:
        yield own
    finally:
        own.process.kill()
        own.process.communicate()
        os.close(own.terminal)
        os.close(own.program)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a trace with a file whose name would do things to a terminal."""
    trace = tmp_path_factory.mktemp("hostile") / "trace.txt"
    trace.write_text(forged_trace())
    return trace


def forged_trace() -> str:
    from datetime import UTC, datetime

    born = datetime(2001, 10, 22, tzinfo=UTC)
    name = "".join(chr(each) for each in FORGED if each not in b'\r\n"')
    row: dict[str, Any] = {"born": born, "died": None, "max_size": 10, "mode": 0o600}
    return trace_of([{**row, "name": name.encode()}])


def test_without_a_screen_one_picture_of_a_trace_is_printed() -> None:
    printed = run(DAY, "--passwd", "/dev/null", "--count", "2")
    assert "104,344 ops" in printed
    assert [row[:3] for row in table(printed)] == [
        ["1002", "60,006", "58%"],
        ["1001", "27,728", "27%"],
    ]
    assert printed == run(DAY, "--once", "--passwd", "/dev/null", "--count", "2")
    assert "\x1b" not in printed


def test_words_choose_whose_rows_and_their_order() -> None:
    (row,) = table(run(DAY, "--by", "file", "--order", "written", "--count", "1"))
    assert row[0] == "/home/ben/data/jobs.db"
    assert table(run(DAY, "--by", "client", "--count", "1"))[0][0] == "127.0.0.11"


def test_users_have_the_names_that_a_file_gives(tmp_path: Path) -> None:
    (tmp_path / "users").write_text("1002 ben\n")
    rows = table(run(DAY, "--passwd", f"{tmp_path}/users", "--count", "2"))
    assert [row[0] for row in rows] == ["ben", "1001"]


def test_for_scripts_there_is_a_line_or_an_object_of_a_whole_trace() -> None:
    head, line = run(DAY, "--line", "--passwd", "/dev/null").splitlines()
    report = dict(zip(head.removeprefix("#").split(), line.split(), strict=True))
    assert (report["ops"], report["user"]) == ("104344", "1002")
    assert (report["us_p99"], report["client"], report["directory"]) == (
        "3007",
        "127.0.0.11",
        "/home",
    )
    found = json.loads(run(DAY, "--json", "--passwd", "/dev/null", "--count", "1"))
    assert (found["ops"], found["errors"]) == (104_344, 23_234)
    assert found["user"][0]["uid"] == 1002
    assert found["file"][0]["ops"] == 1581
    assert found["lost"] == {"packets": 0, "gaps": 0, "aside": 0, "files": 0, "unread": None}


def test_lines_of_live_traffic_add_up(tmp_path: Path) -> None:
    lines = run(DAY, "--pace", "30", "--line").splitlines()[1:-1]
    seconds = [float(line.split()[0]) for line in lines]
    assert seconds == [seconds[0] + at for at in range(len(seconds))]
    done = subprocess.run(
        [*TOP, DAY, "--pace", "30", "--json"], capture_output=True, text=True, check=True
    )
    late = re.search(r"warning: ([\d,]+) operations were known only after", done.stderr)
    report = sum(json.loads(line)["ops"] for line in done.stdout.splitlines())
    assert report + (int(late[1].replace(",", "")) if late else 0) == 104_344


def test_lines_may_be_of_longer_stretches_than_any_window() -> None:
    lines = run(DAY, "--pace", "100", "--line", "--every", "65").splitlines()[1:]
    assert [float(line.split()[1]) for line in lines] == [65.0, 6.0]
    assert sum(int(line.split()[2]) for line in lines) == 104_344


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{day}", "--once", "--line"], "expected one of --once, --line and --json"),
        (["-", "{day}"], "expected - alone: it is followed live"),
        (["-", "--pace", "1"], "--pace: expected a trace; - is live"),
        (["{day}", "--follow", "--pace", "1"], "day1.parquet is live"),
        (["{day}", "--pace", "0"], "greater than 0"),
        (["{day}", "--by", "colour"], "Invalid value for '--by'"),
        (["{day}", "--window", "soon"], "'soon' is no duration"),
        (["{tmp}/missing"], "missing: No such file or directory"),
        (["{tmp}/text"], "text: is no trace"),
        (["{day}", "{day}"], "name it once"),
        (["{day}", "--passwd", "{tmp}/missing"], "missing: No such file or directory"),
    ],
)
def test_bad_arguments_are_refused(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no trace\n")
    words = [each.format(day=DAY, tmp=tmp_path) for each in arguments]
    done = subprocess.run([*TOP, *words], stdin=subprocess.PIPE, capture_output=True, text=True)
    assert done.returncode in (1, 2)
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_into_a_pipe_live_traffic_is_plain_lines_until_it_ends(shared: Path) -> None:
    capture = str(shared / "captures" / "tiny.pcap")
    with subprocess.Popen(["cat", capture], stdout=subprocess.PIPE) as sender:
        done = subprocess.run([*TOP, "-"], stdin=sender.stdout, capture_output=True, text=True)
    head, *lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert head.startswith("#time seconds ops errors")
    assert sum(int(line.split()[2]) for line in lines) == 343
    assert done.stdout.isascii()


def test_it_ends_quietly_when_its_pipe_is_closed() -> None:
    with subprocess.Popen(
        [*TOP, DAY, "--pace", "20", "--line"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(20) in (1, 141)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_lines_end_with_a_signal(number: signal.Signals) -> None:
    with subprocess.Popen(
        [*TOP, DAY, "--pace", "1", "--line"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.readline()
        process.send_signal(number)
        _, text_out = process.communicate(timeout=20)
    assert (process.returncode, text_out) == (0, b"")


def test_a_screen_shows_the_busiest_and_keys_choose_which() -> None:
    with shown(DAY, "--passwd", "/dev/null") as own:
        first = own.until(r"\n1002 ")
        assert len(first.split("\n")) == 24
        assert first.split("\n")[-1] == KEYS
        assert all(cell_len(line) == 80 for line in first.split("\n"))
        own.press(b"c")
        own.until(r"\n127\.0\.0\.11 ")
        own.press(b"D")  # with caps lock
        own.until(r"\n/home/ben ")
        own.press(b"\t")
        own.until(r"\nfile .*\n…venv-b/lib/")
        own.press(b"w")
        assert table(own.until(r"mostly *\n/home/ben/data/jobs\.db "))[0][4] == "13.2"
        own.press(b"\x1b[A\x1b[15~zZ5\x00\xff")  # arrows, function keys, and what means nothing
        own.press(b"uo")
        assert table(own.until(r"\n1002 "))[0][:2] == ["1002", "60,006"]
        own.press(b"q")
        assert own.end() == 0


def test_a_question_mark_explains_the_keys_until_the_next_key() -> None:
    with shown(DAY) as own:
        own.until(r"\n1002 ")
        own.press(b"?")
        explained = own.until("show and hide this help")
        assert not re.search(r"\n1002 ", explained)
        assert explained.split("\n")[-1] == KEYS
        own.press(b"c")
        assert "show and hide" not in own.until(r"\n127\.0\.0\.11 ")
        own.press(b"q")
        assert own.end() == 0


def test_users_are_numbers_unless_a_file_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a server need not be those of the host that looks at its traffic."""
    (row,) = table(run(DAY, "--user", "0", "--count", "1"))
    assert row[0] == "0"


def test_directories_that_differ_in_the_middle_are_distinct_on_a_narrow_screen() -> None:
    paths = [f"/srv/project/{each}/lib/python3.11/site-packages" for each in ("alpha", "beta")]
    rows = [Row(path, ops=10) for path in paths]
    seen = Snapshot(0, SECOND, Row(None, ops=20), {"directory": rows})
    drawn = screen(Picture("day", seen, "directory", "ops"), 80, 24).plain.split("\n")
    assert len({line for line in drawn if line.startswith(("/srv", "…"))}) == 2


def test_a_screen_refreshes_until_it_is_paused() -> None:
    with shown(DAY, "--pace", "1", "--every", "0.3") as own:
        own.until("last 1 s")
        own.until("last 3 s")
        assert own.drawn >= 4
        own.press(b"p")
        own.until("paused")
        own.read()
        drawn = own.drawn
        time.sleep(1)
        own.read()
        assert own.drawn == drawn
        own.press(b"t")
        own.until("last [0-9]+ s .*paused")
        own.press(b"t")
        own.until("since the start .*paused")
        own.press(b" ")
        own.until("since the start   2[0-9 :-]+UTC *\n")
        own.press(b"q")
        assert own.end() == 0


def test_pictures_are_due_on_one_beat_also_where_a_key_or_a_busy_machine_came_between() -> None:
    beat = 100.0
    for now, expected in ((100.0, 101.0), (100.3, 101.0), (99.4, 100.0), (104.2, 105.0)):
        assert next_beat(beat, 1.0, now) == pytest.approx(expected)


def test_a_pause_ends_before_what_passes_fills_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    view = View("day1", Watching(), {})
    watched = Watch(
        LiveCounts(reach=view.reach), Played([DAY], LiveCounts(reach=SECOND).columns, pace=1000)
    )
    watched.poll()
    watched.go_on()
    view.press("p")
    view.wake(watched)
    assert view.paused
    monkeypatch.setattr(Watch, "waits", PAUSE + 1)
    view.wake(watched)
    assert not view.paused


def test_a_screen_takes_the_size_that_the_terminal_gets() -> None:
    with shown(DAY, "--passwd", "/dev/null") as own:
        own.until(r"\n1002 ")
        own.resize(10, 50)
        own.ending = "Written L"
        lines = own.until(r"\n1002 ").split("\n")
        assert len(lines) == 10
        assert all(cell_len(line) == 50 for line in lines)
        assert "60,006" in own.picture
        own.resize(3, 10)
        own.ending = "latency 0."
        own.until(r"^day1.*\n104")
        own.resize(40, 200)
        own.ending = "Quit ?" + 120 * " "
        assert len(own.until(r"\n1002 ").split("\n")) == 40
        own.press(b"q")
        own.end()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_screen_and_leaves_the_terminal_as_it_was(number: signal.Signals) -> None:
    with shown(DAY) as own:
        own.until("ops")
        own.process.send_signal(number)
        assert own.end() == 0


def test_it_ends_quietly_where_the_terminal_has_gone() -> None:
    own = Shown([DAY, "--pace", "1"], None)
    own.until("ops")
    os.close(own.program)
    os.close(own.terminal)
    _, text_out = own.process.communicate(timeout=30)
    assert (own.process.returncode, text_out) == (0, b"")


def test_control_c_and_control_z_do_what_they_do_elsewhere() -> None:
    with shown(DAY) as own:
        own.until("ops")
        own.press(b"\x1a")
        _, status = os.waitpid(own.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        own.read()
        assert own.report.endswith(NORMAL)
        assert termios.tcgetattr(own.program) == own.before
        own.process.send_signal(signal.SIGCONT)
        assert eventually(lambda: own.read() or own.report.count(ALTERNATE) == 2)
        own.until("ops")
        own.press(b"\x03")
        assert own.end() == 0


def test_live_traffic_comes_from_stdin_and_keys_from_the_terminal(shared: Path) -> None:
    source, sink = os.pipe()
    with shown("-", "--passwd", "/dev/null", "--every", "0.3", stdin=source) as own:
        os.close(source)
        own.until("no operation yet")
        os.write(sink, (shared / "captures" / "tiny.pcap").read_bytes())
        own.press(b"tt")
        own.until(r"since the start .*\n[1-9][0-9]* ops")
        assert "ended" not in own.picture
        os.close(sink)
        assert "343 ops" in own.until("ended")
        drawn = own.drawn
        own.press(b"c")
        own.until(r"\nclient ")
        assert own.drawn > drawn
        own.press(b"q")
        assert own.end() == 0


def test_colours_are_left_out_on_request(tmp_path: Path) -> None:
    text = tmp_path / "made.txt"
    workload = {"name": "campus", "seed": 7, "start": "2001-10-22", "days": 0.1, "rate": 0.001}
    write(workload, text)
    for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        with shown(str(text), **environment) as own:
            own.until("generated: campus, seed 7")
            own.press(b"q")
            own.end()
            assert bool(re.search(rb"\x1b\[[0-9;]*3[0-7]m", own.report)) == coloured


def test_where_a_terminal_can_do_nothing_it_is_plain_text() -> None:
    with shown(DAY, "--count", "1", TERM="dumb") as own:
        own.process.wait(30)
        own.read()
        assert b"\x1b" not in own.report
        assert b"104,344 ops" in own.report


def test_names_of_files_do_nothing_to_the_terminal(hostile: Path) -> None:
    for arguments in ([], ["--line"], ["--json"]):
        printed = run(str(hostile), "--by", "file", *arguments)
        assert all(line.isprintable() for line in printed.splitlines())
        assert "evil" in printed
    with shown(str(hostile), "--by", "file") as own:
        own.until("evil")
        own.press(b"q")
        own.end()
        stored = ESCAPES.sub(b"", own.report).decode().replace("\r", "").replace("\n", "")
        assert stored.isprintable()
        assert b"owned\x07" not in own.report


@pytest.mark.parametrize("width", [1, 5, 12, 20, 33, 47, 60, 80, 200])
@pytest.mark.parametrize("height", [1, 3, 6, 24])
def test_a_screen_is_as_large_as_the_terminal_whatever_names_there_are(
    width: int, height: int
) -> None:
    names = ["/a", "/" + "漢字" * 60, "/e\u0301" * 40, "\x1b[2J" * 9, "/" + "x" * 300]
    rows = [
        Row(name, 10**12, 10**9, 7, 10**15, 10**15, 1e9, mostly="readdirplus") for name in names
    ]
    seen = Snapshot(
        0, 10**7, Row(None, 10**13, 10**9, 3, 10**16, 10**16, 1e9, 10**9), {"file": rows}
    )
    picture = Picture("t" * 99, seen, "file", "latency", "last 10 s", True, 10**15, 10**12, 0, 3.0)
    text = screen(picture, width, height)
    terminal = Terminal()
    terminal.width, terminal.height = width, height
    lines = text.plain.split("\n")
    assert len(lines) == height
    assert all(cell_len(line) <= width for line in lines)
    with terminal.capture() as text_out:
        terminal.print(text, soft_wrap=True)
    assert all(line.isprintable() for line in text_out.get().splitlines())


def test_evictions_are_reported_for_the_rows_shown() -> None:
    gone: dict[TopKey, Evicted] = {"file": Evicted(1234, 5, 67), "user": Evicted()}
    seen = Snapshot(0, 10**7, Row(None, 10), evicted=gone)
    report = [screen(Picture("day1", seen, key, "ops"), 80, 24).plain for key in ("file", "user")]
    assert "\n1,234 files evicted that had up to 5 ops, 67 files' paths evicted\n" in report[0]
    assert "evicted" not in report[1]


def test_scan_without_a_table_to_write_shows_the_busiest_on_one_screen() -> None:
    result = CliRunner().invoke(app, ["scan", DAY])
    lines = result.output.splitlines()
    assert (result.exit_code, len(lines) <= 24) == (0, True)
    assert max(map(len, lines)) <= 80
    for word in ("user", "client", "directory", "file"):
        assert sum(line.startswith(f"{word} ") for line in lines) == 1
    assert "1002                             60,006" in result.output
    found = json.loads(CliRunner().invoke(app, ["scan", DAY, "--json", "--user", "1006"]).output)
    assert (found["ops"], [row["uid"] for row in found["user"]]) == (7979, [1006])
    refused = CliRunner().invoke(app, ["scan", DAY, "--by", "user"])
    assert refused.exit_code == 2
    assert "--by: expected --out, too" in refused.output


@pytest.mark.parametrize(("command", "stored"), [("top", "5000"), ("scan", "None")])
def test_memory_that_top_frees_is_kept_for_the_next_second(command: str, stored: str) -> None:
    program = (
        "import os, sys\n"
        f"sys.argv = ['birthmark', '{command}', '--help']\n"
        "from birthmark.__main__ import main\n"
        "assert 'birthmark_native' not in sys.modules\n"
        "try: main()\n"
        "finally: print(os.environ.get('MIMALLOC_PURGE_DELAY'))\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "MIMALLOC_PURGE_DELAY"}
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == stored
