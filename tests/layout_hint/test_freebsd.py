"""The FreeBSD module and the patches: what they compile to, reach, and compute.

What needs FreeBSD's own sources is in ``ffs13/patched.py``, which `make freebsd-sources` runs.
"""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from birthmark.layout_hint import INCLUDE
from tests import needs
from tests.layout_hint.freebsd import (
    FREEBSD,
    HOOK,
    PATCHES,
    changed,
    include,
    kernel,
    originals,
    run,
)
from tests.layout_hint.test_lookup import STRICT, zig

__all__ = ["kernel"]  # a fixture

SOURCES = [*sorted(FREEBSD.glob("*.c")), HOOK / "bm_hook.c"]
DRIVER = Path(__file__).with_name("region.c")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wframe-larger-than=2048"] + [
    f"-Wno-{name}" for name in ("unused-parameter", "sign-compare", "missing-field-initializers")
]


@pytest.fixture(scope="module")
def module(kernel: list[str], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the module, compiled without a warning and linked."""
    folder = tmp_path_factory.mktemp("module")
    objects = [str(folder / f"{source.stem}.o") for source in SOURCES]
    for source, out in zip(SOURCES, objects, strict=True):
        run(*kernel, *include(), *WARNINGS, "-c", str(source), "-o", out)
    out = folder / "birthmark.ko"
    run(zig()[0], "ld.lld", "-r", "-d", "-o", str(out), *objects)
    return out.read_bytes()


@pytest.fixture(scope="module")
def assembly(kernel: list[str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what the compiler makes of the module, without inlining."""
    out = tmp_path_factory.mktemp("assembly") / "out.s"
    texts = []
    for source in SOURCES:
        run(*kernel, *include(), "-fno-inline", "-g0", "-S", str(source), "-o", str(out))
        texts.append(out.read_text())
    return "\n".join(texts)


def undefined(elf: bytes) -> set[str]:
    """Return the names that an ELF object of 64 bits leaves to others; weak ones not."""
    at, entry, count = struct.unpack_from("<Q10xHH", elf, 40)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, at + entry * i) for i in range(count)]
    names = set()
    for _, kind, _, _, offset, size, link, _, _, each in sections:
        if kind != 2:  # the table of symbols
            continue
        for symbol in range(offset + each, offset + size, each):
            name, info, _, section = struct.unpack_from("<IBBH", elf, symbol)
            if section == 0 and info >> 4 == 1:
                start = sections[link][4] + name
                names.add(elf[start : elf.index(b"\0", start)].decode())
    return names


def kpi() -> dict[str, set[str]]:
    """Return the checked-in list, by its headings."""
    lists: dict[str, set[str]] = {"create": set(), "elsewhere": set()}
    heading = ""
    for line in (FREEBSD / "kpi.txt").read_text().splitlines():
        if line in lists:
            heading = line
        elif line and not line.startswith("#"):
            lists[heading].add(line)
    return lists


def test_the_module_uses_no_more_of_the_kernel_than_the_list_says(module: bytes) -> None:
    by_compiler = {"memcpy", "memset"}  # which of them depends on its version
    assert undefined(module) | by_compiler == set().union(*kpi().values())


def test_the_module_has_no_instruction_that_needs_the_floating_point_unit(assembly: str) -> None:
    assert "birthmark_ask:" in assembly
    assert re.findall(r"%(?:[xyz]mm|st\b|mm)\d*", assembly) == []


def calls(assembly: str) -> dict[str, set[str]]:
    """Return what each function calls or takes the address of; "*" stands for a pointer."""
    functions = set(re.findall(r"\.type\s+(\w+),@function", assembly))
    found: dict[str, set[str]] = {}
    inside: set[str] = set()
    for line in assembly.splitlines():
        if label := re.match(r"(\w+):", line):
            inside = found.setdefault(label[1], set()) if label[1] in functions else set()
        elif call := re.match(r"\s+(?:call|jmp)q?\s+(\S+)", line):
            inside.add("*" if call[1].startswith("*") else call[1].split("@")[0])
        elif re.match(r"\s+[a-z]", line):
            inside.update(re.findall(r"[\s,$]([A-Za-z_]\w*)(?=\(%rip\)|,|$)", line.split("#")[0]))
    return found


