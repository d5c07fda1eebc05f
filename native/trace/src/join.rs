//! Replies joined to their calls: one row per call (and per operation of a compound),
//! retransmissions counted.
//!
//! A call waits for its reply by client, server, port and XID, for [`WINDOW`] of the trace's own
//! time. What answered calls were is remembered as long, so that a retransmission or a second
//! reply is told from a new call with an XID used again.

use crate::batch::Batches;
use crate::fields::Fields;
use crate::form::{CALL, REPLY};
use crate::loss::Losses;
use crate::message::{CallKey, Envelope, Interner, Procedure, WINDOW};
use crate::quarantine::Quarantine;
use crate::schema::{Column, Op};
use hashbrown::hash_map::Entry;
use hashbrown::{DefaultHashBuilder, HashMap};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::{Deref, DerefMut, Range};

mod compound;
mod events;

pub use events::{Event, Listener, What};

/// The most calls remembered at once, so that memory is bounded at any rate.
pub const REMEMBERED: usize = 400_000;

/// How long a reply waits for a call that comes after it, in microseconds.
const HOLD: i64 = 2_000_000;

/// The most bytes of waiting replies.
const HELD_BYTES: usize = 16 << 20;

/// A reply that came before its call, as it was given to [`Joiner::hold`].
#[derive(Debug)]
pub struct HeldReply {
    /// When and from where.
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

/// What was read and joined.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Messages, by the procedure they call: a compound is one.
    pub procedures: Tallies,
    /// The operations in compounds, likewise.
    pub operations: Tallies,
    /// Of those, the operations that the server did not come to, since one before them failed:
    /// they make no row. By the words of [`Op`].
    pub not_run: BTreeMap<&'static str, u64>,
    /// Replies whose call was not seen, by procedure where the trace names it.
    pub orphans: BTreeMap<&'static str, u64>,
    /// Calls and replies of other RPC programs.
    pub other: BTreeMap<u32, (u64, u64)>,
    /// Calls sent again.
    pub retransmits: u64,
    /// Replies sent again.
    pub duplicate_replies: u64,
    /// Messages that were cut, of which the readable fields were kept.
    pub short: u64,
    /// Time of the first and the last message.
    pub period: Option<(i64, i64)>,
}

#[derive(Debug)]
struct Slot {
    time: i64,
    procedure: Procedure,
    /// Tells a retransmission from another call with the same XID.
    fingerprint: u64,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Waiting(u32),
    /// Its rows, which follow each other: one, or one for each operation of a compound.
    Answered(u64, u32),
}

/// The time of a reply, its status, whether it was cut, and what it holds.
type Reply<'a> = (i64, Option<u32>, bool, &'a Fields);

#[derive(Debug)]
struct WaitingCall {
    envelope: Envelope,
    short: bool,
    retransmits: u64,
    fields: Fields,
}

/// Takes decoded calls and replies, gives rows.
#[derive(Default)]
pub struct Joiner {
    /// The hosts seen so far.
    pub hosts: Interner,
    /// The damaged records seen so far.
    pub quarantine: Quarantine,
    /// The finished rows.
    pub batches: Batches,
    /// What was read and joined so far.
    pub counts: Counts,
    /// What was lost so far.
    pub losses: Losses,
    /// Who is told of messages, and whether of those that rows are made of, too.
    told: Option<(Box<dyn Listener>, bool)>,
    slots: HashMap<CallKey, Slot>,
    order: VecDeque<(i64, CallKey)>,
    waiting: Vec<WaitingCall>,
    free: Vec<u32>,
    held: HashMap<CallKey, HeldReply>,
    held_order: VecDeque<(i64, CallKey)>,
    held_bytes: usize,
    ending: bool,
    hasher: DefaultHashBuilder,
}

