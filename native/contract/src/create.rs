//! The members of a create: the data that may be known about a file or directory at that moment.
//!
//! To add a member, add a row to [`MEMBERS`].

use crate::group::same;

/// The most files in one request.
pub const FILES: usize = 10_000;
/// The longest value of a member, in bytes as JSON writes it.
pub const VALUE_BYTES: usize = 32 * 1024;
/// Suffixes of a name's member, by its form: text in UTF-8, base64 (RFC 4648 section 4), and text
/// with other bytes as `%XX` (RFC 3986 section 2.1).
pub const FORMS: [&str; 3] = ["", "_base64", "_percent"];

/// The length of a history in bytes.
pub const HISTORY_BYTES: usize = 176;

/// The longest name, bytes: NFSv3 sets no limit (RFC 1813 section 2.4).
const NAME: Kind = Kind::Name { most: 1024 };
const WORD: Kind = Kind::Number { most: u32::MAX, octal: false };
const HISTORY: Kind = Kind::Bytes { len: HISTORY_BYTES };
/// The longest file handle, bytes: that of NFSv4 (RFC 7530 section 3.1).
const HANDLE: Kind = Kind::Opaque { most: 128 };
/// The longest path, bytes: that of an export (RFC 1813 section 5.1.1).
const PATH: Kind = Kind::Path { most: 1024 };

/// The type of a member's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The name of something in a directory: 1 byte to `most`, without `/` and NUL.
    Name {
        /// In bytes.
        most: usize,
    },
    /// A whole number.
    Number {
        /// The largest.
        most: u32,
        /// Whether text in octal digits is allowed, too.
        octal: bool,
    },
    /// Text.
    Text {
        /// In characters; at least one is required.
        most: usize,
    },
    /// A time in the years 1 to 9999 UTC; requests give the zone (RFC 3339).
    Time,
    /// Bytes of fixed length; in requests base64.
    Bytes {
        /// The length.
        len: usize,
    },
    /// 1 byte to `most`; in requests base64.
    Opaque {
        /// In bytes.
        most: usize,
    },
    /// A path: 1 byte to `most`, without NUL.
    Path {
        /// In bytes.
        most: usize,
    },
    /// A whole number of 64 bits.
    Inode,
    /// Yes or no; no by default.
    Flag,
}

/// A member of a create.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// Its name in requests.
    pub name: &'static str,
    /// Its column in the table of creates (`features.CREATES`), if it has one.
    pub column: Option<&'static str>,
    /// The type of its values.
    pub kind: Kind,
    /// Whether it is required.
    pub needed: bool,
    /// Whether requests for predictions have it.
    pub files: bool,
    /// Whether requests for hints have it.
    pub hints: bool,
    /// The description of the column.
    pub meaning: &'static str,
    /// The description in requests, for each of its forms.
    pub texts: &'static [&'static str],
}

/// The usual member: optional, in all requests.
const USUAL: Member = Member {
    name: "",
    column: None,
    kind: WORD,
    needed: false,
    files: true,
    hints: true,
    meaning: "",
    texts: &[],
};
/// A member that only traces have.
const TRACE_ONLY: Member = Member { files: false, hints: false, ..USUAL };