def reached(found: dict[str, set[str]], start: str) -> Iterator[str]:
    seen, left = {start}, [start]
    while left:
        for name in found.get(left.pop(), set()) - seen:
            seen.add(name)
            left.append(name)
            yield name


@pytest.mark.parametrize("start", ["birthmark_ask", "birthmark_outcome"])
def test_a_create_reaches_nothing_that_could_sleep(
    module: bytes, assembly: str, start: str
) -> None:
    found = calls(assembly)
    assert start in found
    outside = set(reached(found, start)) & (undefined(module) | {"*"})
    assert outside <= kpi()["create"]
    if start == "birthmark_ask":
        assert {"_rm_rlock_debug", "_rm_runlock_debug"} <= outside
        assert "malloc" in set(reached(found, "birthmark_ioctl"))  # the search does find it


def test_outcomes_are_numbered_as_the_hook_counts_them() -> None:
    hint = (FREEBSD / "ffs_hint.h").read_text()
    books = (INCLUDE / "birthmark_hint.h").read_text()
    ours = dict(re.findall(r"FFS_HINT_(\w+) = (\d)", hint))
    assert ours
    for name, number in ours.items():
        assert re.search(rf"\bBM_{name} = {number},", books), name


def test_modes_of_a_region_are_numbered_as_the_hook_numbers_them() -> None:
    hint = (FREEBSD / "ffs_hint.h").read_text()
    books = (INCLUDE / "birthmark_hint.h").read_text()
    modes = re.search(r"enum ffs_region_mode \{.*?\}", hint, re.S)
    assert modes
    ours = re.findall(r"FFS_(REGION_\w+) = (\d)", modes[0])
    assert ours == re.findall(r"#define\tBM_(REGION_\w+)\t+(\d)U", books)
    assert [name for name, _ in ours] == [
        f"REGION_{mode.upper()}" for mode in ("none", "preferred", "data", "reserved")
    ]


