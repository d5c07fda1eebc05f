//! What a monitor lost: operations of which one message was seen, or none (thesis 3.5.4).
//!
//! Three things show it. A call without a reply, and a reply without a call, each show one lost
//! message. Where neither was seen nothing is left of the operation itself, but most clients number
//! their calls one after the other ([`sequence`]), so that a number never seen shows two lost
//! messages. Holes in TCP's own numbers show when bytes were lost, though not how many messages.
//!
//! A capture begins and ends amid calls: what is missing within [`EDGE`] of either is not counted.
//! Packets that a capture cut are not lost.
//!
//! Two more come from outside: packets that the monitor's kernel dropped, where a capture says
//! so, and times in which nobody watched. Nothing says whose messages these were: they are counted for
//! [`EVERYONE`].

mod periods;
mod sequence;
mod table;

pub use periods::{Period, Tally, PERIOD};
pub use table::{gaps, periods};

use crate::budget::{Budget, Part};
use crate::message::{CallKey, Endpoint, Envelope, HostId};
use hashbrown::HashMap;
use periods::Periods;
use sequence::{Run, Sequence};

/// A call so near the end of a trace may be under way, and a reply so near its beginning may be to
/// a call before it: in microseconds, some times longer than most calls take.
pub const EDGE: i64 = 100_000;

/// How long a number that was passed over may still come, in microseconds: calls overtake each
/// other by up to a second (thesis 3.5.5), and replies wait two for their call.
const LATE: i64 = 3_000_000;

/// A longer gap tells nothing of the time between: the conversation was idle.
const IDLE: i64 = 1_000_000;

/// The most conversations whose numbers are followed, if there is memory for them, …
const CONVERSATIONS: usize = 16_384;

/// … of so many bytes each.
const CONVERSATION: usize = 700;

/// What is written for server and client where something may have been lost of all of them.
pub const EVERYONE: &str = "*";

/// The number of [`EVERYONE`] in periods of too many hosts.
const UNNAMED: HostId = HostId::MAX;

/// A time in which calls of a client to a server were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The server.
    pub server: HostId,
    /// The client.
    pub client: HostId,
    /// The last message seen before, in microseconds since the epoch.
    pub since: i64,
    /// The first message seen behind.
    pub until: i64,
}

/// A hole in a TCP stream.
#[derive(Clone, Copy, Debug)]
pub struct Hole {
    /// When and between whom.
    pub gap: Gap,
    /// The bytes that are missing.
    pub bytes: u64,
    /// Whether the client sent them.
    pub call: bool,
}

/// The bytes that a number takes which was passed over and may still come. Each conversation could
/// have thousands of them, were it forged.
const NUMBER: usize = 112;

/// Client and server of a conversation.
type Ends = (Endpoint, Endpoint);

/// Follows what is lost.
#[derive(Debug)]
pub struct Losses {
    conversations: HashMap<Ends, Sequence>,
    /// The numbers of all of them that were passed over and may still come.
    waiting: usize,
    periods: Periods,
    gaps: Vec<Gap>,
    /// Since when nobody watched, and who everyone is.
    missing: Option<(HostId, i64)>,
    began: Option<i64>,
    now: i64,
    /// When numbers are given up and periods closed next: at multiples of [`LATE`], so that this is
    /// at the same message wherever reading began, and a follower that goes on repeats no period.
    due: i64,
    /// The most numbers passed over that may still come, in all conversations.
    numbers: usize,
    /// The most conversations whose numbers are followed.
    most: usize,
}

impl Default for Losses {
    fn default() -> Losses {
        let mut losses = Losses {
            conversations: HashMap::new(),
            waiting: 0,
            periods: Periods::default(),
            gaps: Vec::new(),
            missing: None,
            began: None,
            now: 0,
            due: 0,
            numbers: 0,
            most: 0,
        };
        losses.limit(Budget::default());
        losses
    }
}

