//! Losses, as far as they touch lives.
//!
//! Loss may have touched a life if a call that named it, by its handle or by a directory and a
//! name, was not answered. It also may if a client used the life near a gap: a time in which calls
//! of that client to that server were lost, or the reply to a call that would have named a file.
//! Both may become known a minute later, so rows of ended lives are pending that long.

use super::columns::Columns;
use super::gaps::SETTLED;
use super::hosts::{number, Hosts};
use super::inodes::Key;
use super::life::Operation;
use super::rows::{FileRow, NameRow, Row, Traces};
use super::{Error, Lives};
use crate::snapshot::{Reader, Writer};
use arrow_array::{RecordBatch, TimestampMicrosecondArray};
use birthmark_columns::{bytes, Source};
use birthmark_trace::budget::{Budget, Part};
use birthmark_trace::loss::EVERYONE;
use birthmark_trace::schema::Op;
use serde::{de::DeserializeOwned, Serialize};
use std::collections::VecDeque;
use std::io::{Read, Write};

/// The most pending rows, of files and of names each.
const WAITING: usize = 1 << 18;

/// Rows of ended lives, each with the time at which the end became known.
pub struct Ended<T> {
    rows: VecDeque<(i64, T)>,
    /// Their bytes, and the limit.
    memory: usize,
    most: usize,
    /// The number evicted early.
    pub evicted: u64,
}

impl<T> Default for Ended<T> {
    fn default() -> Ended<T> {
        let most = Budget::default().share(Part::Ended);
        Ended { rows: VecDeque::new(), memory: 0, most, evicted: 0 }
    }
}

impl<T: Row> Ended<T> {
    /// Applies a memory budget from now on.
    pub fn limit(&mut self, budget: Budget) {
        self.most = budget.share(Part::Ended);
    }

    /// Marks the hosts of the rows.
    pub fn hosts(&self, hosts: &mut Hosts) {
        self.rows.iter().for_each(|(_, row)| row.hosts(hosts));
    }

    fn push(&mut self, now: i64, row: T) {
        self.memory += row.memory();
        self.rows.push_back((now, row));
    }

    /// Takes the rows that are final at a time, and surplus ones.
    fn settled(&mut self, until: i64, finished: bool) -> Vec<T> {
        let mut settled = Vec::new();
        while let Some((known, _)) = self.rows.front() {
            let due = finished || *known < until;
            if !due && self.rows.len() <= WAITING && self.memory <= self.most {
                break;
            }
            self.evicted += u64::from(!due);
            let row = self.rows.pop_front().map(|(_, row)| row);
            self.memory = self.memory.saturating_sub(row.as_ref().map_or(0, Row::memory));
            settled.extend(row);
        }
        if self.rows.is_empty() {
            self.memory = 0;
        }
        settled
    }

    /// Writes all rows.
    pub fn save<W: Write>(&self, writer: &mut Writer<W>) -> Result<(), Error>
    where
        T: Serialize,
    {
        Ok(writer.list(&self.rows)?)
    }

    /// Reads saved rows.
    pub fn load<R: Read>(reader: &mut Reader<R>) -> Result<Ended<T>, Error>
    where
        T: DeserializeOwned,
    {
        let mut ended = Ended::default();
        reader.list(|(known, row)| {
            ended.push(known, row);
            Ok::<_, Error>(())
        })?;
        Ok(ended)
    }

    /// The time of the first row.
    fn first(&self) -> Option<i64> {
        self.rows.front().map(|(known, _)| *known)
    }
}

impl Lives {
    /// Adds gaps with lost calls ([`birthmark_trace::loss::gaps`]).
    pub fn update_loss(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let source = Source::Batch(batch);
        let since: &TimestampMicrosecondArray = source.required("since")?;
        let until: &TimestampMicrosecondArray = source.required("until")?;
        let servers = source.words("server", str::to_owned)?;
        let clients = source.words("client", str::to_owned)?;
        let spans = since.values().iter().copied().zip(until.values().iter().copied());
        for (span, (server, client)) in spans.zip(servers.iter().zip(&clients)) {
            if server == EVERYONE {
                self.gaps.add_everyone(span);
                continue;
            }
            let server = number(&mut self.servers, server, self.budget);
            let client = number(&mut self.clients, client, self.budget);
            self.gaps.add(server, client, span);
        }
        self.ends.resize(self.servers.names().len(), i64::MIN);
        Ok(())
    }

