//! Creates: the data known about a file at the moment of its create.

use birthmark_contract::history_scope::HistoryScope;

/// One create; unknown values are `None`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Create<'a> {
    /// The name that the create gives.
    pub name: Option<&'a [u8]>,
    /// The history of files (`features.HISTORY`).
    pub history: Option<&'a [u8]>,
    /// The history of names; if unknown, `history` replaces it.
    pub name_history: Option<&'a [u8]>,
    /// Mode, uid, gid, and [`birthmark_learn::encode::fnv1a`] of the client's text.
    pub values: [Option<u32>; 4],
    /// The hour of the day, UTC.
    pub hour: Option<u8>,
}

impl Create<'_> {
    /// The scope of its history.
    pub fn scope(&self) -> HistoryScope {
        self.history.map_or(HistoryScope::Nothing, HistoryScope::of)
    }

    /// The same create for predicates about names.
    pub fn of_name(&self) -> Self {
        Create { history: self.name_history.or(self.history), ..*self }
    }
}

/// The hour of the day of a time, in microseconds since the epoch.
pub fn hour(time: i64) -> u8 {
    time.div_euclid(3_600_000_000).rem_euclid(24) as u8
}

/// The data that lookups use besides the name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// Mode, uid and gid.
    pub owner: bool,
    /// The client.
    pub client: bool,
    /// The history.
    pub history: bool,
    /// The hour.
    pub hour: bool,
}

impl Needs {
    /// The union of two.
    pub fn or(self, other: Needs) -> Needs {
        Needs {
            owner: self.owner || other.owner,
            client: self.client || other.client,
            history: self.history || other.history,
            hour: self.hour || other.hour,
        }
    }
}
