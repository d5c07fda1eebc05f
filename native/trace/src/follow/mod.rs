//! A trace that is followed while it is made: rows are given as they come, not when there are
//! many, and from one file to the next.
//!
//! A source is a pipe ([`pipe`]), or files in a folder that are read one after the other while
//! the last still grows ([`folder`]). The files of one conversation continue each other: calls
//! that await replies and TCP streams go on across them.

mod folder;
mod head;
mod pipe;

use crate::budget::Budget;
use crate::input::Input;
use crate::message::WINDOW;
use crate::trace::{Chunk, Trace, TraceCounts, TraceError};
use arrow_array::RecordBatch;
use folder::Folder;
use pipe::Pipe;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a source that has nothing is waited for before what came is given, and how long rows
/// are gathered while more comes.
pub const PATIENCE: Duration = Duration::from_millis(10);

/// Rows handed on so long ago, in microseconds of the trace's time, change no more: their calls
/// are dropped.
const SETTLED: i64 = WINDOW + 2_000_000;

/// After so long without anything, as long as [`SETTLED`], it is as if the trace's time had gone on.
const QUIET: Duration = Duration::from_secs(62);

/// Why a file is passed over that begins before another that was read.
const EARLIER: &str =
    "expected a first record after that of the file that is read: it came late, or the clock was set back";

/// A place in a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file's name; empty for a pipe.
    pub file: String,
    /// The time of its first record, in microseconds since the epoch, by which it is known
    /// again whatever it is called then.
    pub began: i64,
    /// How many of its bytes, decompressed, lie before.
    pub offset: u64,
}

/// Where files that were followed before are followed again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// From here on they are read, so that it is known what goes on; nothing, if the trace was over…
    pub from: Place,
    /// … and from here on pieces are given,
    pub until: Place,
    /// to which this time of the trace belongs.
    pub clock: i64,
}

/// What a source has next.
enum Next {
    /// An input, and where it begins.
    Input(Input, Place),
    /// Nothing for a while.
    Nothing,
    /// Nothing any more.
    End,
}

/// Where inputs come from.
trait Source: Send {
    /// The next input, the first of all, or the one behind the last.
    fn next(&mut self) -> io::Result<Next>;

    /// Inputs, or the rest of some, that were written over before they were read, since the last
    /// time.
    fn take_missed(&mut self) -> u64 {
        0
    }

