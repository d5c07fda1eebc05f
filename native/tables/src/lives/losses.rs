//! What was lost, as far as it touches lives.
//!
//! Loss may have touched a life where a call that named it, by its handle or by a directory and a
//! name, was not answered; and where a client used it near a time in which calls of that client to
//! that server were lost, or in which a call was not answered that would have told of a file. Both
//! can come to be known a minute later: so long the rows of lives that have ended wait.

use super::columns::Columns;
use super::gaps::SETTLED;
use super::inodes::Key;
use super::life::Operation;
use super::rows::{FileRow, NameRow, Row, Traces};
use super::{Error, Lives};
use crate::snapshot::{Reader, Writer};
use arrow_array::{RecordBatch, TimestampMicrosecondArray};
use birthmark_trace::columns::{bytes, Source};
use birthmark_trace::loss::EVERYONE;
use birthmark_trace::schema::Op;
use serde::{de::DeserializeOwned, Serialize};
use std::collections::VecDeque;
use std::io::{Read, Write};

/// The most rows that wait, of files and of names each.
const WAITING: usize = 1 << 18;

/// Rows of lives that have ended, each with the time at which that was known.
pub struct Ended<T>(VecDeque<(i64, T)>);

impl<T> Default for Ended<T> {
    fn default() -> Ended<T> {
        Ended(VecDeque::new())
    }
}

impl<T> Ended<T> {
    fn push(&mut self, now: i64, row: T) {
        self.0.push_back((now, row));
    }

    /// The rows of which all is known that was known until a time, or more of them than can wait.
    fn settled(&mut self, until: i64, finished: bool) -> Vec<T> {
        let due = self.0.partition_point(|(known, _)| finished || *known < until);
        let due = due.max(self.0.len().saturating_sub(WAITING));
        self.0.drain(..due).map(|(_, row)| row).collect()
    }

    /// Writes all of them.
    pub fn save<W: Write>(&self, writer: &mut Writer<W>) -> Result<(), Error>
    where
        T: Serialize,
    {
        Ok(writer.list(&self.0)?)
    }

    /// Reads what was written.
    pub fn load<R: Read>(reader: &mut Reader<R>) -> Result<Ended<T>, Error>
    where
        T: DeserializeOwned,
    {
        let mut rows = VecDeque::new();
        reader.list(|row| {
            rows.push_back(row);
            Ok::<_, Error>(())
        })?;
        Ok(Ended(rows))
    }

    /// When the first of them was known.
    fn first(&self) -> Option<i64> {
        self.0.front().map(|(known, _)| *known)
    }
}

impl Lives {
    /// Takes times in which calls were lost ([`birthmark_trace::loss::gaps`]).
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
            let (server, client) = (self.servers.intern(server), self.clients.intern(client));
            self.gaps.add(server, client, span);
        }
        self.ends.resize(self.servers.names().len(), i64::MIN);
        Ok(())
    }

    /// Whether it is told when calls were lost, of all operations; if not, only that calls were
    /// not answered is known.
    pub fn loss_told(&mut self, told: bool) {
        self.told = Some(told && self.told != Some(false));
    }

    /// A call that was not answered: it may have been done.
    pub(super) fn lost_reply(&mut self, columns: &Columns, row: usize, op: &Operation) {
        let [fh, name, fh2, name2] =
            [columns.fh, columns.name, columns.fh2, columns.name2].map(|column| bytes(column, row));
        for handle in [fh, fh2].into_iter().flatten() {
            let key = self.inodes.key(op.server, handle);
            if let Some(slot) = self.inodes.by_handle(&key) {
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

    /// Keeps the row of a name until all is known of it.
    pub(super) fn end(&mut self, row: NameRow) {
        self.names.push(self.gaps.now(), row);
    }

    /// Keeps the row of a file, if it has become one, until all is known of it.
    pub(super) fn end_file(&mut self, row: Option<FileRow>) {
        if let Some(row) = row {
            self.files.push(self.gaps.now(), row);
        }
    }

    /// Takes the rows of which all is known. After the end of the trace there are none only when
    /// no lives are left.
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

    /// Whether loss may have touched a life, if that is known.
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
        (lost || self.told == Some(true)).then_some(lost)
    }

    /// Forgets calls that were given up before the first row that waits.
    fn forget_unanswered(&mut self) {
        let waiting = [self.files.first(), self.names.first()].into_iter().flatten().min();
        let first = waiting.unwrap_or_else(|| self.gaps.now());
        self.unanswered.forget(first.min(self.gaps.now().saturating_sub(SETTLED)));
    }
}
