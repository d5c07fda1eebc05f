//! The first page of a shared history: its format, and its follower's status.

use super::table::Table;
use super::words::{Words, WordsMut};
use birthmark_learn::history::WORDS as RECORD;

/// The first word: `BMLIVE` and two bytes that reveal the byte order.
const MAGIC: u64 = u64::from_le_bytes(*b"BMLIVE\x01\x02");
/// The version of the format of all words, records included.
pub const VERSION: u64 = 2;
/// The number of words before the tables.
const PAGE: usize = 512;
/// Words of a directory: its handle's hash, that of its name's shape, and whether it has one.
pub const DIRECTORY: usize = 3;
/// Greatest length of a follower's version, bytes.
const VERSION_BYTES: usize = 64;

/// Offsets in the page. Words that readers load each time, words that another writer stores, and the
/// rest are in different cache lines.
mod at {
    pub const MAGIC: usize = 0;
    pub const VERSION: usize = 1;
    pub const WORDS: usize = 2;
    pub const RECORD_BUCKETS: usize = 3;
    pub const DIRECTORY_BUCKETS: usize = 4;
    pub const GENERATION: usize = 5;
    pub const BOOT: usize = 6;
    pub const SEQUENCE: usize = 8;
    pub const SUPERSEDED: usize = 16;
    pub const FACTS: usize = 24;
    pub const FOLLOWER: usize = 40;
}

/// Counts updates: odd while one is under way.
pub const SEQUENCE: usize = at::SEQUENCE;
/// Not 0 once another file replaces this one.
pub const SUPERSEDED: usize = at::SUPERSEDED;

/// Words that are not a readable shared history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum HeaderError {
    #[error("it does not begin as a shared history does")]
    Magic,
    #[error("a shared history of version {0}, expected {VERSION}")]
    Version(u64),
    #[error("its header says {found} {what}, expected {expected}")]
    Size { what: &'static str, found: u64, expected: String },
    #[error("it was written before this machine was started")]
    Boot,
}

/// The positions of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The records of a history by key.
    pub records: Table<RECORD>,
    /// Directories by alias.
    pub directories: Table<DIRECTORY>,
}

impl Layout {
    /// A layout for `keys` keys and `aliases` aliases; none if it exceeds the address space.
    pub fn with_room(keys: usize, aliases: usize) -> Option<Layout> {
        let records = Table::<RECORD>::buckets_for(keys);
        Layout::new(records, Table::<DIRECTORY>::buckets_for(aliases))
    }

    fn new(records: usize, directories: usize) -> Option<Layout> {
        let records = Table::new(PAGE, records)?;
        let directories = Table::new(records.end(), directories)?;
        Some(Layout { records, directories })
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.directories.end()
    }

    /// The layout in a header, which must fit the words.
    pub fn read(words: &impl Words, boot: u64) -> Result<Layout, HeaderError> {
        if words.load(at::MAGIC) != MAGIC {
            return Err(HeaderError::Magic);
        }
        match words.load(at::VERSION) {
            VERSION => {}
            version => return Err(HeaderError::Version(version)),
        }
        if words.load(at::BOOT) != boot {
            return Err(HeaderError::Boot);
        }
        let buckets = [at::RECORD_BUCKETS, at::DIRECTORY_BUCKETS].map(|at| words.load(at));
        let [records, directories] = buckets.map(|count| usize::try_from(count).unwrap_or(0));
        let layout = Layout::new(records, directories).ok_or_else(|| HeaderError::Size {
            what: "buckets",
            found: buckets[0].max(buckets[1]),
            expected: "1 to 2^32".into(),
        })?;
        let expected = words.count();
        match words.load(at::WORDS) {
            found if found == expected as u64 && layout.words() == expected => Ok(layout),
            found => {
                let expected = format!("{expected}, all that there are");
                Err(HeaderError::Size { what: "words", found, expected })
            }
        }
    }

