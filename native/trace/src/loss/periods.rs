//! Messages seen and lost in stretches of five minutes, by server and client.

use super::UNNAMED;
use crate::message::{HostId, WINDOW};
use hashbrown::HashMap;

/// How long a period is, in microseconds: as long as the thesis's summaries are (3.4).
pub const PERIOD: i64 = 300_000_000;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operations whose call was seen.
    pub calls: u64,
    /// Of these, those whose reply was seen.
    pub replies: u64,
    /// Of these, those whose reply should have been seen.
    pub unanswered: u64,
    /// Replies whose call was not seen, though it should have been.
    pub orphans: u64,
    /// Numbers passed over by clients that count their calls, with neither call nor reply.
    pub unseen: u64,
    /// Calls of clients that count.
    pub numbered: u64,
    /// Holes in TCP's sequence numbers.
    pub holes: u64,
    /// Their bytes.
    pub missing_bytes: u64,
    /// Packets that the monitor's kernel dropped.
    pub dropped: u64,
    /// For how long nobody watched, in microseconds.
    pub unwatched: u64,
}

impl Tally {
    /// Operations of which nothing was seen, where the client's numbers tell.
    pub fn unseen(&self) -> Option<u64> {
        (self.numbered > 0 && 2 * self.numbered >= self.calls).then_some(self.unseen)
    }

    /// Estimates how many messages were lost.
    ///
    /// Each unanswered call and each orphan is one, and an operation of which nothing was seen is
    /// two. Where numbers do not tell how many there are of these, calls and replies are taken
    /// for two independent samples of the same operations, and the operations missing in both are
    /// estimated from those missing in one (Lincoln and Petersen's estimate of a population).
    pub fn lost(&self) -> f64 {
        let (unanswered, orphans) = (self.unanswered as f64, self.orphans as f64);
        let unseen = match self.unseen() {
            Some(unseen) => unseen as f64,
            None if self.replies > 0 => unanswered * orphans / self.replies as f64,
            None => 0.0,
        };
        unanswered + orphans + 2.0 * unseen
    }

    /// Messages seen.
    pub fn seen(&self) -> u64 {
        self.calls + self.replies + self.orphans
    }

    /// The share of messages that was lost, by the estimate.
    pub fn fraction(&self) -> f64 {
        let lost = self.lost();
        if lost == 0.0 {
            return 0.0;
        }
        lost / (lost + self.seen() as f64)
    }
}

/// A row of the loss table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// When it begins, in microseconds since the epoch.
    pub time: i64,
    /// The server.
    pub server: HostId,
    /// The client.
    pub client: HostId,
    /// What was counted.
    pub tally: Tally,
}

/// The bytes that a period takes which goes on, with the names of its hosts.
const OPEN: usize = 440;

type Key = (i64, HostId, HostId);

/// The periods that are going on.
#[derive(Debug, Default)]
pub struct Periods {
    open: HashMap<Key, Tally>,
    closed: Vec<Period>,
    /// The first period that is not closed.
    first: i64,
    /// The most periods that go on.
    most: usize,
    /// How often one more was asked for.
    pub unnamed: u64,
}

impl Periods {
    /// The period of a time, a server and a client.
    #[inline]
    pub fn at(&mut self, time: i64, server: HostId, client: HostId) -> &mut Tally {
        let mut key = (time.div_euclid(PERIOD), server, client);
        if self.open.len() >= self.most && !self.open.contains_key(&key) {
            self.unnamed += 1;
            key = (key.0, UNNAMED, UNNAMED);
        }
        self.open.entry(key).or_default()
    }

    /// Holds no more from now on than so many bytes do.
    pub fn limit(&mut self, bytes: usize) {
        self.most = bytes / OPEN;
    }

    /// The hosts of the periods.
    pub fn hosts(&self) -> impl Iterator<Item = HostId> + '_ {
        let open = self.open.keys().map(|(_, server, client)| [*server, *client]);
        open.chain(self.closed.iter().map(|period| [period.server, period.client])).flatten()
    }

    /// Ends the periods of which nothing more is to come: calls are given up after a window.
    pub fn close(&mut self, now: i64) {
        let first = now.saturating_sub(2 * WINDOW).div_euclid(PERIOD);
        if first <= self.first && now < i64::MAX {
            return;
        }
        self.first = first;
        let ended = self.open.extract_if(|(number, ..), _| *number < first || now == i64::MAX);
        let mut ended: Vec<(Key, Tally)> = ended.collect();
        ended.sort_unstable_by_key(|(key, _)| *key);
        self.closed.extend(ended.into_iter().map(|((number, server, client), tally)| Period {
            time: number.saturating_mul(PERIOD),
            server,
            client,
            tally,
        }));
    }

    /// The periods that have ended since the last time.
    pub fn take(&mut self) -> Vec<Period> {
        std::mem::take(&mut self.closed)
    }
}
