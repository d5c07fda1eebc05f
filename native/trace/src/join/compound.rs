//! The rows of a compound: one for each operation that the server ran, or may have run.

use super::{head, Counts, Joiner, Reply};
use crate::batch::Batches;
use crate::compound::{self, Row};
use crate::fields::{Fields, Part};
use crate::schema::{Column, Op};
use std::ops::Range;

impl Counts {
    /// Counts the operations that a compound asks for.
    pub(super) fn called(&mut self, parts: &[Part]) {
        for part in parts {
            self.operations[part.op as usize].calls += 1;
        }
    }

    /// Counts the operations that a second reply to a compound answers.
    pub(super) fn answered_again(&mut self, parts: &[Part]) {
        for part in parts {
            self.operations[part.op as usize].answer(part.status);
        }
    }
}

impl Joiner {
    /// Writes the rows of a pending compound. If no operation was run, or is readable, it is one
    /// row.
    pub(super) fn compound(&mut self, index: u32, version: u8, reply: Option<Reply>) -> Range<u64> {
        let call = &self.waiting[index as usize];
        let answer = reply.map(|(_, status, _, fields)| (status, fields));
        let (rows, not_run) = compound::rows(&call.fields, answer);
        for op in not_run {
            *self.counts.not_run.entry(op.word()).or_default() += 1;
        }
        let cut = call.short || reply.is_some_and(|(_, _, short, _)| short);
        let batches = &mut self.batches;
        let first = batches.next_row();
        if rows.is_empty() {
            head(batches, call, (Op::Compound, version), cut);
            write_whole(batches, &call.fields, reply, answer.and_then(|(status, _)| status));
            batches.end_row();
        }
        for row in rows {
            let tally = &mut self.counts.operations[row.op as usize];
            tally.operations += 1;
            tally.unanswered += u64::from(reply.is_none());
            if row.answered.is_some() {
                tally.answer(row.status);
            }
            head(batches, call, (row.op, version), row.short);
            write_whole(batches, &call.fields, reply, row.status);
            write_row(batches, &row);
            batches.end_row();
        }
        first..batches.next_row()
    }
}

/// Sets the columns that all operations of a compound share, and the status of one.
fn write_whole(batches: &mut Batches, call: &Fields, reply: Option<Reply>, status: Option<u32>) {
    batches.fields(call);
    if let Some((time, compound, _, fields)) = reply {
        batches.number(Column::ReplyTime, time as u64);
        for (column, status) in [(Column::CompoundStatus, compound), (Column::Status, status)] {
            if let Some(status) = status {
                batches.number(column, status.into());
            }
        }
        batches.fields(fields);
    }
}

fn write_row(batches: &mut Batches, row: &Row) {
    batches.number(Column::CompoundIndex, row.index.into());
    batches.number(Column::Opcode, row.opcode.into());
    for section in [row.shown, row.asked, row.answered].iter().flatten() {
        batches.section(section);
    }
    let handles = [(Column::Fh, row.fh), (Column::Fh2, row.fh2), (Column::NewFh, row.new_fh)];
    for (column, handle) in handles {
        if let Some(handle) = handle {
            batches.text(column, handle);
        }
    }
}
