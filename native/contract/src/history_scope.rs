//! The scope of a history.

use crate::image::{
    SCOPES, SCOPE_CALLER, SCOPE_DIRECTORY, SCOPE_NAME, SCOPE_NOTHING, TELLS_CALLER,
    TELLS_DIRECTORY, TELLS_NAME,
};

/// The earlier files in a history, from the widest scope to the narrowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HistoryScope {
    /// Files in the create's directory, by its user, and of its name.
    Directory = SCOPE_DIRECTORY as isize,
    /// Files by its user, and of its name.
    Caller = SCOPE_CALLER as isize,
    /// Files of its name.
    Name = SCOPE_NAME as isize,
    /// None.
    Nothing = SCOPE_NOTHING as isize,
}

impl HistoryScope {
    /// All, in their order.
    pub const ALL: [HistoryScope; SCOPES] =
        [HistoryScope::Directory, HistoryScope::Caller, HistoryScope::Name, HistoryScope::Nothing];

    /// The scope of a history. Directory history counts only if the user is known, because most of
    /// it is per user.
    pub fn of(history: &[u8]) -> HistoryScope {
        let tells = |byte: usize| history.get(byte).is_some_and(|byte| *byte > 0);
        match [TELLS_NAME, TELLS_CALLER, TELLS_DIRECTORY].map(tells) {
            [true, true, true] => HistoryScope::Directory,
            [true, true, false] => HistoryScope::Caller,
            [true, false, _] => HistoryScope::Name,
            [false, ..] => HistoryScope::Nothing,
        }
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            HistoryScope::Directory => "directory",
            HistoryScope::Caller => "caller",
            HistoryScope::Name => "name",
            HistoryScope::Nothing => "nothing",
        }
    }
}
