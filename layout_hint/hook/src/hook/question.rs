//! A question, as the C core writes it.

use birthmark_contract::hints;
use birthmark_contract::image::{KNOWN_GID, KNOWN_HOUR, KNOWN_MODE, KNOWN_NAME, KNOWN_UID};

const NAME_MAX: usize = hints::NAME_MAX as usize;

/// A create that a verdict is wanted of: `struct bm_question`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Question {
    id: u64,
    version: u32,
    generation: u32,
    known: u32,
    mode: u32,
    uid: u32,
    gid: u32,
    hour: u32,
    directory: u16,
    name_len: u16,
    name: [u8; NAME_MAX + 1],
}

impl Question {
    /// None yet.
    pub(super) const EMPTY: Self = Self {
        id: 0,
        version: 0,
        generation: 0,
        known: 0,
        mode: 0,
        uid: 0,
        gid: 0,
        hour: 0,
        directory: 0,
        name_len: 0,
        name: [0; NAME_MAX + 1],
    };

    fn known(&self, bit: u32, number: u32) -> Option<u32> {
        (self.known & bit != 0).then_some(number)
    }

    /// By which it is answered.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The name that the create gave.
    pub fn name(&self) -> Option<&[u8]> {
        let name = self.name.get(..self.name_len.into()).unwrap_or(&self.name);
        (self.known & KNOWN_NAME != 0).then_some(name)
    }

    /// Permission bits.
    pub fn mode(&self) -> Option<u32> {
        self.known(KNOWN_MODE, self.mode)
    }

    /// The owner.
    pub fn uid(&self) -> Option<u32> {
        self.known(KNOWN_UID, self.uid)
    }

    /// The group.
    pub fn gid(&self) -> Option<u32> {
        self.known(KNOWN_GID, self.gid)
    }

    /// The hour of the day, UTC.
    pub fn hour(&self) -> Option<u32> {
        self.known(KNOWN_HOUR, self.hour)
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.directory != 0
    }
}

const _: () = assert!(size_of::<Question>() == 296);
