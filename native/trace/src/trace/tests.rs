//! Times at the edges of their types: the seeds of the fuzzers, read with a clock and without. And
//! a custom format.

use super::*;
use crate::capture;
use crate::decoder::Lines;
use crate::fields::Fields;
use crate::instants::AHEAD;
use crate::message::{CallKey, Endpoint, Envelope, Procedure, Transport};
use crate::schema::{Column, Op};
use arrow_array::cast::AsArray;
use std::fs;
use std::io::Cursor;

/// 2027-01-15, in microseconds since the epoch.
const CLOCK: i64 = 1_800_000_000_000_000;

/// The files of a folder, by their names; none where there is no such folder.
fn files(place: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(place).into_iter().flatten().map(Result::unwrap);
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect()
}

/// The seeds of a fuzzer.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let found = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target));
    assert!(!found.is_empty());
    found
}

/// All seeds of traces: those of the fuzzers, and those in the folders of decoders.
fn traces() -> Vec<(String, Vec<u8>)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folders = fs::read_dir(source).unwrap().map(|folder| folder.unwrap().path().join("seeds"));
    let others = folders.flat_map(|folder| files(&folder));
    [seeds("text"), seeds("capture")].concat().into_iter().chain(others).collect()
}

/// Reads bytes to their end; what was counted, and whether most was later than the clock.
fn read(format: &'static Format, bytes: &[u8], clock: Option<i64>) -> Option<(TraceCounts, bool)> {
    let mut trace = Trace::decode(format, Box::new(Cursor::new(bytes.to_vec())));
    if let Some(clock) = clock {
        trace.judge_by(clock);
    }
    loop {
        match trace.next_chunk() {
            Ok(Some(_)) => {}
            Ok(None) => return Some((trace.counts(), false)),
            Err(TraceError::AfterClock { .. }) => return Some((trace.counts(), true)),
            Err(_) => return None,
        }
    }
}

#[test]
fn every_record_of_every_seed_is_accounted_for_in_every_format_with_a_clock_and_without() {
    for (name, bytes) in traces() {
        for format in FORMATS {
            for clock in [None, Some(CLOCK), Some(0), Some(i64::MAX), Some(i64::MIN)] {
                let Some((counts, late)) = read(format, &bytes, clock) else {
                    continue;
                };
                assert_eq!(counts.read.records, counts.accounted_for(), "{name}");
                let latest = clock.map_or(i64::MAX, |clock| clock.saturating_add(AHEAD));
                let (first, last) = counts.joined.period.unwrap_or((0, i64::MIN));
                assert!(first >= 0 && last <= latest, "{name}: {first} to {last}");
                let expected =
                    clock == Some(CLOCK) && name.contains("all-late") && (format.begins)(&bytes);
                assert!(late || !expected, "{name}");
            }
        }
    }
}

#[test]
fn one_wrong_time_costs_its_record_and_no_other() {
    for edge in [0_u64, 1, 2_147_483_647, 2_147_483_648, 4_294_967_295] {
        for (format, place) in [
            (&text::FORMAT, format!("text/time-{edge}")),
            (&capture::FORMAT, format!("capture/time-{edge}.pcap")),
        ] {
            let (target, name) = place.split_once('/').unwrap();
            let Some((_, bytes)) = seeds(target).into_iter().find(|(each, _)| each == name) else {
                continue;
            };
            let (counts, _) = read(format, &bytes, Some(CLOCK)).unwrap();
            let wrong = if target == "text" { 2 } else { 1 }; // a call and its reply, a call
            assert_eq!(counts.damaged.values().sum::<u64>(), wrong, "{place}");
            assert_eq!(counts.joined.procedures.iter().map(|tally| tally.calls).sum::<u64>(), 24);
        }
    }
}

/// A line for each create: its time and the file's name.
static CREATES: Format = Format {
    word: "creates",
    name: "a list of creates",
    first: 8,
    begins: |first| first.starts_with(b"creates\n"),
    decoder: || Box::<Creates>::default(),
};

#[derive(Default)]
struct Creates {
    read: Lines,
    late: u64,
    clock: Option<i64>,
}

