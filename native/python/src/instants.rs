//! `Instants`, for Python: decides whether the times of a table's rows are possible.

use super::arrays::{numbers, whole, Column};
use arrow_array::types::Int64Type;
use birthmark_trace::instants::{Instants, Odd, Verdict};
use pyo3::prelude::*;

/// The number of rows decided, and the rows set aside, each with a reason and the expectation.
type Judged = (u64, Vec<(u64, &'static str, String)>);

#[pyclass(name = "Instants", module = "birthmark_native")]
pub struct PyInstants {
    instants: Instants<u64>,
    rows: u64,
    odd: Vec<(u64, &'static str, String)>,
}

#[pymethods]
impl PyInstants {
    #[new]
    fn new(clock: i64) -> PyInstants {
        let mut instants = Instants::default();
        instants.judge_by(clock);
        PyInstants { instants, rows: 0, odd: Vec::new() }
    }

    fn judge(&mut self, py: Python<'_>, times: Column, replies: Column) -> PyResult<Judged> {
        let times = whole::<Int64Type>(times, "times")?;
        let replies = numbers::<Int64Type>(replies, "replies")?;
        py.detach(|| {
            let replies = replies.iter().chain(std::iter::repeat(None));
            for (time, reply) in times.values().iter().zip(replies) {
                self.row(*time, reply);
            }
        });
        Ok(self.take())
    }

    fn finish(&mut self) -> Judged {
        self.settle(true);
        self.take()
    }
}

impl PyInstants {
    fn row(&mut self, time: i64, reply: Option<i64>) {
        let row = self.rows;
        self.rows += 1;
        match self.instants.judge_row(time, reply) {
            Verdict::Plausible => {}
            Verdict::Odd(odd) => self.set_aside(row, odd),
            Verdict::Pending => {
                self.instants.hold(time, row);
                self.settle(false);
            }
        }
    }

    fn settle(&mut self, ended: bool) {
        while let Some((row, odd)) = self.instants.settled(ended) {
            if let Some(odd) = odd {
                self.set_aside(row, odd);
            }
        }
    }

    fn set_aside(&mut self, row: u64, (reason, expected): Odd) {
        self.odd.push((row, reason, expected));
    }

    fn take(&mut self) -> Judged {
        let until = self.instants.first_held().copied().unwrap_or(self.rows);
        (until, std::mem::take(&mut self.odd))
    }
}
