//! What was seen of files like this one before it was created: running statistics over earlier
//! births, under keys such as the directory and the shape of the name.
//!
//! At any time a history holds only what the trace had shown by then:
//!
//! - A birth is told what came before it: births and outcomes at earlier times, or at its own time
//!   but of births before it. Births of one instant come in the order of server, directory, name
//!   and handle, so that the order does not tell how they end.
//! - Whether a file lives longer than a mark (1, 5 and 30 seconds) is known at the mark if it is
//!   alive then, else at its death.
//! - Its size and use are known when it is 5 s old, as they were by then, and at its death. Of a
//!   name they are known at its end.
//! - What is not known by the end of the lives that are followed is dropped.

mod awaited;
mod births;
mod changes;
mod hash;
mod keys;
mod outcomes;
mod record;
mod scale;
pub mod shape;
mod snapshot;
mod store;

pub use awaited::Awaited;
pub use births::Creates;
pub use changes::Changed;
pub use hash::{of as hash, with as combine};
pub use keys::{Create, Keys, Namer, Names, CALLER, KEYS};
pub use record::{Fact, Record, Use, BYTES_PER_KEY, MARKS, MEMORY, WORDS};
pub use shape::{shape, shapes};
pub use snapshot::{records, to_batch, values};

use arrow_array::{FixedSizeBinaryArray, RecordBatch};
use arrow_schema::ArrowError;
use birthmark_trace::columns::{get, ColumnError};
use births::Lives;
use outcomes::Outcomes;
pub use outcomes::{Outcome, YOUNG};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use store::{Slot, Store};

/// What lives are of: each has a history of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Subject {
    File,
    Name,
}

impl Subject {
    /// Both, in their order.
    pub const ALL: [Subject; 2] = [Subject::File, Subject::Name];

    /// A key of this subject's history, told apart from the same key of the other's.
    #[inline]
    pub fn key(self, key: u64) -> u64 {
        match self {
            Subject::File => key,
            Subject::Name => !key,
        }
    }
}

/// How many bytes tell a history.
pub const BYTES: usize = birthmark_contract::create::HISTORY_BYTES;
const _: () = assert!(BYTES == KEYS * BYTES_PER_KEY);

/// Why a history could not be followed, asked or read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Error {
    #[error(transparent)]
    Column(#[from] ColumnError),
    #[error("a history of at most {0} keys, expected at least {KEYS}")]
    Few(usize),
    #[error("{0} rows in one table, expected fewer than 2^32")]
    Long(usize),
    #[error("row {row}: column {column:?} is {found}, expected {expected}")]
    Damaged { row: usize, column: String, found: String, expected: String },
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// Running statistics by key.
#[derive(Clone)]
pub struct History {
    store: Store,
    clock: i64,
}

/// Lives that a history learns as they come to be known.
struct Replay<'a> {
    history: &'a mut History,
    outcomes: Outcomes<'a>,
    awaited: Awaited,
    /// Births that are not known yet, and how many are.
    unknown: VecDeque<(Names, i64)>,
    known: usize,
}

impl<'a> Replay<'a> {
    fn new(history: &'a mut History, outcomes: Outcomes<'a>) -> Replay<'a> {
        let awaited = Awaited::new(usize::MAX);
        Replay { history, outcomes, awaited, unknown: VecDeque::new(), known: 0 }
    }

    /// Takes in the births, and what became of them, until a time.
    fn know(&mut self, until: i64) {
        while self.unknown.front().is_some_and(|(_, at)| *at <= until) {
            let Some((names, at)) = self.unknown.pop_front() else { break };
            self.learn(at);
            self.history.bear(&mut self.awaited, names, at);
            self.known += 1;
        }
        self.learn(until);
    }

    /// Takes in what became by a time of the births that are known.
    fn learn(&mut self, until: i64) {
        while let Some(outcome) = self.outcomes.next_before(until, self.known) {
            self.history.learn(&self.awaited, &outcome);
        }
    }
}

impl History {
    /// A history of which nothing is known, that keeps so many keys.
    pub fn new(most: usize) -> Result<History, Error> {
        if most < KEYS {
            return Err(Error::Few(most));
        }
        Ok(History { store: Store::new(most), clock: i64::MIN })
    }