impl Losses {
    /// Keeps to its share from now on: half of it for numbers, half for periods.
    pub fn limit(&mut self, budget: Budget) {
        let half = budget.share(Part::Losses) / 2;
        self.numbers = half / NUMBER;
        self.most = CONVERSATIONS.min(half / CONVERSATION).max(2);
        self.periods.limit(half);
    }

    /// Messages counted for [`EVERYONE`], since there were too many hosts.
    pub fn unnamed(&self) -> u64 {
        self.periods.unnamed
    }

    /// The hosts that it knows by their numbers.
    pub fn hosts(&self) -> impl Iterator<Item = HostId> + '_ {
        let ends = self.conversations.keys();
        let ends = ends.flat_map(|(client, server)| [client.host, server.host]);
        ends.chain(self.periods.hosts()).chain(self.missing.map(|(everyone, _)| everyone))
    }

    /// Takes a call that is not a retransmission. `held` has the calls whose replies wait for them.
    pub fn call<R>(&mut self, envelope: &Envelope, held: &HashMap<CallKey, R>) {
        let key = envelope.key;
        if self.conversations.len() >= self.most {
            self.make_room();
        }
        let sequence = self.conversations.entry((key.client, key.server)).or_default();
        let room = self.numbers.saturating_sub(self.waiting);
        let before = sequence.waiting();
        sequence.call(key.xid, envelope.time, room, |run| held_of(held, key, run));
        self.waiting = (self.waiting + sequence.waiting()).saturating_sub(before);
        let numbered = sequence.order().is_some();
        let tally = self.periods.at(envelope.time, key.server.host, key.client.host);
        tally.numbered += u64::from(numbered);
    }

    /// Takes a reply whose call was not seen, or not yet.
    pub fn reply_first(&mut self, key: &CallKey) {
        if let Some(sequence) = self.conversations.get_mut(&(key.client, key.server)) {
            sequence.replied(key.xid);
        }
    }

    /// Takes an operation whose reply was seen.
    #[inline]
    pub fn answered(&mut self, call: &Envelope) {
        let tally = self.periods.at(call.time, call.key.server.host, call.key.client.host);
        tally.calls += 1;
        tally.replies += 1;
    }

    /// Takes an operation whose reply was not seen. At the end of the trace it may be under way.
    pub fn unanswered(&mut self, call: &Envelope, ending: bool) {
        let tally = self.periods.at(call.time, call.key.server.host, call.key.client.host);
        tally.calls += 1;
        tally.unanswered += u64::from(!ending || self.now - call.time >= EDGE);
    }

    /// Takes a reply whose call was not seen.
    pub fn orphan(&mut self, reply: &Envelope) {
        let (server, client) = (reply.key.server, reply.key.client);
        if reply.time - self.began.unwrap_or(reply.time) < EDGE {
            return;
        }
        self.periods.at(reply.time, server.host, client.host).orphans += 1;
        if !self.numbered(&(client, server)) {
            let (since, until) = (reply.time, reply.time);
            self.gaps.push(Gap { server: server.host, client: client.host, since, until });
        }
    }

    /// Takes a hole in the TCP stream of a conversation.
    pub fn hole(&mut self, ends: Ends, hole: &Hole) {
        let tally = self.periods.at(hole.gap.until, hole.gap.server, hole.gap.client);
        tally.holes += 1;
        tally.missing_bytes += hole.bytes;
        if hole.call && !self.numbered(&ends) {
            self.gaps.extend(ends_of(hole.gap));
        }
    }

    /// Takes it that nobody watched from a time on up to the next message.
    pub fn miss(&mut self, everyone: HostId, since: i64) {
        self.missing.get_or_insert((everyone, since));
    }

    /// Takes packets that the monitor's kernel dropped in a time.
    pub fn dropped(&mut self, everyone: HostId, (since, until): (i64, i64), packets: u64) {
        self.periods.at(until, everyone, everyone).dropped += packets;
        self.gaps.push(Gap { server: everyone, client: everyone, since, until });
    }

    fn unwatched(&mut self, everyone: HostId, since: i64, until: i64) {
        let until = until.max(since);
        self.periods.at(since, everyone, everyone).unwatched += until.abs_diff(since);
        self.gaps.push(Gap { server: everyone, client: everyone, since, until });
    }

    /// Moves the trace's time on.
    #[inline]
    pub fn advance(&mut self, now: i64) {
        if let Some((everyone, since)) = self.missing.take() {
            self.unwatched(everyone, since, now);
        }
        self.began = self.began.or(Some(now));
        self.now = self.now.max(now);
        if self.now >= self.due {
            self.look(self.now - LATE);
        }
    }

    /// Ends the trace.
    pub fn finish(&mut self) {
        self.look(i64::MAX);
        self.conversations.clear();
        self.periods.close(i64::MAX);
    }

    /// The times of lost calls that came to be known since the last time.
    pub fn take_gaps(&mut self) -> Vec<Gap> {
        std::mem::take(&mut self.gaps)
    }

    /// The periods that have ended since the last time.
    pub fn take_periods(&mut self) -> Vec<Period> {
        self.periods.take()
    }

    fn numbered(&self, ends: &Ends) -> bool {
        self.conversations.get(ends).is_some_and(|sequence| sequence.order().is_some())
    }

    /// Gives up numbers passed over before `until`, and closes periods.
    fn look(&mut self, until: i64) {
        self.due = (self.now.div_euclid(LATE) + 1).saturating_mul(LATE);
        for (ends, sequence) in &mut self.conversations {
            give_up(ends, sequence, until, &mut self.periods, &mut self.gaps);
        }
        self.waiting = self.conversations.values().map(Sequence::waiting).sum();
        self.periods.close(self.now);
    }

    /// Forgets the half of the conversations that were idle longest.
    fn make_room(&mut self) {
        let mut heard: Vec<i64> = self.conversations.values().map(Sequence::heard).collect();
        let (_, &mut middle, _) = heard.select_nth_unstable(self.most / 2);
        let (periods, gaps) = (&mut self.periods, &mut self.gaps);
        self.conversations.retain(|ends, sequence| {
            let keep = sequence.heard() > middle;
            if !keep {
                give_up(ends, sequence, i64::MAX, periods, gaps);
            }
            keep
        });
        self.waiting = self.conversations.values().map(Sequence::waiting).sum();
    }
}

