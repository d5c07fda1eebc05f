//! Hand-made captures for tests: messages, packets around them, files around those.

use crate::capture::counts::CaptureCounts;
pub use crate::capture::write::words::Words;
use crate::capture::{CaptureDecoder, CaptureError};
use crate::decoder::Decoder;
use crate::input::Input;
use crate::join::Joiner;
use crate::schema::Op;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};

impl Words {
    /// A number of 64 bits.
    pub fn long(mut self, number: u64) -> Words {
        self.put_long(number);
        self
    }

    /// Bytes as they are.
    pub fn raw(mut self, bytes: &[u8]) -> Words {
        self.0.extend_from_slice(bytes);
        self
    }
}

/// A call of NFS without credentials.
pub fn call(xid: u32, version: u32, procedure: u32, arguments: Words) -> Vec<u8> {
    Words::of(&[xid, 0, 2, 100_003, version, procedure, 0, 0, 0, 0]).raw(&arguments.0).0
}

/// The reply to a call that was carried out.
pub fn reply(xid: u32, results: Words) -> Vec<u8> {
    Words::of(&[xid, 1, 0, 0, 0, 0]).raw(&results.0).0
}

/// A compound of version 4 without a tag, of operations that begin with their numbers.
pub fn compound(xid: u32, minor: u32, operations: &[Words]) -> Vec<u8> {
    let head = Words::of(&[0, minor, operations.len() as u32]);
    call(xid, 4, 1, operations.iter().fold(head, |words, each| words.raw(&each.0)))
}

/// The reply to a compound: its status, and results that begin with number and status.
pub fn compound_reply(xid: u32, status: u32, results: &[Words]) -> Vec<u8> {
    let head = Words::of(&[status, 0, results.len() as u32]);
    reply(xid, results.iter().fold(head, |words, each| words.raw(&each.0)))
}

/// A lookup of version 3.
pub fn lookup(xid: u32, name: &[u8]) -> Vec<u8> {
    call(xid, 3, 3, Words::default().opaque(b"directory").opaque(name))
}

/// A lookup's reply: no such file, and no attributes.
pub fn not_found(xid: u32) -> Vec<u8> {
    reply(xid, Words::of(&[2, 0]))
}

/// A write of version 3, of zeros.
pub fn write(xid: u32, length: u32) -> Vec<u8> {
    let arguments = Words::default().opaque(b"file").long(0).words(&[length, 0]);
    call(xid, 3, 7, arguments.opaque(&vec![0; length as usize]))
}

/// A message as a record of one fragment.
pub fn marked(message: &[u8]) -> Vec<u8> {
    Words::of(&[0x8000_0000 | message.len() as u32]).raw(message).0
}

/// Who sends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// 10.0.0.1, port 700.
    Client,
    /// 10.0.0.2, port 2049.
    Server,
}

fn ports(side: Side) -> Vec<u8> {
    let (client, server) = (700_u16.to_be_bytes(), 2049_u16.to_be_bytes());
    match side {
        Side::Client => [client, server].concat(),
        Side::Server => [server, client].concat(),
    }
}

/// A UDP datagram.
pub fn udp(side: Side, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u16 + 8).to_be_bytes();
    [&ports(side)[..], &length, &[0, 0], body].concat()
}

/// Reads messages, one per UDP datagram.
pub fn datagrams(messages: &[(Side, Vec<u8>)]) -> Seen {
    let frames: Vec<_> = messages
        .iter()
        .map(|(side, message)| ethernet(&ipv4(*side, 17, 0, &udp(*side, message))))
        .collect();
    File::holding(&frames).read()
}

/// A TCP segment.
pub fn tcp(side: Side, sequence: u32, flags: u8, body: &[u8]) -> Vec<u8> {
    let header = [0, 0, 0, 0, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0];
    [&ports(side)[..], &sequence.to_be_bytes(), &header, body].concat()
}

/// A TCP segment with the acknowledgement flag, in its packet and frame.
pub fn segment(side: Side, sequence: u32, body: &[u8]) -> Vec<u8> {
    ethernet(&ipv4(side, 6, 0, &tcp(side, sequence, 16, body)))
}

/// An IP packet; `part` is the word of fragment flags and offset.
pub fn ipv4(side: Side, protocol: u8, part: u16, payload: &[u8]) -> Vec<u8> {
    let (length, part) = ((payload.len() as u16 + 20).to_be_bytes(), part.to_be_bytes());
    let (from, to) = if side == Side::Client { (1, 2) } else { (2, 1) };
    let header = [
        &[0x45, 0, length[0], length[1], 0, 9, part[0], part[1], 64, protocol, 0, 0][..],
        &[10, 0, 0, from, 10, 0, 0, to],
    ];
    [&header.concat()[..], payload].concat()
}

/// An Ethernet frame.
pub fn ethernet(packet: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &[8, 0], packet].concat()
}

/// A pcap file, little-endian, of Ethernet frames a millisecond apart.
pub struct File {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The time of the next packet, in milliseconds.
    pub now: u64,
}

impl File {
    /// A file of no packets.
    pub fn new() -> File {
        File::of_link(1)
    }

    /// A file of no packets of a link type.
    pub fn of_link(link: u32) -> File {
        let mut bytes = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend([65_535_u32.to_le_bytes(), link.to_le_bytes()].concat());
        File { bytes, now: 1_000_000_000_000 }
    }

    /// A file of these frames.
    pub fn holding(frames: &[Vec<u8>]) -> File {
        frames.iter().fold(File::new(), |file, frame| file.packet(frame))
    }

    /// One more packet.
    pub fn packet(self, frame: &[u8]) -> File {
        self.cut(frame, frame.len())
    }