impl Joiner {
    /// Takes a call; leaves `fields` cleared. Gives back the reply that was held for it, if one
    /// came earlier: decode it and hand it to [`Joiner::reply`].
    ///
    /// `short` says that the message was cut and `fields` hold only what could be read.
    pub fn call(
        &mut self,
        envelope: Envelope,
        procedure: Procedure,
        short: bool,
        fields: &mut Fields,
    ) -> Option<HeldReply> {
        self.advance(envelope.time);
        self.counts.short += u64::from(short);
        match procedure {
            Procedure::Nfs(op, _) => self.counts.procedures[op as usize].calls += 1,
            Procedure::Other(program) => self.counts.other.entry(program).or_default().0 += 1,
        }
        self.counts.called(&fields.parts);
        let fingerprint = self.fingerprint(fields);
        let again = self.retransmitted(&envelope, procedure, fingerprint);
        self.emit(&envelope, again, What::Call { procedure, short, fields });
        if again {
            fields.clear();
            return None;
        }
        let held = &self.held;
        self.losses.call(&envelope, |key| held.contains_key(key));
        let state = State::Waiting(self.wait(envelope, short, fields));
        let slot = Slot { time: envelope.time, procedure, fingerprint, state };
        if let Some(old) = self.slots.insert(envelope.key, slot) {
            self.give_up(old);
        }
        self.order.push_back((envelope.time, envelope.key));
        if self.held.is_empty() {
            return None;
        }
        let held = self.held.remove(&envelope.key)?;
        self.held_bytes -= held.bytes.len();
        if envelope.time - held.envelope.time > HOLD {
            self.orphan(&held.envelope, held.kind, &held.bytes);
            return None;
        }
        Some(held)
    }

    /// What the call that a reply answers is, if it was seen: how to decode the reply.
    pub fn pending(&self, key: &CallKey) -> Option<Procedure> {
        self.slots.get(key).map(|slot| slot.procedure)
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
        self.counts.short += u64::from(short);
        let Some(slot) = self.slots.get(&envelope.key) else {
            self.orphan(&envelope, "unknown", &fields.line);
            fields.clear();
            return;
        };
        let (procedure, again) = (slot.procedure, matches!(slot.state, State::Answered(..)));
        self.emit(&envelope, again, What::Reply { procedure, status, short, fields });
        let Some(slot) = self.slots.get_mut(&envelope.key) else {
            return;
        };
        match slot.procedure {
            Procedure::Other(program) => self.counts.other.entry(program).or_default().1 += 1,
            Procedure::Nfs(op, _) => self.counts.procedures[op as usize].answer(status),
        }
        match slot.state {
            State::Answered(row, rows) => {
                self.counts.duplicate_replies += 1;
                self.counts.answered_again(&fields.parts);
                self.add(Column::DuplicateReplies, row, rows);
            }
            State::Waiting(index) => {
                let procedure = slot.procedure;
                // the null procedure has no NFS status: that it answered is its success
                let status = match procedure {
                    Procedure::Nfs(Op::Null, _) => Some(status.unwrap_or(0)),
                    _ => status,
                };
                let rows =
                    self.rows(index, procedure, Some((envelope.time, status, short, fields)));
                if let Some(slot) = self.slots.get_mut(&envelope.key) {
                    slot.state = State::Answered(rows.start, (rows.end - rows.start) as u32);
                }
            }
        }
        fields.clear();
    }

    /// Takes a reply whose call has not been seen: it waits a moment for it, and is otherwise
    /// counted as an orphan of kind `kind` (a procedure's word where the trace names it, else
    /// `unknown`).
    pub fn hold(&mut self, envelope: Envelope, kind: &'static str, bytes: &[u8]) {
        self.advance(envelope.time);
        self.losses.reply_first(&envelope.key);
        if self.held_bytes + bytes.len() > HELD_BYTES {
            self.orphan(&envelope, kind, bytes);
            return;
        }
        self.held_bytes += bytes.len();
        self.held_order.push_back((envelope.time, envelope.key));
        let held = HeldReply { envelope, bytes: bytes.to_vec(), kind };
        if let Some(older) = self.held.insert(envelope.key, held) {
            self.held_bytes -= older.bytes.len();
            self.orphan(&older.envelope, older.kind, &older.bytes);
        }
    }

