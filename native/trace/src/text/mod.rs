//! nfsdump text, as Ellard's tool wrote it and as the Harvard traces are published (thesis
//! 3.6.1): one line per call or reply, everything but times in hexadecimal.

pub mod fields;
pub mod line;
pub mod log;
pub mod recorder;
pub mod trailer;
pub mod value;
pub mod words;
pub mod write;

use crate::decoder::{DecodeError, Decoder, DecoderCounts, Format, Lines};
use crate::fields::Fields;
use crate::input::Input;
use crate::instants::{Instants, Odd, Verdict};
use crate::join::{HeldReply, Joiner};
use crate::message::Procedure;
use line::{Endpoints, Line};
use words::Direction;

/// nfsdump text.
pub static FORMAT: Format = Format {
    word: "nfsdump",
    name: "nfsdump text",
    first: 1 << 12,
    begins: is_text,
    decoder: || Box::<TextDecoder>::default(),
};

/// The longest line to read.
pub const LONGEST: usize = 1 << 20;

/// Why a line is set aside: a word for counting, and what was expected.
pub type Damage = (&'static str, &'static str);

/// Reads lines, and passes calls and replies to a [`Joiner`].
#[derive(Default)]
struct TextDecoder {
    counts: Lines,
    newlines: u64,
    endpoints: Endpoints,
    fields: Fields,
    instants: Instants<PendingLine>,
}

/// The place of a line, and whether the trace ends within it.
#[derive(Clone, Copy, Debug)]
struct Place {
    offset: u64,
    line: u64,
    cut: bool,
}

/// A line that is pending until its time is judged.
#[derive(Debug)]
struct PendingLine {
    text: Vec<u8>,
    place: Place,
}

/// The first line of a trace that begins with these bytes, if it is a comment: it states the
/// trace's origin.
pub fn heading(first: &[u8]) -> Option<Vec<u8>> {
    let line = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"#").then(|| line.to_vec())
}

/// Whether the first bytes of a file look like nfsdump text: a comment, a time, or one of the
/// tool's own comments.
fn is_text(first: &[u8]) -> bool {
    let line = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let readable = line.iter().all(|byte| (b' '..0x7f).contains(byte) || b"\t\r".contains(byte));
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let time = digits(line);
    let fraction = line.get(time + 1..).map_or(0, digits);
    if time > 0
        && fraction > 0
        && line[time] == b'.'
        && line.get(time + 1 + fraction) == Some(&b' ')
    {
        return true; // whatever bytes the names on the line are of
    }
    let stamped = time > 0 && matches!(line.get(time), Some(b'.') | None);
    readable && (stamped || line.starts_with(b"#") || line.starts_with(b"XX "))
}

impl Decoder for TextDecoder {
    /// Reads the lines present, about a megabyte of them.
    fn step(&mut self, input: &mut Input, joiner: &mut Joiner) -> Result<bool, DecodeError> {
        Ok(!input.at_hand(1) || self.read(input, joiner))
    }

    fn end(&mut self, joiner: &mut Joiner) {
        self.settle(true, joiner);
    }

    fn go_on(&mut self) {
        self.newlines = 0;
    }

    fn judge_by(&mut self, clock: i64) {
        self.instants.judge_by(clock);
    }

    fn judge_live(&mut self, clock: i64) {
        self.instants.judge_live(clock);
    }

    fn judged(&self) -> (u64, u64) {
        self.instants.judged()
    }

    fn counts(&self) -> DecoderCounts {
        let lines = Some(self.counts);
        DecoderCounts { records: self.counts.lines, lines, ..DecoderCounts::default() }
    }

    fn holds_lines(&self) -> bool {
        true
    }
}

impl TextDecoder {
    fn read(&mut self, input: &mut Input, joiner: &mut Joiner) -> bool {
        let position = input.position();
        let window = input.peek(1);
        let mut done = 0;
        // a block of zero bytes ends a line as a newline does
        while let Some(end) = memchr::memchr2(b'\n', 0, &window[done..]) {
            let line = &window[done..done + end];
            let zeros = window[done + end] == 0;
            if !(zeros && line.is_empty()) {
                self.line(line, position + done as u64, joiner);
            }
            done += end;
            if zeros {
                break;
            }
            done += 1;
            self.newlines += 1;
        }
        input.consume(done);
        if done > 0 && !input.at_hand(1) {
            return true;
        }
        if input.peek(1).first() == Some(&0) {
            self.zeros(input, joiner);
            return true;
        }
        done > 0 || self.long_or_last(input, joiner)
    }

    /// Reads a line longer than the window, or the last one, or finds the end.
    fn long_or_last(&mut self, input: &mut Input, joiner: &mut Joiner) -> bool {
        let seen = input.peek(1).len();
        if seen < LONGEST && input.more() {
            return true;
        }
        let position = input.position();
        let window = input.peek(1);
        if window.len() > seen {
            return true; // the stream's last bytes have just arrived
        }
        if seen == 0 {
            return false;
        }
        let place = Place { offset: position, line: self.newlines + 1, cut: true };
        self.counts.lines += 1;
        if window[0] == b'#' {
            self.counts.comments += 1;
        } else if seen >= LONGEST {
            let damage = ("too-long", "a newline within the first megabyte of a line");
            set_aside(place, damage, window, joiner);
        } else {
            self.judge(window, place, joiner);
        }
        input.consume(seen);
        true
    }

