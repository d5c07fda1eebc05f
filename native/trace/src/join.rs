//! Replies joined to their calls: one row per call (and per operation of a compound),
//! retransmissions counted.
//!
//! A call waits for its reply by client, server, port and XID, for [`WINDOW`] of the trace's own
//! time. Answered calls are remembered as long, so that a retransmission or a second reply is
//! distinguished from a new call that reuses an XID.

use crate::batch::Batches;
use crate::budget::{Budget, Part};
use crate::fields::Fields;
use crate::form::{CALL, REPLY};
use crate::loss::{Losses, EVERYONE};
use crate::message::{CallKey, Envelope, HostId, Interner, Procedure, WINDOW};
use crate::quarantine::Quarantine;
use crate::schema::{Column, Op};
use hashbrown::hash_map::Entry;
use hashbrown::{DefaultHashBuilder, HashMap};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::{Deref, DerefMut, Range};

mod compound;
mod events;
mod remembered;

pub use events::{Event, Listener, What};
use remembered::{Calls, Remembered, State};

/// The most calls remembered at once, which bounds memory at any rate.
pub const REMEMBERED: usize = 400_000;

/// How long a reply waits for a call that comes after it, in microseconds.
const HOLD: i64 = 2_000_000;

/// The overhead of a pending reply, bytes.
const HELD: usize = 200;

/// The most programs, besides NFS, counted separately: the others are counted as the last.
const PROGRAMS: usize = 256;

/// A reply that came before its call, as passed to [`Joiner::hold`].
#[derive(Debug)]
pub struct HeldReply {
    /// Its envelope.
    pub envelope: Envelope,
    /// The undecoded reply.
    pub bytes: Vec<u8>,
    kind: &'static str,
}

/// Messages of one procedure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Call messages, retransmissions included.
    pub calls: u64,
    /// Reply messages to calls seen, second replies included.
    pub replies: u64,
    /// Replies whose NFS status is 0. The null procedure returns none.
    pub ok: u64,
    /// Replies with another status.
    pub errors: u64,
    /// Rows: calls less retransmissions.
    pub operations: u64,
    /// Rows without a reply.
    pub unanswered: u64,
}

impl Tally {
    fn answer(&mut self, status: Option<u32>) {
        self.replies += 1;
        self.ok += u64::from(status == Some(0));
        self.errors += u64::from(status.is_some_and(|status| status != 0));
    }
}

/// A tally for each [`Op`], by its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tallies([Tally; Op::ALL.len()]);

impl Default for Tallies {
    fn default() -> Tallies {
        Tallies([Tally::default(); Op::ALL.len()])
    }
}

impl Deref for Tallies {
    type Target = [Tally];

    fn deref(&self) -> &[Tally] {
        &self.0
    }
}

impl DerefMut for Tallies {
    fn deref_mut(&mut self) -> &mut [Tally] {
        &mut self.0
    }
}

/// Counts of messages and rows.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Messages, by the procedure they call: a compound is one.
    pub procedures: Tallies,
    /// The operations in compounds, likewise.
    pub operations: Tallies,
    /// The operations that the server did not reach, since an earlier one failed, by the words of
    /// [`Op`]: they have no row.
    pub not_run: BTreeMap<&'static str, u64>,
    /// Replies whose call was not seen, by procedure if the trace names it.
    pub orphans: BTreeMap<&'static str, u64>,
    /// Calls and replies of other RPC programs.
    pub other: BTreeMap<u32, (u64, u64)>,
    /// Calls sent again.
    pub retransmits: u64,
    /// Replies sent again.
    pub duplicate_replies: u64,
    /// Messages that were cut, with readable fields. Decoders count them.
    pub short: u64,
    /// The numbers of entries evicted early for lack of memory ([`crate::budget`]): pending calls,
    /// pending replies, rows that might have changed, messages with unnamed hosts.
    pub evicted: BTreeMap<&'static str, u64>,
    /// Time of the first and the last message.
    pub period: Option<(i64, i64)>,
}

/// The time of a reply, its status, whether it was cut, and its fields.
type Reply<'a> = (i64, Option<u32>, bool, &'a Fields);

#[derive(Debug)]
struct WaitingCall {
    envelope: Envelope,
    short: bool,
    retransmits: u64,
    fields: Fields,
}

/// Takes decoded calls and replies, and gives rows.
#[derive(Default)]
pub struct Joiner {
    /// The hosts seen so far.
    pub hosts: Interner,
    /// The damaged records seen so far.
    pub quarantine: Quarantine,
    /// The finished rows.
    pub batches: Batches,
    /// The counts so far.
    pub counts: Counts,
    /// The losses so far.
    pub losses: Losses,
    /// The listener to messages, and whether it wants those with rows, too.
    listener: Option<(Box<dyn Listener>, bool)>,
    calls: Calls,
    waiting: Vec<WaitingCall>,
    free: Vec<u32>,
    held: HashMap<CallKey, HeldReply>,
    held_order: VecDeque<(i64, CallKey)>,
    held_bytes: usize,
    /// The bytes of the entries in `waiting`.
    waiting_bytes: usize,
    budget: Budget,
    clock: Option<i64>,
    ending: bool,
    hasher: DefaultHashBuilder,
}