    /// Ends the trace: calls still waiting become rows without a reply.
    pub fn finish(&mut self) {
        self.ending = true;
        while let Some((time, key)) = self.order.pop_front() {
            self.forget(time, key);
        }
        while let Some((time, key)) = self.held_order.pop_front() {
            self.drop_held(time, key);
        }
        self.losses.finish();
        self.batches.close();
    }

    fn fingerprint(&self, fields: &Fields) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        (&fields.numbers, fields.heap()).hash(&mut hasher);
        for part in &fields.parts {
            part.opcode.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Whether the call was seen before; if so, counts it.
    fn retransmitted(
        &mut self,
        envelope: &Envelope,
        procedure: Procedure,
        fingerprint: u64,
    ) -> bool {
        let Entry::Occupied(slot) = self.slots.entry(envelope.key) else {
            return false;
        };
        let slot = slot.get();
        let same = slot.procedure == procedure && slot.fingerprint == fingerprint;
        if !same || (envelope.time - slot.time).abs() > WINDOW {
            return false;
        }
        self.counts.retransmits += 1;
        match slot.state {
            State::Waiting(index) => self.waiting[index as usize].retransmits += 1,
            State::Answered(row, rows) => self.add(Column::Retransmits, row, rows),
        }
        true
    }

    /// Adds one to a counter in the rows of one call.
    fn add(&mut self, column: Column, first: u64, rows: u32) {
        for row in first..first + u64::from(rows) {
            self.batches.add(column, row);
        }
    }

    /// Keeps a call until its reply comes.
    fn wait(&mut self, envelope: Envelope, short: bool, fields: &mut Fields) -> u32 {
        match self.free.pop() {
            Some(index) => {
                let call = &mut self.waiting[index as usize];
                (call.envelope, call.short, call.retransmits) = (envelope, short, 0);
                std::mem::swap(&mut call.fields, fields);
                fields.clear();
                index
            }
            None => {
                let fields = std::mem::take(fields);
                self.waiting.push(WaitingCall { envelope, short, retransmits: 0, fields });
                (self.waiting.len() - 1) as u32
            }
        }
    }

    /// Writes the row of a waiting call, of a compound its rows, and frees it. Other programs'
    /// calls make none.
    fn rows(&mut self, index: u32, procedure: Procedure, reply: Option<Reply>) -> Range<u64> {
        self.free.push(index);
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

    /// Moves the trace's time on, and lets go of what is older than the windows. Where a monitor's
    /// clock jumped back, calls are let go when it has caught up.
    fn advance(&mut self, now: i64) {
        let (first, last) = self.counts.period.unwrap_or((now, now));
        self.counts.period = Some((first.min(now), last.max(now)));
        self.losses.advance(now);
        while let Some(&(time, key)) = self.order.front() {
            if now - time <= WINDOW && self.order.len() <= REMEMBERED {
                break;
            }
            self.order.pop_front();
            self.forget(time, key);
        }
        while let Some(&(time, key)) = self.held_order.front() {
            if now - time <= HOLD {
                break;
            }
            self.held_order.pop_front();
            self.drop_held(time, key);
        }
    }

    fn forget(&mut self, time: i64, key: CallKey) {
        if let Entry::Occupied(slot) = self.slots.entry(key) {
            if slot.get().time == time {
                let slot = slot.remove();
                self.give_up(slot);
            }
        }
    }

    fn give_up(&mut self, slot: Slot) {
        if let State::Waiting(index) = slot.state {
            self.rows(index, slot.procedure, None);
        }
    }

    fn drop_held(&mut self, time: i64, key: CallKey) {
        if let Entry::Occupied(held) = self.held.entry(key) {
            if held.get().envelope.time == time {
                let held = held.remove();
                self.held_bytes -= held.bytes.len();
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

/// Sets what every row has, whatever its operation.
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
