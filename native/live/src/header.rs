//! The first page of a shared history: what it is, and how its follower is doing.

use super::table::Table;
use super::words::{Words, WordsMut};
use birthmark_learn::history::WORDS as RECORD;

/// The first word: `BMLIVE` and two bytes that tell machines apart that order bytes otherwise.
const MAGIC: u64 = u64::from_le_bytes(*b"BMLIVE\x01\x02");
/// What the words mean, those of records included. It changes whenever that does.
pub const VERSION: u64 = 2;
/// How many words come before the tables.
const PAGE: usize = 512;
/// How many words a directory takes: its handle's hash, that of its name's shape, whether it has one.
pub const DIRECTORY: usize = 3;
/// The longest version of a follower that is told, bytes.
const VERSION_BYTES: usize = 64;

/// Places in the page. What readers look at anew each time, what one writer stores into the file of
/// another, and the rest are in different lines of a cache.
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
/// Not 0 once another file has taken the place of this one.
pub const SUPERSEDED: usize = at::SUPERSEDED;

/// Why words are no shared history that can be read.
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

/// Where everything is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// What is known under each key of a history.
    pub records: Table<RECORD>,
    /// Directories by alias.
    pub directories: Table<DIRECTORY>,
}

impl Layout {
    /// Room for so many keys and aliases; none if that is more than memory has.
    pub fn with_room(keys: usize, aliases: usize) -> Option<Layout> {
        let records = Table::<RECORD>::buckets_for(keys);
        Layout::new(records, Table::<DIRECTORY>::buckets_for(aliases))
    }

    fn new(records: usize, directories: usize) -> Option<Layout> {
        let records = Table::new(PAGE, records)?;
        let directories = Table::new(records.end(), directories)?;
        Some(Layout { records, directories })
    }

    /// How many words there are.
    pub fn words(&self) -> usize {
        self.directories.end()
    }

    /// The layout that a header tells, which fits the words that there are.
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
        let told = follower.len().min(VERSION_BYTES);
        version[..told].copy_from_slice(&follower.as_bytes()[..told]);
        for (word, bytes) in version.chunks_exact(8).enumerate() {
            let bytes = bytes.try_into().map_or(0, u64::from_le_bytes);
            words.store(at::FOLLOWER + word, bytes);
        }
        words.store(at::MAGIC, MAGIC);
    }
}

/// Which of the files that came one after the other this is.
pub fn generation(words: &impl Words) -> u64 {
    words.load(at::GENERATION)
}

/// The version of the follower that writes it.
pub fn follower(words: &impl Words) -> String {
    let bytes: Vec<u8> = (0..VERSION_BYTES / 8)
        .flat_map(|word| words.load(at::FOLLOWER + word).to_le_bytes())
        .take_while(|&byte| byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a follower is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It reads what it missed: what it knows is of earlier.
    #[default]
    Starting,
    /// It follows the traffic.
    Following,
    /// It has ended, in order.
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

/// How a follower is doing, as it says itself with each update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The time of the last operation that is known, in microseconds since the epoch.
    pub trace_clock: i64,
    /// How long ago that operation was when it became known, microseconds.
    pub lag: u64,
    /// The share of operations that were lost in the last minutes, in millionths.
    pub loss: u64,
    /// What it is at.
    pub state: State,
    /// How many operations it has followed since it began.
    pub operations: u64,
}

/// What two clocks of the machine show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Microseconds since the epoch. To be shown: it may be set at any time.
    pub wall: i64,
    /// Microseconds since the machine started, the same for all processes. To be reckoned with.
    pub monotonic: i64,
}

/// How many keys or aliases are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Keys of records.
    pub keys: u64,
    /// Of those that were given, how many had to give way in full buckets.
    pub keys_gave_way: u64,
    /// Aliases of directories.
    pub aliases: u64,
    /// Of those that were given, how many had to give way in full buckets.
    pub aliases_gave_way: u64,
}

/// What a header tells besides its sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// What the follower says.
    pub report: Report,
    /// When it said so.
    pub updated: Clocks,
    /// How much is kept.
    pub counts: Counts,
}

impl Facts {
    /// Reads them; none if the state is none that there is.
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
