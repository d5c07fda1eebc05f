//! The interface of a trace that is followed ([`crate::follow`]).

use super::{now, Trace, TraceError};
use crate::budget::Budget;
use crate::decoder;
use crate::input::Input;
use crate::FORMATS;
use arrow_array::RecordBatch;
use birthmark_source::Compression;

impl Trace {
    /// Begins a trace that is followed.
    pub(crate) fn live(input: Input, budget: Budget) -> Result<Trace, TraceError> {
        let mut trace = Trace::with(FORMATS, Compression::None, input)?;
        trace.decoder.limit(budget);
        trace.joiner.limit(budget);
        trace.recorder.get().messages.limit(budget);
        trace.judge_by_now();
        Ok(trace)
    }

    /// Continues with another input of the same format.
    pub(crate) fn go_on(&mut self, mut input: Input) -> Result<(), TraceError> {
        let format = decoder::recognize(FORMATS, &mut input);
        if format.is_none_or(|format| format.word != self.format.word) {
            let first = input.peek(1);
            let shown = first[..first.len().min(16)].escape_ascii().to_string();
            return Err(TraceError::Unrecognized(shown));
        }
        self.before += self.input.consumed();
        self.input = input;
        self.decoder.go_on();
        Ok(())
    }

    /// Sets aside records with impossible times, by this host's current clock.
    pub(crate) fn judge_by_now(&mut self) {
        self.decoder.judge_live(now());
    }

    /// Reads on, a step of the decoder; returns false at the end of the input.
    pub(crate) fn read_on(&mut self) -> Result<bool, TraceError> {
        self.decoder.step(&mut self.input, &mut self.joiner).map_err(TraceError::Decoder)
    }

    /// Whether the last request for more found nothing for a while.
    pub(crate) fn is_idle(&self) -> bool {
        self.input.is_idle()
    }

    /// Whether something is full and should be taken.
    pub(crate) fn is_full(&self) -> bool {
        self.joiner.batches.is_full()
            || self.joiner.quarantine.full()
            || self.recorder.get().messages.full()
    }

    /// Its position in its input.
    pub(crate) fn position(&self) -> u64 {
        self.input.position()
    }

    /// The time of the last message.
    pub(crate) fn clock(&self) -> Option<i64> {
        self.joiner.clock()
    }

    /// The latest time of a message; 0 before there is any.
    pub(crate) fn latest(&self) -> i64 {
        self.joiner.counts.period.map_or(0, |(_, last)| last)
    }

    /// Records that nobody watched from a time on up to the next message.
    pub(crate) fn miss(&mut self, since: i64) {
        self.joiner.miss(since);
    }

    /// The rows since the last call, in their current state
    /// ([`crate::batch::Batches::take_partial`]).
    pub(crate) fn take_partial(&mut self) -> Result<Vec<RecordBatch>, TraceError> {
        let (clock, joiner) = (self.latest(), &mut self.joiner);
        let mut rows = Vec::new();
        while let Some(batch) = joiner.batches.take_partial(&joiner.hosts, clock)? {
            rows.push(batch);
        }
        Ok(rows)
    }

    /// Drops unused hosts, if there are too many. All pending data was taken.
    pub(crate) fn forget_hosts(&mut self) {
        self.joiner.forget_hosts();
    }

    /// The rows handed on that are final ([`crate::batch::Batches::settled`]).
    pub(crate) fn settled(&mut self, until: i64) -> Result<Vec<RecordBatch>, TraceError> {
        Ok(self.joiner.batches.settled(until)?)
    }
}
