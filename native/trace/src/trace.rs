//! A trace file from its first byte to the operations table, whatever its format.

use crate::decoder::{self, DecodeError, Decoder, DecoderCounts, Format};
use crate::input::Input;
use crate::join::{Counts, Joiner};
use crate::loss;
use crate::quarantine::Damaged;
use crate::text;
use crate::text::log::{Flushing, Log, Taker};
use crate::text::recorder::Recorder;
use crate::FORMATS;
use arrow_array::RecordBatch;
use birthmark_source::Compression;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::SystemTime;

mod live;

/// Why a trace could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened or read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is empty.
    #[error("is empty, or all zero bytes; expected {}", decoder::names(FORMATS))]
    Empty,
    /// It is something else.
    #[error("is no trace: it begins with {0}; expected {names}", names = decoder::names(FORMATS))]
    Unrecognized(String),
    /// Its decoder cannot read it.
    #[error(transparent)]
    Decoder(DecodeError),
    /// Most of it is later than the clock: one of the two is wrong, possibly the clock.
    #[error(
        "{too_late} of {judged} records have times later than a day after this host's clock; \
         expected a trace of the past"
    )]
    AfterClock {
        /// The records with later times.
        too_late: u64,
        /// All records with judged times.
        judged: u64,
    },
    /// Arrow refused a batch, which is a defect.
    #[error("rows that do not fit the operations table: {0}")]
    Arrow(#[from] arrow_schema::ArrowError),
}

/// All counts.
#[derive(Clone, Debug)]
pub struct TraceCounts {
    /// Calls and replies.
    pub joined: Counts,
    /// Damaged records, by reason.
    pub damaged: BTreeMap<&'static str, u64>,
    /// The decoder's counts, and bytes before its input, such as zeros, as records.
    pub read: DecoderCounts,
    /// Bytes read, after decompression.
    pub bytes: u64,
}

impl TraceCounts {
    /// The destinations of the records: the table, orphans, other programs and comments, or
    /// quarantine. It equals the records read.
    pub fn accounted_for(&self) -> u64 {
        let joined: u64 = self.joined.procedures.iter().map(|p| p.calls + p.replies).sum();
        let other: u64 = self.joined.other.values().map(|(calls, replies)| calls + replies).sum();
        let orphans: u64 = self.joined.orphans.values().sum();
        let damaged: u64 = self.damaged.values().sum();
        joined + other + orphans + damaged + self.read.lines.map_or(0, |lines| lines.comments)
    }
}

/// What a trace gives at a time. Each table has one batch or none; a follower's operations may have
/// several.
#[derive(Default)]
pub struct Chunk {
    /// Rows of the operations table.
    pub operations: Vec<RecordBatch>,
    /// Messages without a row.
    pub messages: Vec<RecordBatch>,
    /// Rows of the loss table.
    pub loss: Vec<RecordBatch>,
    /// Gaps with lost calls ([`loss::gaps`]), which concern operations of this chunk and later ones.
    pub gaps: Vec<RecordBatch>,
    /// Records set aside.
    pub damaged: Vec<Damaged>,
}

impl Chunk {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        let tables = [&self.operations, &self.messages, &self.loss, &self.gaps];
        self.damaged.is_empty() && tables.iter().all(|batches| batches.is_empty())
    }
}

/// Reads a trace chunk by chunk.
pub struct Trace {
    /// The file's compression.
    pub compression: Compression,
    /// Its format.
    pub format: &'static Format,
    /// The first line, if it is a comment.
    pub heading: Option<Vec<u8>>,
    input: Input,
    /// The bytes of earlier inputs.
    before: u64,
    decoder: Box<dyn Decoder>,
    joiner: Joiner,
    recorder: Recorder,
    set_aside: u64,
    ended: bool,
}