/// Counts the numbers of a conversation that were passed over before `until`.
fn give_up(
    (client, server): &Ends,
    sequence: &mut Sequence,
    until: i64,
    periods: &mut Periods,
    gaps: &mut Vec<Gap>,
) {
    let mut last = None;
    sequence.give_up(until, |missing| {
        let unseen = missing.unseen();
        if unseen > 0 {
            periods.at(missing.until, server.host, client.host).unseen += unseen;
        }
        let (since, until) = (missing.since, missing.until);
        let gap = Gap { server: server.host, client: client.host, since, until };
        if last.replace(gap) != Some(gap) {
            gaps.extend(ends_of(gap));
        }
    });
}

/// Which XIDs of a run, in a call's conversation, have a reply that waits for its call.
fn held_of<R>(held: &HashMap<CallKey, R>, call: CallKey, run: Run) -> Vec<u32> {
    if run.len() < held.len() {
        return run
            .xids()
            .filter(|xid| held.contains_key(&CallKey { xid: *xid, ..call }))
            .collect();
    }
    let of_run = |key: &&CallKey| CallKey { xid: key.xid, ..call } == **key && run.has(key.xid);
    held.keys().filter(of_run).map(|key| key.xid).collect()
}

/// A gap, or its two ends if the conversation was idle in between.
fn ends_of(gap: Gap) -> impl Iterator<Item = Gap> {
    let (since, until) = (gap.since.min(gap.until), gap.since.max(gap.until));
    let idle = until.saturating_sub(since) > IDLE;
    let first = Gap { since, until: if idle { since } else { until }, ..gap };
    std::iter::once(first).chain(idle.then_some(Gap { since: until, until, ..gap }))
}

#[cfg(test)]
mod tests;