    /// Adds a packet that the capture cut.
    pub fn cut(mut self, frame: &[u8], captured: usize) -> File {
        let (seconds, microseconds) = ((self.now / 1000) as u32, (self.now % 1000) as u32 * 1000);
        for word in [seconds, microseconds, captured as u32, frame.len() as u32] {
            self.bytes.extend(word.to_le_bytes());
        }
        self.bytes.extend(&frame[..captured]);
        self.now += 1;
        self
    }

    /// Reads it.
    pub fn read(&self) -> Seen {
        read(self.bytes.clone()).unwrap()
    }
}

/// The result of reading a capture.
pub struct Seen {
    /// The decoder's counts.
    pub counts: CaptureCounts,
    /// The joiner at the end.
    pub joiner: Joiner,
    /// The rows.
    pub rows: RecordBatch,
}

impl Seen {
    /// XID, status and whether short, of each row, in the order of XIDs.
    pub fn answers(&self) -> Vec<(u32, Option<u32>, bool)> {
        let (xids, statuses) = (self.numbers("xid"), self.numbers("status"));
        let short = self.rows.column_by_name("short").unwrap().as_boolean();
        let rows = (0..xids.len()).map(|row| (xids[row].unwrap(), statuses[row], short.value(row)));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_unstable();
        rows
    }

    /// A column of 32-bit numbers.
    pub fn numbers(&self, column: &str) -> Vec<Option<u32>> {
        let column = self.rows.column_by_name(column).unwrap();
        match column.as_primitive_opt::<UInt32Type>() {
            Some(numbers) => numbers.iter().collect(),
            None => vec![None; column.len()],
        }
    }

    /// A column of 64-bit numbers.
    pub fn longs(&self, column: &str) -> Vec<Option<u64>> {
        let column = self.rows.column_by_name(column).unwrap();
        column.as_primitive::<UInt64Type>().iter().collect()
    }

    /// The names that each row lists.
    pub fn listed(&self) -> Vec<Vec<String>> {
        let lists = self.rows.column_by_name("entries").unwrap().as_list::<i32>();
        let names = |entries: Option<ArrayRef>| match entries {
            Some(entries) => {
                let names = entries.as_struct().column(0).as_binary::<i32>().clone();
                let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
                names.iter().flatten().map(text).collect()
            }
            None => Vec::new(),
        };
        lists.iter().map(names).collect()
    }

    /// The handles that each row's layout names, with their mirrors; none where it holds no list.
    pub fn layouts(&self) -> Vec<Option<Vec<(String, u64)>>> {
        let lists = self.rows.column_by_name("entries").unwrap().as_list::<i32>();
        let handles = |entries: ArrayRef| {
            let entries = entries.as_struct();
            let handles = entries.column_by_name("fh").unwrap().as_binary::<i32>();
            let mirrors = entries.column_by_name("cookie").unwrap().as_primitive::<UInt64Type>();
            let text = |at| String::from_utf8_lossy(handles.value(at)).into_owned();
            (0..handles.len()).map(|at| (text(at), mirrors.value(at))).collect()
        };
        lists.iter().map(|entries| entries.map(handles)).collect()
    }

    /// A column of bytes.
    pub fn texts(&self, column: &str) -> Vec<Option<String>> {
        let column = self.rows.column_by_name(column).unwrap().as_binary::<i32>();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        column.iter().map(|bytes| bytes.map(text)).collect()
    }

    /// A column of words.
    pub fn words(&self, column: &str) -> Vec<&str> {
        let words = self.rows.column_by_name(column).unwrap().as_dictionary::<Int32Type>();
        let values = words.values().as_string::<i32>();
        words.keys().values().iter().map(|&key| values.value(key as usize)).collect()
    }

    /// The rows of one operation, by their numbers.
    pub fn rows_of(&self, op: Op) -> Vec<usize> {
        let words = self.words("op").into_iter().enumerate();
        words.filter(|(_, word)| *word == op.word()).map(|(row, _)| row).collect()
    }

    /// Calls and replies of an operation in compounds.
    pub fn operations(&self, op: Op) -> (u64, u64) {
        let tally = self.joiner.counts.operations[op as usize];
        (tally.calls, tally.replies)
    }

    /// Calls and replies of a procedure.
    pub fn tally(&self, op: Op) -> (u64, u64) {
        let tally = self.joiner.counts.procedures[op as usize];
        (tally.calls, tally.replies)
    }

    /// The reasons for unreadable traffic, with their packets or messages and bytes.
    pub fn unread(&self) -> Vec<(&'static str, u64, u64)> {
        self.counts.unread.reasons().collect()
    }

    /// The reasons of records set aside, with their counts.
    pub fn damage(&self) -> Vec<(&'static str, u64)> {
        self.joiner.quarantine.counts.iter().map(|(reason, count)| (*reason, *count)).collect()
    }
}

/// Reads a capture of whatever kind to its end, in one batch.
pub fn read(bytes: Vec<u8>) -> Result<Seen, CaptureError> {
    let mut input = Input::new(Box::new(std::io::Cursor::new(bytes)));
    let (mut joiner, mut decoder) = (Joiner::default(), CaptureDecoder::default());
    let mut step = |joiner: &mut Joiner| {
        decoder.step(&mut input, joiner).map_err(|error| *error.downcast::<CaptureError>().unwrap())
    };
    while step(&mut joiner)? {}
    assert!(!step(&mut joiner)?, "an ended decoder stays ended");
    decoder.end(&mut joiner);
    joiner.finish();
    let rows = joiner.batches.take(&joiner.hosts, true).map(Result::unwrap);
    let rows = rows.unwrap_or_else(|| RecordBatch::new_empty(crate::schema::operations()));
    Ok(Seen { counts: decoder.network.counts, joiner, rows })
}
