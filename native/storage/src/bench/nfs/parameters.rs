//! What the two machines and the network between them are.

use crate::bench::setup::{need, SetupError, LONGEST, TIME};
use crate::readahead::{Choice, TableRules};
use serde::Deserialize;

/// Client, network and server. Times are in nanoseconds; one said to be drawn is a mean.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Nfs {
    /// Bytes of a call.
    pub call_bytes: u64,
    /// The transport.
    pub transport: Transport,
    /// Threads of the client that read ahead (`nfsiod`); none: nothing is.
    pub iods: usize,
    /// From when such a thread is woken until it runs, drawn.
    pub iod_delay: u64,
    /// From when a process of the client is woken until it runs, drawn.
    pub reader_delay: u64,
    /// The client's processor, to send a call.
    pub client_send: u64,
    /// The client's processor, to take an answer.
    pub client_receive: u64,
    /// The client's processor, to copy a block for a process.
    pub client_copy: u64,
    /// Other processes of the client, which never wait.
    pub client_busy: u64,
    /// From one machine to the other.
    pub latency: u64,
    /// The wire, for an answer.
    pub wire: u64,
    /// Threads of the server (`nfsd`).
    pub nfsds: usize,
    /// The server's processor, to take a call.
    pub server_receive: u64,
    /// The server's processor, to copy a block and answer.
    pub server_answer: u64,
    /// How the server notices that files are read sequentially.
    pub heuristic: Choice,
    /// Its table of files; none: nothing is forgotten.
    pub table: Option<TableRules>,
    /// Windows in which calls are put in order, to tell whether that finds the sequence.
    pub windows: Vec<u64>,
}

/// How calls reach the server.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// One by one, so many unanswered at most, at first half as many.
    Udp {
        /// Calls (`NFS_MAXCWND`).
        window: usize,
    },
    /// In one stream.
    Tcp,
}

impl Nfs {
    /// Whether machines can be so, with blocks of so many bytes.
    pub fn check(&self, block: u64) -> Result<(), SetupError> {
        let call = self.call_bytes >= 512 && block.is_multiple_of(self.call_bytes);
        need(call, "nfs.call_bytes", "a block, or a part of one that is no less than 512")?;
        let times = [
            self.iod_delay,
            self.reader_delay,
            self.client_send,
            self.client_receive,
            self.client_copy,
            self.latency,
            self.wire,
            self.server_receive,
            self.server_answer,
        ];
        need(times.iter().all(|time| *time <= LONGEST), "nfs: times", TIME)?;
        need(self.client_busy <= 64, "nfs.client_busy", "0 to 64")?;
        let entries = self.table.map_or(1, |table| table.entries);
        need((1..=1 << 20).contains(&entries), "nfs.table.entries", "1 to 1048576")?;
        need((1..=4096).contains(&self.nfsds), "nfs.nfsds", "1 to 4096")?;
        need(self.iods <= 4096, "nfs.iods", "0 to 4096")?;
        let window = !matches!(self.transport, Transport::Udp { window: 0 });
        need(window, "nfs.transport.udp.window", "1 or more")
    }
}