    /// Writes a header into words that are all 0, the magic last.
    pub fn write(&self, words: &impl WordsMut, boot: u64, generation: u64, follower: &str) {
        words.store(at::VERSION, VERSION);
        words.store(at::WORDS, self.words() as u64);
        words.store(at::RECORD_BUCKETS, self.records.buckets() as u64);
        words.store(at::DIRECTORY_BUCKETS, self.directories.buckets() as u64);
        words.store(at::GENERATION, generation);
        words.store(at::BOOT, boot);
        let mut version = [0; VERSION_BYTES];
        let length = follower.len().min(VERSION_BYTES);
        version[..length].copy_from_slice(&follower.as_bytes()[..length]);
        for (word, bytes) in version.chunks_exact(8).enumerate() {
            let bytes = bytes.try_into().map_or(0, u64::from_le_bytes);
            words.store(at::FOLLOWER + word, bytes);
        }
        words.store(at::MAGIC, MAGIC);
    }
}

/// The number of the file in the sequence of files.
pub fn generation(words: &impl Words) -> u64 {
    words.load(at::GENERATION)
}

/// The version of its follower.
pub fn follower(words: &impl Words) -> String {
    let bytes: Vec<u8> = (0..VERSION_BYTES / 8)
        .flat_map(|word| words.load(at::FOLLOWER + word).to_le_bytes())
        .take_while(|&byte| byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The state of a follower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It catches up with the traffic.
    #[default]
    Starting,
    /// It follows the traffic.
    Following,
    /// It has stopped regularly.
    Stopped,
}

impl State {
    /// All, by their numbers in a header.
    pub const ALL: [State; 3] = [State::Starting, State::Following, State::Stopped];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            State::Starting => "starting",
            State::Following => "following",
            State::Stopped => "stopped",
        }
    }
}

/// A follower's report of its status with each update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The time of the last operation, in microseconds since the epoch.
    pub trace_clock: i64,
    /// The age of that operation when the follower read it, microseconds.
    pub lag: u64,
    /// The share of operations that were lost in the last minutes, in millionths.
    pub loss: u64,
    /// The state.
    pub state: State,
    /// The number of operations followed since the start.
    pub operations: u64,
}

/// The times of two clocks of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Microseconds since the epoch, for display: it may be set at any time.
    pub wall: i64,
    /// Microseconds since the machine started, the same for all processes, for durations.
    pub monotonic: i64,
}

/// The numbers of stored and evicted keys and aliases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Keys of records.
    pub keys: u64,
    /// Keys evicted from full buckets.
    pub keys_gave_way: u64,
    /// Aliases of directories.
    pub aliases: u64,
    /// Aliases evicted from full buckets.
    pub aliases_gave_way: u64,
}

/// The status in a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The follower's report.
    pub report: Report,
    /// The time of the report.
    pub updated: Clocks,
    /// The numbers of keys and aliases.
    pub counts: Counts,
}

impl Facts {
    /// Reads them; none for an unknown state.
    #[inline]
    pub fn read(words: &impl Words) -> Option<Facts> {
        let [trace_clock, lag, loss, state, operations, wall, monotonic, keys, keys_gave_way, aliases, aliases_gave_way] =
            std::array::from_fn(|word| words.load(at::FACTS + word));
        let state = *State::ALL.get(usize::try_from(state).ok()?)?;
        Some(Facts {
            report: Report { trace_clock: trace_clock as i64, lag, loss, state, operations },
            updated: Clocks { wall: wall as i64, monotonic: monotonic as i64 },
            counts: Counts { keys, keys_gave_way, aliases, aliases_gave_way },
        })
    }

    /// Stores them.
    pub fn write(&self, words: &impl WordsMut) {
        let Facts { report, updated, counts } = self;
        let facts = [
            report.trace_clock as u64,
            report.lag,
            report.loss,
            report.state as u64,
            report.operations,
            updated.wall as u64,
            updated.monotonic as u64,
            counts.keys,
            counts.keys_gave_way,
            counts.aliases,
            counts.aliases_gave_way,
        ];
        for (word, fact) in facts.into_iter().enumerate() {
            words.store(at::FACTS + word, fact);
        }
    }
}