impl Counts {
    /// The calls and replies of another program.
    fn program(&mut self, program: u32) -> &mut (u64, u64) {
        let known = self.other.len() < PROGRAMS || self.other.contains_key(&program);
        self.other.entry(if known { program } else { u32::MAX }).or_default()
    }

    /// Counts early evictions.
    fn evict(&mut self, what: &'static str, count: u64) {
        if count > 0 {
            *self.evicted.entry(what).or_default() += count;
        }
    }
}

impl Joiner {
    /// Takes a call; leaves `fields` cleared. Returns the reply that was held for it, if one came
    /// earlier: decode it and pass it to [`Joiner::reply`].
    ///
    /// `short` says that `fields` hold only the readable part of the message.
    pub fn call(
        &mut self,
        envelope: Envelope,
        procedure: Procedure,
        short: bool,
        fields: &mut Fields,
    ) -> Option<HeldReply> {
        self.advance(envelope.time);
        match procedure {
            Procedure::Nfs(op, _) => self.counts.procedures[op as usize].calls += 1,
            Procedure::Other(program) => self.counts.program(program).0 += 1,
        }
        self.counts.called(&fields.parts);
        let fingerprint = self.fingerprint(fields);
        let known = self.calls.find(&envelope.key);
        let again = known
            .is_some_and(|call| self.retransmitted(call, envelope.time, procedure, fingerprint));
        self.emit(&envelope, again, What::Call { procedure, short, fields });
        if again {
            fields.clear();
            return None;
        }
        self.losses.call(&envelope, &self.held);
        let state = State::Waiting(self.wait(envelope, short, fields));
        if let Some(known) = known {
            self.give_up(self.calls[known].procedure, self.calls[known].state);
        }
        let Envelope { time, key, .. } = envelope;
        self.calls.push(Remembered { key, time, procedure, fingerprint, state }, known);
        if self.held.is_empty() {
            return None;
        }
        let held = self.held.remove(&envelope.key)?;
        self.held_bytes -= HELD + held.bytes.len();
        if envelope.time - held.envelope.time > HOLD {
            self.orphan(&held.envelope, held.kind, &held.bytes);
            return None;
        }
        Some(held)
    }

    /// The procedure of the call that a reply answers, if the call was seen, to decode the reply.
    pub fn pending(&self, key: &CallKey) -> Option<Procedure> {
        self.calls.find(key).map(|call| self.calls[call].procedure)
    }

    /// Takes the reply to a pending call; leaves `fields` cleared. `status` is the NFS status,
    /// or `None` for the null procedure, other programs, and replies cut before it.
    pub fn reply(
        &mut self,
        envelope: Envelope,
        status: Option<u32>,
        short: bool,
        fields: &mut Fields,
    ) {
        self.advance(envelope.time);
        let Some(number) = self.calls.find(&envelope.key) else {
            self.orphan(&envelope, "unknown", &fields.line);
            fields.clear();
            return;
        };
        let Remembered { procedure, state, .. } = self.calls[number];
        let again = matches!(state, State::Answered(..));
        self.emit(&envelope, again, What::Reply { procedure, status, short, fields });
        match procedure {
            Procedure::Other(program) => self.counts.program(program).1 += 1,
            Procedure::Nfs(op, _) => self.counts.procedures[op as usize].answer(status),
        }
        match state {
            State::Answered(row, rows) => {
                self.counts.duplicate_replies += 1;
                self.counts.answered_again(&fields.parts);
                self.add(Column::DuplicateReplies, row, rows);
            }
            State::Waiting(index) => {
                // the null procedure has no NFS status: that it answered is its success
                let status = match procedure {
                    Procedure::Nfs(Op::Null, _) => Some(status.unwrap_or(0)),
                    _ => status,
                };
                let rows =
                    self.rows(index, procedure, Some((envelope.time, status, short, fields)));
                let count = (rows.end - rows.start) as u32;
                self.calls[number].state = State::Answered(rows.start, count);
            }
            State::Replaced => {}
        }
        fields.clear();
    }

