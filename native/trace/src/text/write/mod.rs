//! Writes nfsdump text, the input of [`super`].
//!
//! | file | what |
//! | --- | --- |
//! | `print` | values, as the format has them |
//! | `fields` | keys and values, in the tool's order |
//! | `line` | whole lines |
//! | `messages` | lines from messages as they come |
//! | `rows`, `values` | the sources of the values |
//! | `sorter` | the order of lines |

mod fields;
mod line;
mod messages;
mod print;
mod rows;
mod sorter;
mod values;

pub(super) use line::trailer;
pub use line::Printer;
pub use messages::MessagePrinter;

use crate::form::{CALL, REPLY};
use crate::rows::Rows;
use crate::schema::Column;
use arrow_array::RecordBatch;
use birthmark_columns::ColumnError;
use line::Head;
use rows::{printed, Heads};
use sorter::Sorter;

/// Why rows could not be written as text.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum WriteError {
    #[error("{0}")]
    Rows(#[from] ColumnError),
    #[error(
        "a host is {0:?}; nfsdump text has IP addresses, or numbers that stand for \
         them, of up to 8 hexadecimal digits"
    )]
    Host(String),
}

/// Converts the operations table to lines.
#[derive(Default)]
pub struct TextWriter {
    printer: Printer,
    sorter: Sorter,
    /// Operations of versions that the format does not know.
    pub left_out: u64,
}

impl TextWriter {
    /// A writer; `all` as in [`Printer`].
    pub fn new(all: bool) -> TextWriter {
        TextWriter { printer: Printer { all }, ..TextWriter::default() }
    }

    /// Takes operations, about in the order of their replies; returns the lines due now.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<Vec<u8>, WriteError> {
        let rows = Rows::new(batch)?;
        let heads = Heads::new(&rows);
        for row in rows.iter() {
            let Some(head) = heads.of(row)? else {
                self.left_out += 1;
                continue;
            };
            let out = self.sorter.text();
            if let Some(text) = row.bytes(CALL.text) {
                print::line(out, text);
            } else if !self.printer.call(&head, &printed(row, CALL), &row, out) {
                self.left_out += 1;
                continue;
            }
            self.sorter.end_line(head.time);
            let Some(time) = row.number(Column::ReplyTime).map(|time| time as i64) else {
                continue;
            };
            let head = Head { time, ..head };
            let status = row.number(Column::Status).map(|status| status as u32);
            let out = self.sorter.text();
            if let Some(text) = row.bytes(REPLY.text) {
                print::line(out, text);
            } else {
                self.printer.reply(&head, status, &printed(row, REPLY), &row, out);
            }
            self.sorter.end_line(time);
        }
        Ok(self.sorter.due())
    }

    /// Takes messages without a row in the operations, about in the order of their times; returns
    /// the lines due now.
    pub fn messages(&mut self, batch: &RecordBatch) -> Result<Vec<u8>, WriteError> {
        for (time, line) in rows::lines(batch)? {
            print::line(self.sorter.text(), line);
            self.sorter.end_line(time);
        }
        Ok(self.sorter.due())
    }

    /// The remaining lines.
    pub fn finish(&mut self) -> Vec<u8> {
        self.sorter.rest()
    }
}