# The arithmetic of regions, which the patched kernel and the module share.


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs.program("cc", "gcc")
    out = tmp_path_factory.mktemp("region") / "region"
    more = ["-std=c99", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    run("cc", *STRICT, *more, f"-I{FREEBSD}", str(DRIVER), "-o", str(out))
    return out


def answers(region: Path, questions: Iterable[str]) -> list[list[int]]:
    lines = run(str(region), input="\n".join(questions)).splitlines()
    return [[int(number) for number in line.split()] for line in lines]


MB = 1 << 20
# the 40 GB of the thesis, with UFS1; layout_hint/sim/src/ffs/region.rs has the same numbers
THESIS = "r 21052416 2048 91136 231 22400 128 8 24 1424 2"
GROUP = 178 * MB
REGIONS = [
    (0, 4 * MB, [0, 0, 3, 22400, 1426, 2048]),
    (GROUP, MB, [0, 1, 0, (512 - 24) * 16, 0, 8]),
    (GROUP + MB + 1, 4096, [0, 1, (512 - 24) * 16 + 1, (514 - 24) * 16, 1424, 1424]),
    (4 * MB, MB, [3, 0, 22400, 22400, 2048, 2560]),  # no inode: nothing would be hot
    (0, 4096, [3, 0, 3, 3, 1426, 1426]),
    (231 * GROUP - 1, 2, [1]),
    ((1 << 64) - 1, (1 << 64) - 1, [1]),
    (GROUP - MB, 2 * MB, [2]),
]


@pytest.mark.parametrize(("start", "length", "expected"), REGIONS)
def test_a_region_has_the_inodes_and_fragments_that_the_replay_gives_it(
    region: Path, start: int, length: int, expected: list[int]
) -> None:
    (found,) = answers(region, [f"{THESIS} {start} {length}"])
    if expected[0] == 0 and expected[4] == expected[5]:
        assert (found[:4], found[4]) == (expected[:4], found[5])  # no fragments, wherever
    elif expected[0] == 3:
        assert found[0] == 3
    else:
        assert found == expected


def bits(data: bytes) -> list[bool]:
    return [bool(byte >> i & 1) for byte in data for i in range(8)]


def question(kind: str, data: bytes, *numbers: int) -> str:
    return " ".join(map(str, [kind, *numbers, len(data), *data]))


def maps(count: int, size: int) -> Iterator[tuple[random.Random, bytes]]:
    """Yield maps with few, some and many bits, from one seed."""
    rng = random.Random(7)
    for i in range(count):
        density = (0.03, 0.5, 0.97)[i % 3]
        draw = (sum((rng.random() < density) << b for b in range(8)) for _ in range(size))
        yield rng, bytes(draw)


def test_others_get_the_first_inode_from_the_rotor_on_that_is_not_kept(region: Path) -> None:
    asked, expected = [], []
    for rng, data in maps(600, 12):
        rotor, low = rng.randrange(96), rng.randrange(96)
        high = rng.randint(low, 96)
        asked.append(question("i", data, 96, rotor, low, high))
        free = [at for at, taken in enumerate(bits(data)) if not taken and not low <= at < high]
        later = [at for at in free if at >= rotor // 8 * 8]
        expected.append([(later or free or [-1])[0]])
    assert answers(region, asked) == expected
    assert [-1] in expected


def test_what_is_hot_gets_the_first_free_inode_of_the_region(region: Path) -> None:
    asked, expected = [], []
    for rng, data in maps(600, 12):
        low = rng.randrange(96)
        high = rng.randint(low, 96)
        asked.append(question("c", data, low, high))
        expected.append([next((at for at in range(low, high) if not bits(data)[at]), high)])
    assert answers(region, asked) == expected


def runs(data: bytes, low: int, high: int) -> list[tuple[int, int]]:
    """Return where runs of free fragments begin within a range, and their lengths; blocks of 8."""
    free, found = bits(data), []
    for block in range(low // 8, -(-high // 8)):
        at = max(low, block * 8)
        end = min(high, block * 8 + 8)
        while at < end:
            length = next((i for i in range(end - at) if not free[at + i]), end - at)
            if length:
                found.append((at, length))
            at += length + 1
    return found


def test_a_hot_block_gets_the_shortest_run_of_the_region_that_has_room(region: Path) -> None:
    asked, expected = [], []
    for rng, data in maps(900, 12):
        low, want = rng.randrange(96), rng.randint(1, 8)
        high = rng.randint(low, 96)
        asked.append(question("f", data, low, high, 8, want))
        fit = [(length, at) for at, length in runs(data, low, high) if length >= want]
        expected.append([min(fit)[1] if fit else -1])
    assert answers(region, asked) == expected
    assert [-1] in expected


def test_others_get_the_first_such_run_that_is_not_in_a_kept_block(region: Path) -> None:
    asked, expected = [], []
    for rng, data in maps(900, 24):
        start, low, length = rng.randrange(24), rng.randrange(24), rng.randint(1, 8)
        high = rng.randint(low, 24)
        asked.append(question("s", data, start, low, high, length))
        having = {at // 8 for at, run in runs(data, 0, 192) if run == length}
        free = sorted(block for block in having if not low <= block < high)
        later = [block for block in free if block >= start]
        expected.append([(later or free or [-1])[0]])
    assert answers(region, asked) == expected
    assert [-1] in expected


# The patches.


def test_the_patches_are_well_formed_and_change_the_files_that_are_named() -> None:
    git = needs.program("git")
    assert len(PATCHES) == 3
    named = {path for patch in PATCHES for path in changed(patch)}
    assert named == {*originals(), "sys/ufs/ffs/ffs_hint.h"}
    for patch in PATCHES:
        counts = run(git, "apply", "--numstat", str(patch)).splitlines()
        assert [line.split()[2] for line in counts] == changed(patch)


def test_the_header_that_the_patches_add_is_that_of_the_module() -> None:
    for patch in PATCHES:
        if "sys/ufs/ffs/ffs_hint.h" not in changed(patch):
            continue
        part = patch.read_text().split("+++ b/sys/ufs/ffs/ffs_hint.h\n")[1].split("diff --git")[0]
        body = part.split("\n-- \n")[0].splitlines()[1:]
        assert [line[1:] for line in body] == (FREEBSD / "ffs_hint.h").read_text().splitlines()
        return
    raise AssertionError("no patch adds it")