    /// Takes a reply whose call was not seen: it is pending for a moment, and is otherwise counted
    /// as an orphan of kind `kind` (a procedure's word if the trace names it, else `unknown`).
    pub fn hold(&mut self, envelope: Envelope, kind: &'static str, bytes: &[u8]) {
        self.advance(envelope.time);
        self.losses.reply_first(&envelope.key);
        self.held_bytes += HELD + bytes.len();
        self.held_order.push_back((envelope.time, envelope.key));
        let held = HeldReply { envelope, bytes: bytes.to_vec(), kind };
        if let Some(older) = self.held.insert(envelope.key, held) {
            self.held_bytes -= HELD + older.bytes.len();
            self.orphan(&older.envelope, older.kind, &older.bytes);
        }
        self.drop_excess();
    }

    /// Ends the trace: pending calls become rows without a reply.
    pub fn finish(&mut self) {
        self.ending = true;
        while let Some(call) = self.calls.pop() {
            self.give_up(call.procedure, call.state);
        }
        while let Some((time, key)) = self.held_order.pop_front() {
            self.drop_held(time, key);
        }
        self.losses.finish();
        self.batches.close();
    }

    /// Applies a memory budget from now on.
    pub fn limit(&mut self, budget: Budget) {
        self.budget = budget;
        self.batches.limit(budget);
        self.losses.limit(budget);
    }

    /// Drops unused hosts, if there are too many. No rows may be pending. If too many are in use,
    /// the older half of the calls is dropped.
    pub fn forget_hosts(&mut self) {
        let most = Interner::most(self.budget);
        if self.hosts.len() <= most || !self.batches.is_empty() {
            return;
        }
        self.retain_hosts();
        if self.hosts.len() > most {
            for _ in 0..self.calls.len().div_ceil(2) {
                if let Some(call) = self.calls.pop() {
                    let waits = matches!(call.state, State::Waiting(_));
                    self.counts.evict("calls", u64::from(waits));
                    self.give_up(call.procedure, call.state);
                }
            }
        }
    }

    fn retain_hosts(&mut self) {
        let mut in_use = vec![false; self.hosts.names().len()];
        for host in self.hosts_in_use() {
            if let Some(used) = in_use.get_mut(host as usize) {
                *used = true;
            }
        }
        self.hosts.retain(|id| in_use[id as usize]);
    }