    /// Sets a run of zero bytes aside, however long it is, as one record.
    fn zeros(&mut self, input: &mut Input, joiner: &mut Joiner) {
        let start = input.position();
        let length = input.skip_zeros();
        self.counts.lines += 1;
        let line = Some(self.newlines + 1);
        let expected = "a line of text, not zero bytes";
        joiner.quarantine.set_aside_long(start, line, length, "zero-block", expected, &[]);
    }

    /// Reads one line.
    fn line(&mut self, text: &[u8], position: u64, joiner: &mut Joiner) {
        self.counts.lines += 1;
        if matches!(text, [] | [b'\r'] | [b'#', ..]) {
            self.counts.comments += 1;
        } else {
            let place = Place { offset: position, line: self.newlines + 1, cut: false };
            self.judge(text, place, joiner);
        }
    }

    /// Decodes one line, and hands it on as soon as its time is believed.
    fn judge(&mut self, text: &[u8], place: Place, joiner: &mut Joiner) {
        let line = match self.parse(text, joiner) {
            Ok(line) => line,
            Err(damage) => return set_aside(place, damage, text, joiner),
        };
        let time = line.envelope.time;
        match self.instants.judge(time) {
            Verdict::Plausible => self.take(line, text, place, joiner),
            Verdict::Odd(odd) => set_aside_odd(place, odd, text, joiner),
            Verdict::Pending => {
                self.instants.hold(time, PendingLine { text: text.to_vec(), place });
                self.settle(false, joiner);
            }
        }
    }

    /// Hands on, or sets aside, lines whose times are judged now.
    fn settle(&mut self, ended: bool, joiner: &mut Joiner) {
        while let Some((PendingLine { text, place }, odd)) = self.instants.settled(ended) {
            match (odd, self.parse(&text, joiner)) {
                (Some(odd), _) => set_aside_odd(place, odd, &text, joiner),
                (None, Ok(line)) => self.take(line, &text, place, joiner),
                (None, Err(damage)) => set_aside(place, damage, &text, joiner),
            }
        }
    }

    fn parse<'a>(&mut self, text: &'a [u8], joiner: &mut Joiner) -> Result<Line<'a>, Damage> {
        let bare = text.strip_suffix(b"\r").unwrap_or(text);
        let mut line = Line::parse(bare, &mut self.endpoints, &mut joiner.hosts)?;
        line.plain &= bare.len() == text.len();
        Ok(line)
    }

    fn take(&mut self, line: Line, text: &[u8], place: Place, joiner: &mut Joiner) {
        if let Err(damage) = self.message(line, text, joiner) {
            self.fields.clear();
            set_aside(place, damage, text, joiner);
        }
    }

    /// Hands one line on.
    fn message(&mut self, line: Line, text: &[u8], joiner: &mut Joiner) -> Result<(), Damage> {
        match line.direction {
            Direction::Call => {
                let short = fields::read(&line, text, &mut self.fields)?;
                joiner.counts.short += u64::from(short);
                let held = joiner.call(line.envelope, line.procedure, short, &mut self.fields);
                if let Some(held) = held {
                    return self.held(&held, line.procedure, joiner);
                }
                Ok(())
            }
            Direction::Reply => match joiner.pending(&line.envelope.key) {
                Some(procedure) => self.answer(line, text, procedure, joiner),
                None => {
                    fields::read(&line, text, &mut self.fields)?;
                    self.fields.clear();
                    joiner.hold(line.envelope, line.kind(), text);
                    Ok(())
                }
            },
        }
    }

    /// Reads a reply that was held for its call.
    fn held(
        &mut self,
        held: &HeldReply,
        procedure: Procedure,
        joiner: &mut Joiner,
    ) -> Result<(), Damage> {
        let text = &held.bytes;
        let mut line = self.parse(text, joiner)?;
        line.envelope = held.envelope;
        self.answer(line, text, procedure, joiner)
    }

    /// Reads a reply to a call of that procedure.
    fn answer(
        &mut self,
        mut line: Line,
        text: &[u8],
        procedure: Procedure,
        joiner: &mut Joiner,
    ) -> Result<(), Damage> {
        line.plain &= line.procedure == procedure;
        let short = fields::read(&line, text, &mut self.fields)?;
        joiner.counts.short += u64::from(short);
        let status = match line.procedure {
            Procedure::Other(_) => None,
            Procedure::Nfs(..) => line.status,
        };
        joiner.reply(line.envelope, status, short, &mut self.fields);
        Ok(())
    }
}

/// Sets an unreadable line aside; if the trace ends within it, for that reason.
fn set_aside(place: Place, (reason, expected): Damage, text: &[u8], joiner: &mut Joiner) {
    let (reason, expected) = match place.cut && reason != "too-long" {
        true => ("cut-short", "a whole line: the trace ends in the middle of this one"),
        false => (reason, expected),
    };
    joiner.quarantine.set_aside(place.offset, Some(place.line), reason, expected, text);
}

fn set_aside_odd(place: Place, (reason, expected): Odd, text: &[u8], joiner: &mut Joiner) {
    joiner.quarantine.set_aside(place.offset, Some(place.line), reason, expected, text);
}