/// The members, in the order of the table's columns.
pub const MEMBERS: &[Member; 15] = &[
    Member {
        name: "name",
        column: Some("name"),
        kind: NAME,
        needed: true,
        meaning: "the name that the create gives",
        texts: &[
            "the new name, if it is UTF-8",
            "or the name's bytes in base64",
            "or the name, other bytes as %XX",
        ],
        ..USUAL
    },
    Member {
        name: "directory_handle",
        column: Some("dir_fh"),
        kind: HANDLE,
        hints: false,
        meaning: "the handle of the directory it is born in",
        texts: &["its directory's NFS file handle, in base64"],
        ..USUAL
    },
    Member {
        name: "directory",
        column: Some("dir_name"),
        kind: NAME,
        hints: false,
        meaning: "that directory's own name, where it is known",
        texts: &[
            "the last name of its directory's path",
            "or that name in base64",
            "or that name, bytes as %XX",
        ],
        ..USUAL
    },
    Member {
        name: "mode",
        column: Some("mode"),
        kind: Kind::Number { most: 0o7777, octal: true },
        meaning: "permission bits that the create carries; EXCLUSIVE: null",
        texts: &["permission bits: octal string or number"],
        ..USUAL
    },
    Member {
        name: "uid",
        column: Some("uid"),
        kind: WORD,
        meaning: "creating caller's user",
        texts: &["user who creates it"],
        ..USUAL
    },
    Member {
        name: "gid",
        column: Some("gid"),
        kind: WORD,
        meaning: "creating caller's group",
        texts: &["group of that user"],
        ..USUAL
    },
    Member {
        name: "group",
        column: Some("group"),
        kind: WORD,
        meaning: "group that the file system gives it",
        ..TRACE_ONLY
    },
    Member {
        name: "client",
        column: Some("client"),
        kind: Kind::Text { most: 255 },
        meaning: "creating caller's host",
        texts: &["the machine that asks for it"],
        ..USUAL
    },
    Member {
        name: "time",
        column: Some("time"),
        kind: Kind::Time,
        meaning: "when it is born",
        texts: &["when, as of RFC 3339"],
        ..USUAL
    },
    Member {
        name: "history",
        column: Some("history"),
        kind: HISTORY,
        hints: false,
        meaning: "what was seen before: `features.HISTORY`; null: unknown",
        texts: &["what was seen before it, in base64"],
        ..USUAL
    },
    Member {
        name: "name_history",
        column: Some("name_history"),
        kind: HISTORY,
        hints: false,
        meaning: "what was seen of names, for predicates about them; null: as `history`",
        texts: &["what was seen of names before it, in base64"],
        ..USUAL
    },
    Member {
        name: "directory_system",
        kind: Kind::Opaque { most: 64 },
        hints: false,
        texts: &["its directory's file system, as file handles have it, in base64"],
        ..USUAL
    },
    Member {
        name: "directory_inode",
        kind: Kind::Inode,
        hints: false,
        texts: &["the directory's number in that file system"],
        ..USUAL
    },
    Member {
        name: "directory_path",
        kind: PATH,
        hints: false,
        texts: &[
            "its directory's path, from the topmost directory that the follower knows",
            "or that path in base64",
            "or that path, bytes as %XX",
        ],
        ..USUAL
    },
    Member {
        name: "is_directory",
        kind: Kind::Flag,
        files: false,
        meaning: "whether it is a directory itself",
        texts: &["whether it is a directory"],
        ..USUAL
    },
];

/// The kinds of requests about creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Predictions.
    Files,
    /// Hints.
    Hints,
}

impl Member {
    /// Whether requests of this kind have it.
    pub const fn belongs_to(&self, asked: Asked) -> bool {
        match asked {
            Asked::Files => self.files,
            Asked::Hints => self.hints,
        }
    }

    /// The suffixes of its name, for each of its forms.
    pub const fn forms(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::Name { .. } | Kind::Path { .. } => &FORMS,
            _ => &[""],
        }
    }
}

/// The place of a member among [`MEMBERS`].
///
/// # Panics
///
/// If there is none, at compile time.
pub const fn at(name: &str) -> usize {
    let mut place = 0;
    while place < MEMBERS.len() {
        if same(MEMBERS[place].name, name) {
            return place;
        }
        place += 1;
    }
    panic!("there is no such member of a create")
}

/// The largest value of a number.
///
/// # Panics
///
/// If the member is not a number.
pub const fn most(place: usize) -> u32 {
    match MEMBERS[place].kind {
        Kind::Number { most, .. } => most,
        _ => panic!("that member of a create is no number"),
    }
}

/// A mode's decimal digits read as octal, if that was probably meant: 0600 for 600.
///
/// That is so if the octal mode is usual, and the decimal one is not. In a usual mode the owner may
/// read, and do all that others may.
pub const fn octal_misread(mode: u32) -> Option<u32> {
    let (mut octal, mut rest, mut unit) = (0, mode, 1);
    while rest > 0 {
        if rest % 10 > 7 {
            return None;
        }
        octal += rest % 10 * unit;
        (rest, unit) = (rest / 10, unit * 8);
    }
    if is_usual(octal) && !is_usual(mode) {
        Some(octal)
    } else {
        None
    }
}

const fn is_usual(mode: u32) -> bool {
    let (owner, group, others) = (mode >> 6 & 7, mode >> 3 & 7, mode & 7);
    mode <= 0o7777 && owner & 4 != 0 && (group | others) & !owner == 0
}

const _: () = {
    let (meant, right) =
        ([600, 644, 660, 700, 755, 777, 1777, 2755], [384, 420, 432, 511, 1023, 0]);
    let mut at = 0;
    while at < meant.len() {
        assert!(octal_misread(meant[at]).is_some());
        assert!(at >= right.len() || octal_misread(right[at]).is_none());
        at += 1;
    }
};

/// Checks the members of a request that Rust writes.
///
/// # Panics
///
/// If such requests do not have one.
pub const fn assert_members(names: &[&str], asked: Asked) {
    let mut name = 0;
    while name < names.len() {
        assert!(MEMBERS[at(names[name])].belongs_to(asked), "requests have no such member");
        name += 1;
    }
}

// Each byte of a name may be written as `%XX`, and each character of that as `\u0025`.
const _: () = {
    let mut place = 0;
    while place < MEMBERS.len() {
        if let Kind::Name { most } | Kind::Path { most } = MEMBERS[place].kind {
            assert!(VALUE_BYTES >= 18 * most + 2);
        }
        place += 1;
    }
};