    /// Sets whether gaps are known for all operations; if not, only unanswered calls are known.
    pub fn set_losses_known(&mut self, gaps_known: bool) {
        self.gaps_known = Some(gaps_known && self.gaps_known != Some(false));
    }

    /// Handles an unanswered call: the server may have executed it.
    pub(super) fn lost_reply(&mut self, columns: &Columns, row: usize, op: &Operation) {
        let [fh, name, fh2, name2] =
            [columns.fh, columns.name, columns.fh2, columns.name2].map(|column| bytes(column, row));
        for handle in [fh, fh2].into_iter().flatten() {
            let key = self.inodes.key(op.server, handle);
            let known = self.inodes.by_handle(&key);
            let data = self.inodes.by_data_handle(handle).map(|found| found.slot);
            for slot in known.into_iter().chain(data) {
                self.inodes.get_mut(slot).life.touch.mark();
            }
            self.unanswered.add(key.hash, op.time, self.gaps.now());
        }
        // a link's name is in its second directory
        let dir = if columns.op(row) == Some(Op::Link) { fh2 } else { fh };
        for (dir, name) in [(dir, name), (fh2, name2)] {
            if let (Some(dir), Some(name)) = (dir, name) {
                let dir = self.inodes.key(op.server, dir);
                self.lost_name(&dir, name, op.time);
            }
        }
        if matches!(
            columns.op(row),
            Some(Op::Lookup | Op::Create | Op::Open | Op::Mkdir | Op::Symlink | Op::Mknod)
        ) {
            self.gaps.add(op.server, op.caller.client, (op.time, op.time));
        }
    }

    fn lost_name(&mut self, dir: &Key, name: &[u8], time: i64) {
        if let Some(found) = self.inodes.by_name(dir, name) {
            self.inodes.get_mut(found.slot).life.touch.mark();
        }
        let hash = self.inodes.name_hash(dir, name);
        self.unanswered.add(hash, time, self.gaps.now());
    }

    /// Holds the row of a name until it is final.
    pub(super) fn end(&mut self, row: NameRow) {
        self.names.push(self.gaps.now(), row);
    }

    /// Holds the row of a file, if there is one, until it is final.
    pub(super) fn end_file(&mut self, row: Option<FileRow>) {
        if let Some(row) = row {
            self.files.push(self.gaps.now(), row);
        }
    }

    /// Takes the final rows. After the end of the trace there are none only if no lives are left.
    pub(super) fn settled<R: Row>(
        &mut self,
        ended: fn(&mut Lives) -> &mut Ended<R>,
    ) -> Result<Vec<R>, Error> {
        loop {
            let (until, finished) = (self.gaps.now().saturating_sub(SETTLED), self.finished);
            let rows = ended(self).settled(until, finished).into_iter().map(|row| {
                let lost = self.judge(&row.traces());
                row.judged(lost)
            });
            let rows: Vec<R> = rows.collect();
            self.forget_unanswered();
            if !rows.is_empty() || !self.end_outlasting()? {
                return Ok(rows);
            }
        }
    }

    /// Whether loss may have touched a life, if known.
    fn judge(&self, traces: &Traces) -> Option<bool> {
        let named = |hash| self.unanswered.before(hash, traces.until.saturating_add(super::NEAR));
        let by_handle = traces.handle.is_some_and(|fh| {
            let key = self.inodes.key(traces.server, fh);
            named(key.hash)
        });
        let by_name = traces.name.is_some_and(|(dir, name)| {
            let dir = self.inodes.key(traces.server, dir);
            named(self.inodes.name_hash(&dir, name))
        });
        let lost = by_handle || by_name || traces.touch.lost(traces.server, &self.gaps);
        (lost || self.gaps_known == Some(true)).then_some(lost)
    }

    /// Drops calls that were given up before the first pending row.
    fn forget_unanswered(&mut self) {
        let pending = [self.files.first(), self.names.first()].into_iter().flatten().min();
        let first = pending.unwrap_or_else(|| self.gaps.now());
        self.unanswered.forget(first.min(self.gaps.now().saturating_sub(SETTLED)));
    }
}