impl Trace {
    /// Opens a file, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Trace, TraceError> {
        let (compression, reader) = birthmark_source::open(path)?;
        Trace::new(compression, reader)
    }

    /// Reads a trace's decompressed bytes; this host's clock decides which times are possible.
    pub fn new(
        compression: Compression,
        reader: Box<dyn io::Read + Send>,
    ) -> Result<Trace, TraceError> {
        let mut trace = Trace::with(FORMATS, compression, Input::new(reader))?;
        trace.judge_by(now());
        Ok(trace)
    }

    /// Opens a trace like [`Trace::open`], to be printed by [`Trace::print`]: its lines go to
    /// `taker`, present ones before it waits for more; `all` as in [`crate::text::write::Printer`].
    /// Times are printed unchanged, possible or not.
    pub fn open_to_print(path: &Path, all: bool, taker: Taker) -> Result<Trace, TraceError> {
        let (compression, reader) = birthmark_source::open(path)?;
        let log = Log::new(taker);
        let mut input = Input::new(Box::new(Flushing { reader, log: log.clone() }));
        input.live = birthmark_source::is_live(path);
        let mut trace = Trace::with(FORMATS, compression, input)?;
        trace.record_all(log, all);
        Ok(trace)
    }

    fn with(
        formats: &[&'static Format],
        compression: Compression,
        mut input: Input,
    ) -> Result<Trace, TraceError> {
        let mut format = decoder::recognize(formats, &mut input);
        // a time of ERF may begin with zeros; elsewhere leading zeros are a block never written
        let zeros = if format.is_none() { input.skip_zeros() } else { 0 };
        if input.peek(1).is_empty() {
            return Err(input.take_error().map_or(TraceError::Empty, TraceError::Io));
        }
        format = format.or_else(|| decoder::recognize(formats, &mut input));
        let first = input.peek(1);
        let Some(format) = format else {
            let shown = &first[..first.len().min(16)];
            return Err(TraceError::Unrecognized(shown.escape_ascii().to_string()));
        };
        let heading = text::heading(first);
        let mut trace = Trace::with_input(compression, format, input);
        trace.heading = heading;
        if zeros > 0 {
            let expected = "the beginning of a trace, not zero bytes";
            trace.set_aside(0, zeros, "zero-block", expected);
        }
        Ok(trace)
    }

    /// Prints all messages to `log` from now on, instead of storing those without a row.
    fn record_all(&mut self, log: Log, all: bool) {
        let mut record = self.recorder.get();
        record.log = Some(log);
        record.printer.printer.all = all;
        drop(record);
        self.joiner.tell(Box::new(self.recorder.clone()), true);
    }

    /// Sets aside, from now on, records with impossible times, by a clock in microseconds since the
    /// epoch ([`crate::instants`]).
    pub fn judge_by(&mut self, clock: i64) {
        self.decoder.judge_by(clock);
    }

    /// Reads bytes as a trace of a given format, whatever their beginning. Every time is accepted.
    pub fn decode(format: &'static Format, reader: Box<dyn io::Read + Send>) -> Trace {
        Trace::with_input(Compression::None, format, Input::new(reader))
    }

    fn with_input(compression: Compression, format: &'static Format, input: Input) -> Trace {
        let decoder = (format.decoder)();
        let mut joiner = Joiner::default();
        let recorder = Recorder::new(decoder.holds_lines());
        joiner.tell(Box::new(recorder.clone()), false);
        Trace {
            compression,
            format,
            heading: None,
            input,
            before: 0,
            decoder,
            joiner,
            recorder,
            set_aside: 0,
            ended: false,
        }
    }

    /// The next chunk; `None` at the end of the trace.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk>, TraceError> {
        let operations = loop {
            let joiner = &mut self.joiner;
            if let Some(batch) = joiner.batches.take(&joiner.hosts, self.ended) {
                break vec![batch?];
            }
            if self.ended
                || self.step()?
                    && (self.joiner.quarantine.full() || self.recorder.get().messages.full())
            {
                break Vec::new();
            }
        };
        let chunk = self.chunk(operations)?;
        Ok((!self.ended || !chunk.is_empty()).then_some(chunk))
    }

    /// The chunk of some operations, with all that waits.
    pub(crate) fn chunk(&mut self, operations: Vec<RecordBatch>) -> Result<Chunk, TraceError> {
        let (losses, hosts) = (&mut self.joiner.losses, &self.joiner.hosts);
        let filled = |batch: RecordBatch| if batch.num_rows() > 0 { vec![batch] } else { vec![] };
        Ok(Chunk {
            operations,
            messages: filled(self.recorder.get().messages.take(hosts)?),
            loss: filled(loss::periods(&losses.take_periods(), hosts)?),
            gaps: filled(loss::gaps(&losses.take_gaps(), hosts)?),
            damaged: self.joiner.quarantine.take(),
        })
    }

    /// Reads on, a step of a decoder; false at the end.
    fn step(&mut self) -> Result<bool, TraceError> {
        let more =
            self.decoder.step(&mut self.input, &mut self.joiner).map_err(TraceError::Decoder)?;
        if !more {
            self.end();
            self.check_clock()?;
        }
        Ok(more)
    }

    /// Prints the rest of a trace that was opened for printing, while `go_on` is true. Damaged
    /// records are only counted.
    pub fn print(&mut self, go_on: impl Fn() -> bool) -> Result<(), TraceError> {
        while go_on() && !self.ended {
            self.step()?;
            self.joiner.batches.discard();
            self.joiner.quarantine.take();
        }
        if let Some(log) = &self.recorder.get().log {
            log.flush();
        }
        Ok(())
    }

    /// Messages of NFS that could not be printed, because there is no form for them.
    pub fn left_out(&self) -> u64 {
        self.recorder.get().printer.left_out
    }

    /// The counts so far.
    pub fn counts(&self) -> TraceCounts {
        let mut read = self.decoder.counts();
        read.records += self.set_aside;
        let mut joined = self.joiner.counts.clone();
        let evicted =
            [("rows", self.joiner.batches.evicted()), ("hosts", self.joiner.losses.unnamed())];
        joined.evicted.extend(evicted.into_iter().filter(|(_, count)| *count > 0));
        TraceCounts {
            joined,
            damaged: self.joiner.quarantine.counts.clone(),
            read,
            bytes: self.before + self.input.consumed(),
        }
    }

    /// Ends the trace and all pending data.
    pub(crate) fn end(&mut self) {
        self.ended = true;
        if let Some(error) = self.input.take_error() {
            let expected = format!("{} data to its end: {error}", self.compression.word());
            self.set_aside(self.input.position(), 0, "compression-damaged", &expected);
        }
        self.decoder.end(&mut self.joiner);
        self.joiner.finish();
    }

    fn check_clock(&self) -> Result<(), TraceError> {
        let (too_late, plausible) = self.decoder.judged();
        let judged = too_late + plausible;
        match 2 * too_late > judged {
            true => Err(TraceError::AfterClock { too_late, judged }),
            false => Ok(()),
        }
    }

    /// Sets aside bytes that no decoder saw.
    fn set_aside(&mut self, offset: u64, length: u64, reason: &'static str, expected: &str) {
        self.set_aside += 1;
        let quarantine = &mut self.joiner.quarantine;
        quarantine.set_aside_long(offset, None, length, reason, expected, &[]);
    }
}

/// This host's clock, in microseconds since the epoch.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
