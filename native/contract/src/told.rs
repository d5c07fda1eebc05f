//! How much a history tells of earlier files.

use crate::image::{
    TELLS_CALLER, TELLS_DIRECTORY, TELLS_NAME, TOLD, TOLD_CALLER, TOLD_DIRECTORY, TOLD_NAME,
    TOLD_NOTHING,
};

/// What is told of, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// Files in the create's directory, too.
    Directory = TOLD_DIRECTORY as isize,
    /// Files by its user, too.
    Caller = TOLD_CALLER as isize,
    /// Files of its name.
    Name = TOLD_NAME as isize,
    /// None.
    Nothing = TOLD_NOTHING as isize,
}

impl Told {
    /// All, in their order.
    pub const ALL: [Told; TOLD] = [Told::Directory, Told::Caller, Told::Name, Told::Nothing];

    /// What a history tells of. More than the name counts only where the user is known, who most of
    /// it is about.
    pub fn of(history: &[u8]) -> Told {
        let tells = |byte: usize| history.get(byte).is_some_and(|byte| *byte > 0);
        match [TELLS_NAME, TELLS_CALLER, TELLS_DIRECTORY].map(tells) {
            [true, true, true] => Told::Directory,
            [true, true, false] => Told::Caller,
            [true, false, _] => Told::Name,
            [false, ..] => Told::Nothing,
        }
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Told::Directory => "directory",
            Told::Caller => "caller",
            Told::Name => "name",
            Told::Nothing => "nothing",
        }
    }
}