    /// The history of each of the lives at its birth (null where there is nothing to tell), as it
    /// was known so many microseconds before; then that of later births knows them.
    pub fn follow(
        &mut self,
        lives: &RecordBatch,
        behind: i64,
    ) -> Result<FixedSizeBinaryArray, Error> {
        let lives = Lives::new(lives)?;
        let order = lives.in_order();
        let mut told = vec![0; order.len() * BYTES];
        let mut namer = Namer::default();
        let mut replay = Replay::new(self, Outcomes::new(&lives, &order));
        for (place, told) in told.chunks_exact_mut(BYTES).enumerate() {
            let row = order[place] as usize;
            let born = lives.born(row);
            let then = born.saturating_sub(behind);
            replay.know(then);
            replay.history.tell(namer.names(&lives.known(row, then)), born, told);
            replay.unknown.push_back((namer.names(&lives.creates.row(row)), born));
        }
        replay.know(order.last().map_or(i64::MIN, |row| lives.born(*row as usize)));
        replay.learn(lives.end);
        self.advance(lives.end);
        scattered(&order, &told, lives.creates.rows())
    }

    /// The history of files that are created now, which leaves no trace in it.
    pub fn at(&self, creates: &RecordBatch) -> Result<FixedSizeBinaryArray, Error> {
        let creates = Creates::new(creates, "time")?;
        let mut namer = Namer::default();
        let mut told = vec![0; creates.rows() * BYTES];
        for (row, told) in told.chunks_exact_mut(BYTES).enumerate() {
            let time = get(creates.time, row).unwrap_or(self.clock);
            self.tell(namer.names(&creates.row(row)), time, told);
        }
        let order: Vec<u32> = (0..creates.rows() as u32).collect();
        scattered(&order, &told, order.len())
    }

    /// Tells the history of a create at a time. `told` has [`BYTES`] bytes, all 0.
    pub fn tell(&self, names: Names, at: i64, told: &mut [u8]) {
        let keys = self.placed(names).keys();
        for (key, told) in keys.iter().zip(told.chunks_exact_mut(BYTES_PER_KEY)) {
            if let Some(key) = key {
                self.store.get(*key).tell(at, told);
            }
        }
    }

    /// Counts a birth, and awaits what becomes of it. Births come in their order, as said above.
    pub fn bear(&mut self, awaited: &mut Awaited, names: Names, at: i64) -> u64 {
        let names = self.placed(names);
        self.store.make_room(awaited.places());
        let mut places = [Slot::NONE; KEYS];
        for (key, place) in names.keys().iter().zip(&mut places) {
            if let Some(key) = key {
                let (slot, record) = self.store.get_or_insert(*key);
                record.bear(at);
                *place = slot;
            }
        }
        if let (Some(caller), Some(shape)) = (self.store.at(places[CALLER]), names.shape) {
            caller.shape = shape;
        }
        awaited.push(places)
    }

    /// Takes in what came to be known of a birth, if that is awaited still.
    pub fn learn(&mut self, awaited: &Awaited, outcome: &Outcome) {
        if let Some(places) = awaited.get(outcome.birth) {
            self.store.learn(places, outcome);
        }
    }

    /// Which records changed and which keys were forgotten since the last call; at first, all that
    /// there is. From then on it is kept in mind, so that it is to be called again.
    pub fn take_changed(&mut self) -> Changed {
        self.store.take_changed()
    }

    /// Notes until when it was followed.
    pub fn advance(&mut self, now: i64) {
        self.clock = self.clock.max(now);
    }

    /// What a create shows, and what its caller created before.
    fn placed(&self, names: Names) -> Names {
        Names { previous: names.caller().map(|caller| self.store.get(caller).shape), ..names }
    }
}

/// What was told to each row, in the rows' order; null for those that were told nothing.
fn scattered(order: &[u32], told: &[u8], rows: usize) -> Result<FixedSizeBinaryArray, Error> {
    let mut by_row: Vec<Option<&[u8]>> = vec![None; rows];
    for (row, told) in order.iter().zip(told.chunks_exact(BYTES)) {
        by_row[*row as usize] = Some(told);
    }
    let by_row = by_row.into_iter();
    Ok(FixedSizeBinaryArray::try_from_sparse_iter_with_size(by_row, BYTES as i32)?)
}