    /// Files that came since the last time, and begin before the one that was read then: they were
    /// put there late, or the clock was set back.
    fn take_earlier(&mut self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// What came since the last time.
pub struct Piece {
    /// What the trace gave; its operations are as they are by now.
    pub chunk: Chunk,
    /// Rows of earlier pieces that change no more, a batch for each one given before.
    pub settled: Vec<RecordBatch>,
    /// Where the next piece begins.
    pub place: Place,
    /// The trace's time: that of the last message.
    pub clock: Option<i64>,
    /// What was counted so far, once something has come.
    pub counts: Option<TraceCounts>,
    /// Whether it is the first after the input that was read again, and without rows of that.
    pub resumed: bool,
    /// Whether nothing has come for [`PATIENCE`].
    pub idle: bool,
    /// Whether nothing will come any more. Then all rows are settled.
    pub ended: bool,
    /// Whether it was stopped before the source had ended: it may be followed again from here on.
    pub stopped: bool,
}

/// Follows a source.
pub struct Follow {
    source: Box<dyn Source>,
    trace: Option<Trace>,
    reading: Option<Place>,
    place: Place,
    files: u64,
    refused: Vec<(String, String)>,
    missed: u64,
    stride: i64,
    budget: Budget,
    resume: Option<Resume>,
    gather: Duration,
    /// When something came last.
    heard: Instant,
    ended: bool,
    stopped: bool,
}

impl Follow {
    /// Follows standard input (`-`), a pipe, a file that grows, or a folder of files.
    ///
    /// A piece ends when the trace's time passes a multiple of `stride` microseconds. After
    /// `until_idle` without anything new, files have ended. What was followed before goes on
    /// where `resume` says; unreadable stretches are reported as times in which nobody watched.
    pub fn open(
        path: &Path,
        resume: Option<Resume>,
        stride: i64,
        until_idle: Option<Duration>,
        budget: Budget,
    ) -> io::Result<Follow> {
        let from = resume.as_ref().map(|resume| resume.from.clone());
        let source: Box<dyn Source> =
            match path == Path::new("-") || (birthmark_source::is_live(path) && !path.is_dir()) {
                true => Box::new(Pipe::open(path)?),
                false => Box::new(Folder::open(path, from, until_idle)?),
            };
        Ok(Follow {
            source,
            trace: None,
            reading: None,
            place: Place::default(),
            files: 0,
            refused: Vec::new(),
            missed: 0,
            stride: stride.max(1),
            budget,
            resume,
            gather: PATIENCE,
            heard: Instant::now(),
            ended: false,
            stopped: false,
        })
    }

    /// Gathers rows for so long, and not for [`PATIENCE`], whether or not more comes: who needs
    /// them that seldom avoids the cost of many pieces.
    pub fn gather_for(&mut self, time: Duration) {
        self.gather = time.max(PATIENCE);
    }

    /// Returns what came since the last call. Waits for it no longer than [`PATIENCE`] and the time
    /// for which rows are gathered, unless all that comes is damaged.
    ///
    /// # Errors
    ///
    /// If a pipe holds no trace, or a file or folder cannot be read. A file of a folder that is no
    /// trace, or not of the first one's format, is passed over ([`Follow::take_refused`]).
    pub fn next_piece(&mut self) -> Result<Piece, TraceError> {
        if self.resume.is_some() {
            return self.read_again();
        }
        let (began, stretch, mut idle) = (Instant::now(), self.stretch(), false);
        while !self.ended {
            idle = self.step()?;
            let full = self.trace.as_ref().is_some_and(Trace::is_full);
            let gathered = began.elapsed() >= self.gather || idle && self.gather == PATIENCE;
            if full || gathered || self.stretch() != stretch {
                break;
            }
        }
        self.piece(idle)
    }

    /// Reads what was given before again, a step; the piece holds nothing of it.
    fn read_again(&mut self) -> Result<Piece, TraceError> {
        let idle = self.step()?;
        let mut piece = self.piece(idle)?;
        if let Some(trace) = &mut self.trace {
            trace.settled(i64::MAX)?;
        }
        piece.resumed = self.resume.is_none();
        Ok(Piece {
            counts: piece.counts.filter(|_| piece.resumed),
            resumed: piece.resumed,
            stopped: piece.stopped,
            ..Piece::nothing(piece.place, idle, piece.ended)
        })
    }

    /// Reads on; whether nothing came for a while.
    fn step(&mut self) -> Result<bool, TraceError> {
        if self.reading.is_some() {
            self.read_on()?;
            return Ok(self.trace.as_ref().is_some_and(Trace::is_idle));
        }
        match self.source.next()? {
            Next::Input(input, place) => self.begin(input, place)?,
            Next::Nothing => return Ok(true),
            Next::End => self.end(),
        }
        Ok(false)
    }

    /// Ends, unless the source has ended: the next piece is the last. Of a pipe what waits for more
    /// gets none; files may be followed again later.
    pub fn stop(&mut self) {
        self.stopped |= !self.ended;
        self.ended = true;
        if let (Some(trace), "") = (&mut self.trace, self.place.file.as_str()) {
            trace.end();
        }
    }

    /// The files that were passed over since the last time, and why.
    pub fn take_refused(&mut self) -> Vec<(String, String)> {
        let earlier = self.source.take_earlier().into_iter();
        let names =
            earlier.map(|path| path.file_name().unwrap_or_default().to_string_lossy().into());
        self.refused.extend(names.map(|name| (name, EARLIER.to_owned())));
        std::mem::take(&mut self.refused)
    }

    /// How many files were begun.
    pub fn files(&self) -> u64 {
        self.files
    }

    /// How many files were written over before they were read to their end.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// The format's word, once something has come.
    pub fn format(&self) -> Option<&'static str> {
        self.trace.as_ref().map(|trace| trace.format.word)
    }

    /// The stretch of the trace's time that it is in.
    fn stretch(&self) -> Option<i64> {
        self.trace.as_ref().and_then(Trace::clock).map(|clock| clock.div_euclid(self.stride))
    }

    fn begin(&mut self, mut input: Input, place: Place) -> Result<(), TraceError> {
        let file = place.file.clone();
        let is_of = |place: &Place, of: &Place| of.began == place.began && !file.is_empty();
        let missed = match &self.resume {
            Some(resume) if is_of(&place, &resume.until) && resume.from == resume.until => {
                self.resume = None; // nothing is read again
                None
            }
            Some(resume) if is_of(&place, &resume.until) => {
                input.pause_at(resume.until.offset);
                None
            }
            Some(resume) if resume.until.began > place.began && !file.is_empty() => None,
            _ => self.resume.take().map(|resume| resume.clock),
        };
        let begun = match &mut self.trace {
            Some(trace) => trace.go_on(input),
            None => Trace::live(input, self.budget).map(|trace| self.trace = Some(trace)),
        };
        if let (Some(trace), Some(since)) = (&mut self.trace, missed) {
            trace.miss(since);
        }
        match begun {
            Ok(()) => {
                self.files += 1;
                (self.place, self.reading) = (place.clone(), Some(place));
            }
            Err(error) if file.is_empty() => return Err(error),
            Err(error) => self.refused.push((file, error.to_string())),
        }
        Ok(())
    }

    fn read_on(&mut self) -> Result<(), TraceError> {
        let (Some(trace), Some(place)) = (&mut self.trace, &self.reading) else {
            return Ok(());
        };
        let more = match trace.read_on() {
            Ok(more) => more,
            Err(error) if place.file.is_empty() => return Err(error),
            Err(error) => {
                self.refused.push((place.file.clone(), error.to_string()));
                false
            }
        };
        self.place = Place { offset: trace.position(), ..place.clone() };
        let reached = |resume: &Resume| {
            (resume.until.began, resume.until.offset) <= (self.place.began, self.place.offset)
        };
        self.resume.take_if(|resume| reached(resume));
        if !more {
            self.reading = None;
            let missed = self.source.take_missed();
            self.missed += missed;
            if let Some(clock) = trace.clock().filter(|_| missed > 0) {
                trace.miss(clock);
            }
        }
        Ok(())
    }

    fn end(&mut self) {
        self.ended = true;
        if let Some(trace) = &mut self.trace {
            trace.end();
        }
    }

    fn piece(&mut self, idle: bool) -> Result<Piece, TraceError> {
        let (place, ended) = (self.place.clone(), self.ended);
        let Some(trace) = &mut self.trace else {
            let nothing = Piece::nothing(place, idle, ended);
            return Ok(Piece { stopped: self.stopped, ..nothing });
        };
        trace.judge_by_now();
        let operations = trace.take_partial()?;
        let clock = trace.clock();
        if !idle {
            self.heard = Instant::now();
        }
        let done = ended || self.heard.elapsed() > QUIET;
        let until = if done { i64::MAX } else { trace.latest().saturating_sub(SETTLED) };
        let piece = Piece {
            settled: trace.settled(until)?,
            chunk: trace.chunk(operations)?,
            place,
            clock,
            counts: Some(trace.counts()),
            resumed: false,
            idle,
            ended,
            stopped: self.stopped,
        };
        trace.forget_hosts();
        Ok(piece)
    }
}

impl Piece {
    /// Whether it tells no more than that nothing came.
    pub fn is_nothing(&self) -> bool {
        let quiet = self.idle && !self.ended && !self.resumed;
        quiet && self.settled.is_empty() && self.chunk.is_empty()
    }

    fn nothing(place: Place, idle: bool, ended: bool) -> Piece {
        Piece {
            chunk: Chunk::default(),
            settled: Vec::new(),
            place,
            clock: None,
            counts: None,
            resumed: false,
            idle,
            ended,
            stopped: false,
        }
    }
}
