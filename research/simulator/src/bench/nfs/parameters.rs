//! Parameters of the two machines and the network between them.

use crate::bench::setup::{need, SetupError, LONGEST, TIME};
use birthmark_storage::readahead::{Choice, TableRules};
use serde::Deserialize;

/// Client, network and server. Times are in nanoseconds; drawn times are given by their mean.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Nfs {
    /// Bytes of a call.
    pub call_bytes: u64,
    /// The transport.
    pub transport: Transport,
    /// Threads of the client that read ahead (`nfsiod`); 0 disables reading ahead.
    pub iods: usize,
    /// Wake-up time of such a thread, drawn.
    pub iod_delay: u64,
    /// Wake-up time of a process of the client, drawn.
    pub reader_delay: u64,
    /// The client's processor time to send a call.
    pub client_send: u64,
    /// The client's processor time to receive an answer.
    pub client_receive: u64,
    /// The client's processor time to copy a block for a process.
    pub client_copy: u64,
    /// Other processes of the client, which never wait.
    pub client_busy: u64,
    /// Delay from one machine to the other.
    pub latency: u64,
    /// Time of an answer on the wire.
    pub wire: u64,
    /// Threads of the server (`nfsd`).
    pub nfsds: usize,
    /// The server's processor time to receive a call.
    pub server_receive: u64,
    /// The server's processor time to copy a block and answer.
    pub server_answer: u64,
    /// The server's heuristic for sequential reads.
    pub heuristic: Choice,
    /// Its table of files; none: all files are remembered.
    pub table: Option<TableRules>,
    /// Windows for reordering calls, to measure whether that restores the sequence.
    pub windows: Vec<u64>,
}

/// Transport of calls.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Datagrams, with a window of unanswered calls that begins half open.
    Udp {
        /// Calls (`NFS_MAXCWND`).
        window: usize,
    },
    /// In one stream.
    Tcp,
}

impl Nfs {
    /// Check that machines with these blocks are possible.
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
