"""A trace whose names, ids and addresses occur nowhere by chance, as text and as operations."""

from __future__ import annotations

USERS = (0x5EC1E701, 0x5EC1E702)
GROUPS = (0x5EC1E7A1, 0x5EC1E7A2)
HOSTS = ("139.25.22.203", "139.25.22.204")
WORDS = ("Zephyrine", "Quixotry", "Thesisbib", "Xylophon", "Kumquatpie", "Jabberwock")
HANDLES = ("5ec1e700aa", "5ec1e700bb", "5ec1e700cc", "5ec1e700dd")

CLIENT, SERVER = "8b1916cb.03f7", "8b1916cc.0801"
END = "con = XXX len = XXX"
REPLIED = "status=XXX pl = XXX con = XXX len = XXX"
WHO = "euid 5ec1e701 egid 5ec1e7a1"


def call(time: float, xid: int, rest: str) -> str:
    return f"{time:.6f} {CLIENT} {SERVER} T C3 {xid:x} {rest} {END}\n"


def reply(time: float, xid: int, rest: str) -> str:
    return f"{time:.6f} {SERVER} {CLIENT} T R3 {xid:x} {rest} {REPLIED}\n"


ATTRIBUTES = (
    "ftype 1 mode 1a4 nlink 1 uid 5ec1e702 gid 5ec1e7a2 size 20 used 20 rdev 0 rdev2 0 fsid 1 "
    "fileid 7 atime 1000000000.000000 mtime 1000000000.000000 ctime 1000000000.000000"
)
DAY = 1_000_000_000
TEXT = (
    call(DAY, 1, f'8 create fh 5ec1e700aa name "Zephyrine.tex" how U mode 1a4 uid 5ec1e701 {WHO}')
    + reply(DAY + 0.1, 1, f"8 create OK fh 5ec1e700bb {ATTRIBUTES}")
    + call(DAY + 1, 2, f'8 create fh 5ec1e700aa name "#Zephyrine.tex#" how G mode 180 {WHO}')
    + reply(DAY + 1.1, 2, f"8 create OK fh 5ec1e700cc {ATTRIBUTES}")
    + call(DAY + 2, 3, f'a symlink fh 5ec1e700aa name "Quixotry" sdata "/Thesisbib/../a" {WHO}')
    + reply(DAY + 2.1, 3, "a symlink OK fh 5ec1e700dd")
    + call(DAY + 3, 4, f"5 readlink fh 5ec1e700dd {WHO}")
    + reply(DAY + 3.1, 4, '5 readlink OK name "/Thesisbib/../a"')
    + call(
        DAY + 4, 5, f'e rename fh 5ec1e700aa name "Quixotry" fh2 5ec1e700aa name2 "Xylophon" {WHO}'
    )
    + reply(DAY + 4.1, 5, "e rename OK")
    + call(DAY + 5, 6, f"11 readdirp fh 5ec1e700aa cookie 0 count 200 maxcnt 1000 {WHO}")
    + reply(
        DAY + 5.1,
        6,
        '11 readdirp OK ftype 2 name-0 "." fileid-0 5 cookie-0 1 fh-0 5ec1e700aa '
        'name-1 "Kumquatpie,v" fileid-1 6 cookie-1 2 uid-1 5ec1e702 gid-1 5ec1e7a2',
    )
    + call(DAY + 6, 7, f'c remove fh 5ec1e700aa name "#Zephyrine.tex#" {WHO}')
    + reply(DAY + 6.1, 7, "c remove OK")
)
DAMAGED = (
    "# Jabberwock is no record\n"
    "XX Funny line (Jabberwock)\n"
    + call(DAY + 7, 8, '3 lookup fh 5ec1e700aa name "Jabberwock" Jabberwock 1')
    + "1000000008.0 Jabberwock"
)


def secrets() -> list[bytes]:
    """Everything in the trace that must not appear in its anonymized form, in every encoding."""
    found = [word.encode() for word in WORDS] + [host.encode() for host in HOSTS]
    found += [part.split(".")[0].encode() for part in (CLIENT, SERVER)]
    for number in (*USERS, *GROUPS):
        found += [b"%x" % number, b"%d" % number, number.to_bytes(4, "little")]
        found += [number.to_bytes(4, "big")]
    for handle in HANDLES:
        found += [handle.encode(), bytes.fromhex(handle)]
    return found


def leaks(content: bytes) -> list[bytes]:
    """Return the secrets that occur in bytes."""
    return [secret for secret in secrets() if secret in content]
