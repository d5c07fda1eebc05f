//! Writes captures from the operations table: packets that any decoder of NFS version 3 reads.
//!
//! | layer | files |
//! | --- | --- |
//! | the table | [`crate::rows`] |
//! | NFS and RPC | [`super::nfs3`], [`rpc`], [`encoder`], [`words`] |
//! | order, conversations, packets | [`queue`], [`conversations`], [`packet`], [`addresses`] |
//! | capture file | [`pcap`] |
//!
//! A row becomes a call at its time and a reply at its reply's time. Values missing in the table
//! are zero: the data of files, sequence numbers before the first, verifiers of text traces.
//! Retransmissions follow the first message at once, since the table does not have their times. The
//! message of a cut row ends, as captured, after its last known value.

pub mod addresses;
pub mod conversations;
pub mod encoder;
pub mod packet;
pub mod pcap;
pub mod queue;
pub mod rpc;
#[cfg(test)]
mod tests;
pub mod words;

use crate::message::{Transport, TRANSPORTS};
use crate::rows::{Row, Rows};
use crate::schema::{Column, Op};
use addresses::Addresses;
use arrow_array::RecordBatch;
use birthmark_columns::ColumnError;
use conversations::{Conversations, Flow};
use queue::{Queue, Sent};

use rpc::Message;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::SocketAddrV4;

/// The most data written for one read or write: more than any server transfers at once, …
const MOST_DATA: usize = 4 << 20;

/// … and the most that fits into a datagram after the headers.
const MOST_DATAGRAM_DATA: usize = 63 << 10;

/// The most retransmissions of a message: no client retries that often within a minute.
const MOST_AGAIN: u64 = 100;

/// The version of NFS that is written.
const VERSION: u64 = 3;

/// The last of its procedures.
const LAST_PROCEDURE: Op = Op::Commit;

/// Why a capture could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file cannot be written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The batch is not of the operations table.
    #[error("{0}")]
    Rows(#[from] ColumnError),
}

/// Counts of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Packets, those that open conversations included.
    pub packets: u64,
    /// Call messages, retransmissions included.
    pub calls: u64,
    /// Reply messages, second ones included.
    pub replies: u64,
    /// Rows without output, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
}

/// Writes operations as a pcap file.
pub struct CaptureWriter<W: Write> {
    /// Whether the capture omits file data, but has their lengths.
    cut_data: bool,
    conversations: Conversations<W>,
    addresses: Addresses,
    queue: Queue,
    written: Written,
}

impl<W: Write> CaptureWriter<W> {
    /// A capture without packets.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn new(to: W, cut_data: bool) -> io::Result<CaptureWriter<W>> {
        Ok(CaptureWriter {
            cut_data,
            conversations: Conversations::new(to)?,
            addresses: Addresses::default(),
            queue: Queue::default(),
            written: Written::default(),
        })
    }

    /// Takes rows of the operations table, in about the order of their replies.
    ///
    /// # Errors
    ///
    /// If they are not of that table, or the file cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        for row in Rows::new(batch)?.iter() {
            self.row(row);
            self.send(false)?;
        }
        Ok(())
    }

    /// Ends the capture.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<(W, Written), WriteError> {
        self.send(true)?;
        let packets = self.conversations.packets;
        Ok((self.conversations.finish()?, Written { packets, ..self.written }))
    }

    fn row(&mut self, row: Row) {
        let version = row.number(Column::Version).unwrap_or_default();
        let written = match row.op() {
            Some(op)
                if op == Op::Null || version == VERSION && op as u8 <= LAST_PROCEDURE as u8 =>
            {
                self.operation(row, op)
            }
            _ if version == VERSION => Err("a procedure that version 3 does not have"),
            _ => Err("another version than 3"),
        };
        if let Err(reason) = written {
            *self.written.skipped.entry(reason).or_default() += 1;
        }
    }

    /// Queues an operation's messages, or returns the reason for leaving it out.
    fn operation(&mut self, row: Row, op: Op) -> Result<(), &'static str> {
        let flow = self.flow(row);
        let most_data = match flow.transport {
            Transport::Tcp => MOST_DATA,
            Transport::Udp => MOST_DATAGRAM_DATA,
        };
        let (call, reply) = rpc::messages(row, op, most_data);
        let longest = flow.longest();
        if [Some(&call), reply.as_ref()].iter().flatten().any(|each| each.length() > longest) {
            return Err("a message longer than its transport carries");
        }
        let again = row.number(Column::Retransmits).unwrap_or_default();
        self.written.calls += self.push(row, Column::Time, flow, call, again);
        if let Some(reply) = reply {
            let again = row.number(Column::DuplicateReplies).unwrap_or_default();
            let back = Flow { call: false, ..flow };
            self.written.replies += self.push(row, Column::ReplyTime, back, reply, again);
        }
        Ok(())
    }

    /// Queues a message, and `again` retransmissions of it.
    fn push(&mut self, row: Row, time: Column, flow: Flow, message: Message, again: u64) -> u64 {
        let time = row.number(time).unwrap_or_default() as i64;
        let Message { bytes, zeros, captured } = message;
        let again = again.min(MOST_AGAIN);
        let captured = if self.cut_data { captured.min(bytes.len()) } else { captured };
        for _ in 0..again {
            let message = Message { bytes: bytes.clone(), zeros, captured };
            self.queue.push(Sent { time, flow, message });
        }
        self.queue.push(Sent { time, flow, message: Message { bytes, zeros, captured } });
        again + 1
    }

    fn flow(&mut self, row: Row) -> Flow {
        let mut end = |host, port| {
            let port = row.number(port).unwrap_or_default() as u16;
            SocketAddrV4::new(self.addresses.of(row.word(host)), port)
        };
        let (client, server) =
            (end(Column::Client, Column::ClientPort), end(Column::Server, Column::ServerPort));
        let udp = row.word(Column::Transport) == TRANSPORTS[Transport::Udp as usize];
        let transport = if udp { Transport::Udp } else { Transport::Tcp };
        Flow { client, server, transport, call: true }
    }

    fn send(&mut self, all: bool) -> io::Result<()> {
        while let Some(sent) = self.queue.pop(all) {
            self.conversations.send(&sent)?;
        }
        Ok(())
    }
}
