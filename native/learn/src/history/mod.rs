//! Histories of creates: running statistics over earlier births, under keys such as the directory
//! and the shape of the name.
//!
//! At any time a history holds only data that the trace had shown by then:
//!
//! - A birth's history has the births and outcomes before it: at earlier times, or at the same time
//!   but of births before it. Births of one instant are ordered by server, directory, name and
//!   handle, so that the order does not reveal outcomes.
//! - Whether a file lives longer than a mark (1, 5 and 30 seconds) is known at the mark if it is
//!   alive then, else at its death.
//! - Its size and use are known when it is 5 s old, as of then, and at its death; those of a name
//!   at its end.
//! - Outcomes that are still unknown when the input ends are dropped.

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
use birthmark_columns::{get, ColumnError};
use births::Lives;
use outcomes::Outcomes;
pub use outcomes::{Outcome, YOUNG};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use store::{Slot, Store};

/// The subject of lives; each has a separate history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Subject {
    File,
    Name,
}

impl Subject {
    /// Both, in their order.
    pub const ALL: [Subject; 2] = [Subject::File, Subject::Name];

    /// A key of this subject's history, distinct from the same key of the other's.
    #[inline]
    pub fn key(self, key: u64) -> u64 {
        match self {
            Subject::File => key,
            Subject::Name => !key,
        }
    }
}

/// The length of a history in bytes.
pub const BYTES: usize = birthmark_contract::create::HISTORY_BYTES;
const _: () = assert!(BYTES == KEYS * BYTES_PER_KEY);

/// An error in following, looking up or reading a history.
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

/// A replay of lives, which a history learns in the order of time.
struct Replay<'a> {
    history: &'a mut History,
    outcomes: Outcomes<'a>,
    awaited: Awaited,
    /// Births that are not learned yet, and the number of those that are.
    pending: VecDeque<(Names, i64)>,
    known: usize,
}

impl<'a> Replay<'a> {
    fn new(history: &'a mut History, outcomes: Outcomes<'a>) -> Replay<'a> {
        let awaited = Awaited::new(usize::MAX);
        Replay { history, outcomes, awaited, pending: VecDeque::new(), known: 0 }
    }

    /// Learns the births and outcomes until a time.
    fn advance(&mut self, until: i64) {
        while self.pending.front().is_some_and(|(_, at)| *at <= until) {
            let Some((names, at)) = self.pending.pop_front() else { break };
            self.learn(at);
            self.history.bear(&mut self.awaited, names, at);
            self.known += 1;
        }
        self.learn(until);
    }

    /// Learns the outcomes, until a time, of the births learned so far.
    fn learn(&mut self, until: i64) {
        while let Some(outcome) = self.outcomes.next_before(until, self.known) {
            self.history.learn(&self.awaited, &outcome);
        }
    }
}

impl History {
    /// An empty history of at most `most` keys.
    pub fn new(most: usize) -> Result<History, Error> {
        if most < KEYS {
            return Err(Error::Few(most));
        }
        Ok(History { store: Store::new(most), clock: i64::MIN })
    }

    /// Returns the history of each of the lives as of `behind` microseconds before its birth (null
    /// without a birth), and learns the lives.
    pub fn follow(
        &mut self,
        lives: &RecordBatch,
        behind: i64,
    ) -> Result<FixedSizeBinaryArray, Error> {
        let lives = Lives::new(lives)?;
        let order = lives.in_order();
        let mut histories = vec![0; order.len() * BYTES];
        let mut namer = Namer::default();
        let mut replay = Replay::new(self, Outcomes::new(&lives, &order));
        for (place, out) in histories.chunks_exact_mut(BYTES).enumerate() {
            let row = order[place] as usize;
            let born = lives.born(row);
            let then = born.saturating_sub(behind);
            replay.advance(then);
            replay.history.tell(namer.names(&lives.known(row, then)), born, out);
            replay.pending.push_back((namer.names(&lives.creates.row(row)), born));
        }
        replay.advance(order.last().map_or(i64::MIN, |row| lives.born(*row as usize)));
        replay.learn(lives.end);
        self.advance(lives.end);
        scattered(&order, &histories, lives.creates.rows())
    }

    /// The current history of each create, which is not learned.
    pub fn at(&self, creates: &RecordBatch) -> Result<FixedSizeBinaryArray, Error> {
        let creates = Creates::new(creates, "time")?;
        let mut namer = Namer::default();
        let mut histories = vec![0; creates.rows() * BYTES];
        for (row, out) in histories.chunks_exact_mut(BYTES).enumerate() {
            let time = get(creates.time, row).unwrap_or(self.clock);
            self.tell(namer.names(&creates.row(row)), time, out);
        }
        let order: Vec<u32> = (0..creates.rows() as u32).collect();
        scattered(&order, &histories, order.len())
    }

    /// Writes the history of a create at a time to `out`: [`BYTES`] bytes, all 0 before.
    pub fn tell(&self, names: Names, at: i64, out: &mut [u8]) {
        let keys = self.placed(names).keys();
        for (key, out) in keys.iter().zip(out.chunks_exact_mut(BYTES_PER_KEY)) {
            if let Some(key) = key {
                self.store.get(*key).tell(at, out);
            }
        }
    }

    /// Counts a birth, and queues it for its outcomes. Births come in the order given above.
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

    /// Learns an outcome of a birth, if that is still pending.
    pub fn learn(&mut self, awaited: &Awaited, outcome: &Outcome) {
        if let Some(places) = awaited.get(outcome.birth) {
            self.store.learn(places, outcome);
        }
    }

    /// The records that changed and the keys that were evicted since the last call; at first, all
    /// records. From then on changes accumulate, so call it again.
    pub fn take_changed(&mut self) -> Changed {
        self.store.take_changed()
    }

    /// Sets the end of the input so far.
    pub fn advance(&mut self, now: i64) {
        self.clock = self.clock.max(now);
    }

    /// The names of a create, with its caller's previous create.
    fn placed(&self, names: Names) -> Names {
        Names { previous: names.caller().map(|caller| self.store.get(caller).shape), ..names }
    }
}

/// The histories in the order of the rows; null for rows without one.
fn scattered(order: &[u32], histories: &[u8], rows: usize) -> Result<FixedSizeBinaryArray, Error> {
    let mut by_row: Vec<Option<&[u8]>> = vec![None; rows];
    for (row, history) in order.iter().zip(histories.chunks_exact(BYTES)) {
        by_row[*row as usize] = Some(history);
    }
    let by_row = by_row.into_iter();
    Ok(FixedSizeBinaryArray::try_from_sparse_iter_with_size(by_row, BYTES as i32)?)
}
