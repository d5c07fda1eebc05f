//! What is known of a file at the moment it is created.

use birthmark_contract::told::Told;

/// One create; what is not known is `None`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Create<'a> {
    /// The name that the create gives.
    pub name: Option<&'a [u8]>,
    /// What was seen before it (`features.HISTORY`).
    pub history: Option<&'a [u8]>,
    /// What was seen of names; where that is not known, `history` stands for it.
    pub name_history: Option<&'a [u8]>,
    /// Mode, uid, gid, and [`birthmark_learn::encode::fnv1a`] of the client's text.
    pub values: [Option<u32>; 4],
    /// The hour of the day, UTC.
    pub hour: Option<u8>,
}

impl Create<'_> {
    /// How much its history tells.
    pub fn told(&self) -> Told {
        self.history.map_or(Told::Nothing, Told::of)
    }

    /// The same create, as predicates about names see it.
    pub fn of_name(&self) -> Self {
        Create { history: self.name_history.or(self.history), ..*self }
    }
}

/// The hour of the day of a time, in microseconds since the epoch.
pub fn hour(time: i64) -> u8 {
    time.div_euclid(3_600_000_000).rem_euclid(24) as u8
}

/// What lookups use besides the name.
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
    /// What either uses.
    pub fn or(self, other: Needs) -> Needs {
        Needs {
            owner: self.owner || other.owner,
            client: self.client || other.client,
            history: self.history || other.history,
            hour: self.hour || other.hour,
        }
    }
}
