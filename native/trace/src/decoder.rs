//! Trace formats: recognition by the first bytes, and decoders.

use crate::budget::Budget;
use crate::input::Input;
use crate::join::Joiner;
use std::error::Error;

/// A format of traces: the `FORMAT` of its decoder's folder.
#[derive(Debug)]
pub struct Format {
    /// Its word in summaries.
    pub word: &'static str,
    /// Its name for errors.
    pub name: &'static str,
    /// How many bytes of the beginning `begins` needs.
    pub first: usize,
    /// Whether a trace with this beginning has this format, and no other.
    pub begins: fn(&[u8]) -> bool,
    /// Makes a decoder for one trace.
    pub decoder: fn() -> Box<dyn Decoder>,
}

/// Why a decoder cannot go on.
pub type DecodeError = Box<dyn Error + Send + Sync>;

/// Reads the records of one trace and hands its calls and replies to a [`Joiner`].
pub trait Decoder: Send {
    /// Reads some hundred records or more, as far as they are present; returns false at the end of
    /// the input. For live input it reads the present ones, and waits for more no longer than
    /// [`Input::at_hand`] does.
    ///
    /// # Errors
    ///
    /// If nothing of the trace can be decoded. A single bad record goes to the joiner's quarantine.
    fn step(&mut self, input: &mut Input, joiner: &mut Joiner) -> Result<bool, DecodeError>;

    /// Ends the trace: hands on all pending data.
    fn end(&mut self, _joiner: &mut Joiner) {}

    /// Expects the beginning of another input next, which continues the last one: pending data
    /// stays pending.
    fn go_on(&mut self) {}

    /// Sets aside, from now on, records with impossible times, by a clock in microseconds since the
    /// epoch ([`crate::instants`]).
    fn judge_by(&mut self, clock: i64);

    /// Applies a memory budget to incomplete data from now on.
    fn limit(&mut self, _budget: Budget) {}

    /// Does so for live traffic, which must not wait after hours of silence.
    fn judge_live(&mut self, clock: i64) {
        self.judge_by(clock);
    }

    /// The numbers of records with times beyond the clock, and with plausible times.
    fn judged(&self) -> (u64, u64);

    /// The counts so far.
    fn counts(&self) -> DecoderCounts;

    /// Whether it gives [`Joiner::hold`] lines of nfsdump text, which are printed verbatim.
    fn holds_lines(&self) -> bool {
        false
    }
}

/// A decoder's counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecoderCounts {
    /// Records: messages, stretches of damage, and comments.
    pub records: u64,
    /// Lines, if the format has any.
    pub lines: Option<Lines>,
    /// Counts that only this format has, by name.
    pub details: Vec<(&'static str, u64)>,
    /// Unreadable traffic: the reason, the number of packets or messages, and their bytes.
    pub unread: Vec<(&'static str, u64, u64)>,
    /// The lowest and highest version of NFS that a server offered when it refused another.
    pub offered: Option<(u32, u32)>,
}

/// The lines of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// All of them; a block of zero bytes counts as one, and ends the line before it.
    pub lines: u64,
    /// Comments and empty lines.
    pub comments: u64,
}

/// The bytes that suffice for a live trace that has no more yet; with fewer it waits for the second
/// number.
const LEAST: [usize; 2] = [4, 32];

/// Recognizes the format by a trace's first bytes.
pub fn recognize(formats: &[&'static Format], input: &mut Input) -> Option<&'static Format> {
    let mut formats = formats.to_vec();
    formats.sort_by_key(|format| format.first); // a live trace may have no more bytes yet
    let tries =
        LEAST.into_iter().flat_map(|least| formats.iter().map(move |format| (least, *format)));
    tries.into_iter().find_map(|(least, format)| {
        let least = format.first.min(least);
        (format.begins)(input.peek_live(least, format.first - least)).then_some(format)
    })
}

/// The names of formats, such as `a, b or c`.
pub fn names(formats: &[&Format]) -> String {
    let names: Vec<_> = formats.iter().map(|format| format.name).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}