impl Decoder for Creates {
    fn step(&mut self, input: &mut Input, joiner: &mut Joiner) -> Result<bool, DecodeError> {
        let Some(end) = input.peek(1 << 10).iter().position(|byte| *byte == b'\n') else {
            return Ok(false);
        };
        let line = input.peek(1)[..end].to_vec();
        let offset = input.position();
        input.consume(end + 1);
        self.read.lines += 1;
        if offset == 0 {
            self.read.comments += 1;
            return Ok(true);
        }
        let text = std::str::from_utf8(&line)?;
        let (time, name) = text.split_once(' ').ok_or("expected a time and a name")?;
        let time = time.parse()?;
        if self.clock.is_some_and(|clock| time > clock) {
            self.late += 1;
            joiner.quarantine.set_aside(offset, None, "after-clock", "an earlier time", &line);
            return Ok(true);
        }
        let end = |host, port| Endpoint { host, port };
        let (client, server) = (joiner.hosts.intern("1"), joiner.hosts.intern("2"));
        let key = CallKey { client: end(client, 1), server: end(server, 2049), xid: offset as u32 };
        let envelope = Envelope { time, key, transport: Transport::Tcp };
        let mut fields = Fields::default();
        fields.text(Column::Name, name.as_bytes());
        joiner.call(envelope, Procedure::Nfs(Op::Create, 3), false, &mut fields);
        Ok(true)
    }

    fn judge_by(&mut self, clock: i64) {
        self.clock = Some(clock);
    }

    fn judged(&self) -> (u64, u64) {
        (self.late, self.read.lines - self.read.comments - self.late)
    }

    fn counts(&self) -> DecoderCounts {
        let details = vec![("late", self.late)];
        let (records, lines) = (self.read.lines, Some(self.read));
        DecoderCounts { records, lines, details, ..DecoderCounts::default() }
    }
}

/// Opens bytes as a trace of any of these formats.
fn open(formats: &[&'static Format], bytes: &'static [u8]) -> Result<Trace, TraceError> {
    Trace::with(formats, Compression::None, Input::new(Box::new(bytes)))
}

#[test]
fn a_format_in_the_table_is_recognized_read_judged_and_counted() {
    let formats = [FORMATS, &[&CREATES]].concat();
    let mut trace = open(&formats, b"creates\n1 inbox.lock\n9 late\n2 thesis.tex\n").unwrap();
    assert_eq!(trace.format.word, "creates");
    trace.judge_by(5);
    let chunk = trace.next_chunk().unwrap().unwrap();
    let names = chunk.operations[0].column_by_name("name").unwrap().as_binary::<i32>().clone();
    assert_eq!(names.iter().flatten().collect::<Vec<_>>(), [&b"inbox.lock"[..], b"thesis.tex"]);
    assert_eq!(chunk.damaged[0].bytes, b"9 late");
    assert!(trace.next_chunk().unwrap().is_none());
    let counts = trace.counts();
    assert_eq!(counts.read.details, [("late", 1)]);
    assert_eq!((counts.read.records, counts.accounted_for()), (4, 4));
}

#[test]
fn undecodable_traces_and_traces_of_the_future_are_errors() {
    let error = |bytes| {
        let mut trace = open(&[&CREATES], bytes).unwrap();
        trace.judge_by(5);
        std::iter::repeat_with(|| trace.next_chunk()).find_map(Result::err).unwrap().to_string()
    };
    assert_eq!(error(b"creates\nlock\n"), "expected a time and a name");
    assert!(error(b"creates\n8 a\n9 b\n1 c\n").starts_with("2 of 3 records have times later"));
}

#[test]
fn each_format_is_recognized_among_all_others_in_any_order() {
    let mut formats = [FORMATS, &[&CREATES]].concat();
    for _ in 0..formats.len() {
        formats.rotate_left(1);
        let word = |bytes| open(&formats, bytes).map(|trace| trace.format.word).ok();
        assert_eq!(word(b"creates\n"), Some("creates"));
        assert_eq!(word(b"#creates\n"), Some("nfsdump"));
        assert_eq!(word(b"\xa1\xb2\xc3\xd4"), Some("capture"));
        assert_eq!(word(b"create"), None);
    }
}

#[test]
fn errors_name_every_format_that_is_expected() {
    let all = [&text::FORMAT, &capture::FORMAT, &CREATES];
    let expected = [
        "nfsdump text",
        "nfsdump text or a packet capture (pcap, pcapng, snoop or ERF)",
        "nfsdump text, a packet capture (pcap, pcapng, snoop or ERF) or a list of creates",
    ];
    for (last, names) in expected.iter().enumerate() {
        assert_eq!(decoder::names(&all[..=last]), *names);
    }
    let message = TraceError::Unrecognized("GIF89".to_owned()).to_string();
    let expected = decoder::names(FORMATS);
    assert!(FORMATS.iter().all(|format| expected.contains(format.name)));
    assert_eq!(message, format!("is no trace: it begins with GIF89; expected {expected}"));
}
