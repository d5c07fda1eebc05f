//! What a create is: what may be known of a file or directory at the moment it is created.
//!
//! A member is added by a row of [`MEMBERS`].

use crate::group::same;

/// The most files in one request.
pub const FILES: usize = 10_000;
/// The longest value of a member, in bytes as JSON writes it.
pub const VALUE_BYTES: usize = 32 * 1024;
/// What is put after a name's member, by the form that it is written in: as text in UTF-8, in base64
/// (RFC 4648 section 4), and with other bytes as `%XX` (RFC 3986 section 2.1).
pub const FORMS: [&str; 3] = ["", "_base64", "_percent"];

/// How many bytes tell what was seen before a create.
pub const HISTORY_BYTES: usize = 176;

/// The longest name, bytes: NFSv3 sets no limit (RFC 1813 section 2.4).
const NAME: Kind = Kind::Name { most: 1024 };
const WORD: Kind = Kind::Number { most: u32::MAX, octal: false };
const HISTORY: Kind = Kind::Bytes { len: HISTORY_BYTES };
/// The longest file handle, bytes: that of NFSv4 (RFC 7530 section 3.1).
const HANDLE: Kind = Kind::Opaque { most: 128 };
/// What an export is mounted by is no longer (RFC 1813 section 5.1.1).
const PATH: Kind = Kind::Path { most: 1024 };

/// What a member's values are.
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
        /// Whether text is one, too, in octal digits.
        octal: bool,
    },
    /// Text.
    Text {
        /// In characters, of which there is one at least.
        most: usize,
    },
    /// A moment of the years 1 to 9999 UTC, of which requests tell the zone (RFC 3339).
    Time,
    /// So many bytes; in requests base64.
    Bytes {
        /// How many.
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
    /// Yes or no; what is left out is no.
    Flag,
}

/// Something that may be known of a create.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// What requests call it.
    pub name: &'static str,
    /// What the table of creates (`features.CREATES`) calls it, if it is a column there.
    pub column: Option<&'static str>,
    /// What its values are.
    pub kind: Kind,
    /// Whether it must be known.
    pub needed: bool,
    /// Whether it is told of files that predictions are asked about.
    pub files: bool,
    /// Whether it is told of creates that hints are asked about.
    pub hints: bool,
    /// What the column is.
    pub meaning: &'static str,
    /// What a request says in it, for each form that it may have.
    pub told: &'static [&'static str],
}

/// What most members are: of everything that is asked about, and known or not.
const USUAL: Member = Member {
    name: "",
    column: None,
    kind: WORD,
    needed: false,
    files: true,
    hints: true,
    meaning: "",
    told: &[],
};
/// Those that only traces know.
const UNTOLD: Member = Member { files: false, hints: false, ..USUAL };

/// What may be known, in the order of the table's columns.
pub const MEMBERS: &[Member; 15] = &[
    Member {
        name: "name",
        column: Some("name"),
        kind: NAME,
        needed: true,
        meaning: "the name that the create gives",
        told: &[
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
        told: &["its directory's NFS file handle, in base64"],
        ..USUAL
    },
    Member {
        name: "directory",
        column: Some("dir_name"),
        kind: NAME,
        hints: false,
        meaning: "that directory's own name, where it is known",
        told: &[
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
        told: &["permission bits: octal string or number"],
        ..USUAL
    },
    Member {
        name: "uid",
        column: Some("uid"),
        kind: WORD,
        meaning: "creating caller's user",
        told: &["user who creates it"],
        ..USUAL
    },
    Member {
        name: "gid",
        column: Some("gid"),
        kind: WORD,
        meaning: "creating caller's group",
        told: &["group of that user"],
        ..USUAL
    },
    Member {
        name: "group",
        column: Some("group"),
        kind: WORD,
        meaning: "group that the file system gives it",
        ..UNTOLD
    },
    Member {
        name: "client",
        column: Some("client"),
        kind: Kind::Text { most: 255 },
        meaning: "creating caller's host",
        told: &["the machine that asks for it"],
        ..USUAL
    },
    Member {
        name: "time",
        column: Some("time"),
        kind: Kind::Time,
        meaning: "when it is born",
        told: &["when, as of RFC 3339"],
        ..USUAL
    },
    Member {
        name: "history",
        column: Some("history"),
        kind: HISTORY,
        hints: false,
        meaning: "what was seen before: `features.HISTORY`; null: unknown",
        told: &["what was seen before it, in base64"],
        ..USUAL
    },
    Member {
        name: "name_history",
        column: Some("name_history"),
        kind: HISTORY,
        hints: false,
        meaning: "what was seen of names, for predicates about them; null: as `history`",
        told: &["what was seen of names before it, in base64"],
        ..USUAL
    },
    Member {
        name: "directory_system",
        kind: Kind::Opaque { most: 64 },
        hints: false,
        told: &["its directory's file system, as file handles have it, in base64"],
        ..USUAL
    },
    Member {
        name: "directory_inode",
        kind: Kind::Inode,
        hints: false,
        told: &["the directory's number in that file system"],
        ..USUAL
    },
    Member {
        name: "directory_path",
        kind: PATH,
        hints: false,
        told: &[
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
        told: &["whether it is a directory"],
        ..USUAL
    },
];

/// What is asked about creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Predictions.
    Files,
    /// Hints.
    Hints,
}

impl Member {
    /// Whether requests that ask for `asked` have it.
    pub const fn is_told(&self, asked: Asked) -> bool {
        match asked {
            Asked::Files => self.files,
            Asked::Hints => self.hints,
        }
    }

    /// What is put after its name, for each form that it may have.
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
/// If there is none: what is compiled asks for those alone that there are.
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

/// The largest number that a member can be.
///
/// # Panics
///
/// If it is none.
pub const fn most(place: usize) -> u32 {
    match MEMBERS[place].kind {
        Kind::Number { most, .. } => most,
        _ => panic!("that member of a create is no number"),
    }
}

/// Checks the members of a request that Rust writes.
///
/// # Panics
///
/// If one is not told.
pub const fn assert_told(names: &[&str], asked: Asked) {
    let mut name = 0;
    while name < names.len() {
        assert!(MEMBERS[at(names[name])].is_told(asked), "requests have no such member");
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
