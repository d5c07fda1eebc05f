//! What a trace format is: how its first bytes tell it, and the decoder that reads it.

use crate::input::Input;
use crate::join::Joiner;
use std::error::Error;

/// A format of traces: the `FORMAT` of its decoder's folder.
#[derive(Debug)]
pub struct Format {
    /// Its word in summaries.
    pub word: &'static str,
    /// What it is, where an error says what was expected.
    pub name: &'static str,
    /// How many first bytes tell it, if the trace has as many.
    pub first: usize,
    /// Whether a trace that begins with these bytes is of this format, and of no other.
    pub begins: fn(&[u8]) -> bool,
    /// Makes a decoder for one trace.
    pub decoder: fn() -> Box<dyn Decoder>,
}

/// Why a decoder cannot go on.
pub type DecodeError = Box<dyn Error + Send + Sync>;

/// Reads the records of one trace and hands its calls and replies to a [`Joiner`].
pub trait Decoder: Send {
    /// Reads some hundred records or more, as far as they are at hand; false at the end of the
    /// input. Of a live one it reads those that are there, and does not wait longer for more than
    /// [`Input::at_hand`] does.
    ///
    /// # Errors
    ///
    /// If nothing of the trace can be decoded. What a single record is wrong in goes to the
    /// joiner's quarantine.
    fn step(&mut self, input: &mut Input, joiner: &mut Joiner) -> Result<bool, DecodeError>;

    /// Ends the trace: hands on all that waited for more.
    fn end(&mut self, _joiner: &mut Joiner) {}

    /// Expects the beginning of another input next, which goes on where the last one ended: what
    /// waits for more goes on waiting.
    fn go_on(&mut self) {}

    /// Sets records aside from now on whose time cannot be theirs, by a clock that shows so many
    /// microseconds since the epoch ([`crate::instants`]).
    fn judge_by(&mut self, clock: i64);

    /// How many records the clock showed to be wrong, and how many had a time that is believed.
    fn judged(&self) -> (u64, u64);

    /// What was read so far.
    fn counts(&self) -> DecoderCounts;

    /// Whether it gives [`Joiner::hold`] lines of nfsdump text, which are printed as they are.
    fn holds_lines(&self) -> bool {
        false
    }
}

/// What a decoder read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecoderCounts {
    /// Records: messages, stretches of damage, and comments.
    pub records: u64,
    /// Lines, if the format has any.
    pub lines: Option<Lines>,
    /// What only this format counts, by name.
    pub details: Vec<(&'static str, u64)>,
}

/// The lines of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// All of them; a block of zero bytes counts as one, and ends the line before it.
    pub lines: u64,
    /// Comments and empty lines.
    pub comments: u64,
}

/// So many bytes of a live trace must do, if there are no more yet.
const LEAST: usize = 4;

/// The format that a trace's first bytes tell.
pub fn recognize(formats: &[&'static Format], input: &mut Input) -> Option<&'static Format> {
    let mut formats = formats.to_vec();
    formats.sort_by_key(|format| format.first); // of a live trace there may be no more bytes yet
    let least = |format: &Format| format.first.min(LEAST);
    formats
        .into_iter()
        .find(|format| (format.begins)(input.glimpse(least(format), format.first - least(format))))
}

/// The names of formats, such as `a, b or c`.
pub fn names(formats: &[&Format]) -> String {
    let names: Vec<_> = formats.iter().map(|format| format.name).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}