    fn hosts_in_use(&self) -> impl Iterator<Item = HostId> + '_ {
        let calls = self
            .calls
            .keys()
            .chain(self.held.keys())
            .chain(self.held_order.iter().map(|held| &held.1));
        calls.flat_map(|key| [key.client.host, key.server.host]).chain(self.losses.hosts())
    }

    /// The time of the last message.
    pub fn clock(&self) -> Option<i64> {
        self.clock
    }

    /// Records that nobody watched from a time on up to the next message.
    pub fn miss(&mut self, since: i64) {
        let everyone = self.hosts.intern(EVERYONE);
        self.losses.miss(everyone, since);
    }

    /// Records that the monitor's kernel dropped packets in a time.
    pub fn dropped(&mut self, span: (i64, i64), packets: u64) {
        let everyone = self.hosts.intern(EVERYONE);
        self.losses.dropped(everyone, span, packets);
    }

    fn fingerprint(&self, fields: &Fields) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        (&fields.numbers, fields.heap()).hash(&mut hasher);
        for part in &fields.parts {
            part.opcode.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Whether a call was seen before; if so, counts it.
    fn retransmitted(
        &mut self,
        call: u32,
        time: i64,
        procedure: Procedure,
        fingerprint: u64,
    ) -> bool {
        let call = &self.calls[call];
        let same = call.procedure == procedure && call.fingerprint == fingerprint;
        if !same || (time - call.time).abs() > WINDOW {
            return false;
        }
        self.counts.retransmits += 1;
        match call.state {
            State::Waiting(index) => self.waiting[index as usize].retransmits += 1,
            State::Answered(row, rows) => self.add(Column::Retransmits, row, rows),
            State::Replaced => {}
        }
        true
    }

    /// Adds one to a counter in the rows of one call.
    fn add(&mut self, column: Column, first: u64, rows: u32) {
        for row in first..first + u64::from(rows) {
            self.batches.add(column, row);
        }
    }

    /// Holds a call until its reply comes.
    fn wait(&mut self, envelope: Envelope, short: bool, fields: &mut Fields) -> u32 {
        match self.free.pop() {
            Some(index) => {
                let call = &mut self.waiting[index as usize];
                (call.envelope, call.short, call.retransmits) = (envelope, short, 0);
                std::mem::swap(&mut call.fields, fields);
                self.waiting_bytes += call.fields.memory();
                self.waiting_bytes -= fields.memory();
                fields.clear();
                index
            }
            None => {
                let fields = std::mem::take(fields);
                self.waiting_bytes += fields.memory();
                self.waiting.push(WaitingCall { envelope, short, retransmits: 0, fields });
                (self.waiting.len() - 1) as u32
            }
        }
    }

    /// Writes the rows of a pending call, and frees it. Other programs' calls have no rows.
    fn rows(&mut self, index: u32, procedure: Procedure, reply: Option<Reply>) -> Range<u64> {
        let rows = self.write_rows(index, procedure, reply);
        self.free.push(index);
        if self.waiting_bytes > self.budget.share(Part::Calls) / 2 {
            let fields = std::mem::take(&mut self.waiting[index as usize].fields);
            self.waiting_bytes -= fields.memory() - Fields::default().memory();
        }
        rows
    }

    fn write_rows(&mut self, index: u32, procedure: Procedure, reply: Option<Reply>) -> Range<u64> {
        let Procedure::Nfs(op, version) = procedure else {
            return 0..0;
        };
        let tally = &mut self.counts.procedures[op as usize];
        tally.operations += 1;
        tally.unanswered += u64::from(reply.is_none());
        let call = &self.waiting[index as usize];
        match reply {
            Some(_) => self.losses.answered(&call.envelope),
            None => self.losses.unanswered(&call.envelope, self.ending),
        }
        if op == Op::Compound {
            return self.compound(index, version, reply);
        }
        let short = call.short || reply.is_some_and(|(_, _, short, _)| short);
        let rows = &mut self.batches;
        head(rows, call, (op, version), short);
        rows.fields(&call.fields);
        rows.printed(CALL, call.short, &call.fields);
        if let Some((time, status, short, fields)) = reply {
            rows.printed(REPLY, short, fields);
            rows.number(Column::ReplyTime, time as u64);
            if let Some(status) = status {
                rows.number(Column::Status, status.into());
            }
            rows.fields(fields);
        }
        let row = rows.end_row();
        row..row + 1
    }

    /// Advances the trace's time, and drops everything older than the windows. After a monitor's
    /// clock jumped back, calls are dropped when it has caught up.
    fn advance(&mut self, now: i64) {
        let (first, last) = self.counts.period.unwrap_or((now, now));
        self.counts.period = Some((first.min(now), last.max(now)));
        self.clock = Some(now);
        self.losses.advance(now);
        while let Some(time) = self.calls.first() {
            let early = now - time <= WINDOW;
            let most = self.budget.share(Part::Calls);
            if early && self.calls.len() <= REMEMBERED && self.waiting_bytes <= most {
                break;
            }
            if let Some(call) = self.calls.pop() {
                if early && matches!(call.state, State::Waiting(_)) {
                    self.counts.evict("calls", 1);
                }
                self.give_up(call.procedure, call.state);
            }
        }
        while let Some(&(time, key)) = self.held_order.front() {
            if now - time <= HOLD {
                break;
            }
            self.held_order.pop_front();
            self.drop_held(time, key);
        }
    }

    /// Drops the longest pending replies, if they exceed their share.
    fn drop_excess(&mut self) {
        let most = self.budget.share(Part::Replies);
        while self.held_bytes > most || HELD * self.held_order.len() > 2 * most {
            let Some((time, key)) = self.held_order.pop_front() else {
                return;
            };
            let before = self.held.len();
            self.drop_held(time, key);
            self.counts.evict("replies", (before - self.held.len()) as u64);
        }
    }

    /// Writes the rows of a dropped call, if its reply did not come.
    fn give_up(&mut self, procedure: Procedure, state: State) {
        if let State::Waiting(index) = state {
            self.rows(index, procedure, None);
        }
    }

    fn drop_held(&mut self, time: i64, key: CallKey) {
        if let Entry::Occupied(held) = self.held.entry(key) {
            if held.get().envelope.time == time {
                let held = held.remove();
                self.held_bytes -= HELD + held.bytes.len();
                self.orphan(&held.envelope, held.kind, &held.bytes);
            }
        }
    }

    /// Counts a reply whose call was not seen.
    fn orphan(&mut self, envelope: &Envelope, kind: &'static str, bytes: &[u8]) {
        self.losses.orphan(envelope);
        *self.counts.orphans.entry(kind).or_default() += 1;
        self.emit(envelope, false, What::Orphan { kind, bytes });
    }
}

/// Sets the columns that every row has, whatever its operation.
#[inline]
fn head(rows: &mut Batches, call: &WaitingCall, (op, version): (Op, u8), short: bool) {
    let key = call.envelope.key;
    for (column, value) in [
        (Column::Time, call.envelope.time as u64),
        (Column::Server, key.server.host.into()),
        (Column::ServerPort, key.server.port.into()),
        (Column::Client, key.client.host.into()),
        (Column::ClientPort, key.client.port.into()),
        (Column::Transport, call.envelope.transport as u64),
        (Column::Version, version.into()),
        (Column::Xid, key.xid.into()),
        (Column::Op, op as u64),
        (Column::Retransmits, call.retransmits),
        (Column::DuplicateReplies, 0),
        (Column::Short, short.into()),
    ] {
        rows.number(column, value);
    }
}

#[cfg(test)]
mod tests;
