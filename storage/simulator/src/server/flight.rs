//! A call on its way through the server.

use super::call::{Call, Class};
use super::measured::Parts;

/// Numbers of [`super::PARTS`].
pub mod part {
    /// Waiting for a thread.
    pub const THREAD: usize = 0;
    /// Waiting for a file's lock.
    pub const LOCK: usize = 1;
    /// Waiting for a processor.
    pub const PROCESSOR_QUEUE: usize = 2;
    /// On a processor.
    pub const PROCESSOR: usize = 3;
    /// Waiting for a disk.
    pub const DISK_QUEUE: usize = 4;
    /// The arm of a disk.
    pub const SEEK: usize = 5;
    /// The rotation of a disk.
    pub const ROTATION: usize = 6;
    /// The transfer from or to a disk.
    pub const TRANSFER: usize = 7;
    /// Waiting for room in the write buffer.
    pub const BUFFER: usize = 8;
    /// On the link, and waiting for it.
    pub const NETWORK: usize = 9;
    /// Waiting for calls that came before on its connection.
    pub const CONNECTION: usize = 10;
}

/// A call that has not been answered.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The call.
    pub call: Call,
    /// Its sequence number.
    pub number: u64,
    /// Its node in the issue model.
    pub node: usize,
    /// Its arrival.
    pub came: u64,
    /// Start of its current stage.
    pub since: u64,
    /// Disk requests that it waits for.
    pub awaited: u32,
    /// Where its time went.
    pub parts: Parts,
    /// Bytes that were read or written on disks for it before it was answered.
    pub disk_bytes: u64,
}

impl Flight {
    /// A call before its arrival.
    pub fn new(call: Call, number: u64) -> Self {
        let (parts, node) = (Parts::default(), usize::MAX);
        Self { call, number, node, came: 0, since: 0, awaited: 0, parts, disk_bytes: 0 }
    }

    /// Whether it needs the lock of its file, and whether exclusively.
    pub fn lock(&self) -> Option<bool> {
        match self.call.class {
            Class::Read => Some(false),
            Class::Write | Class::Commit => Some(true),
            _ => None,
        }
    }
}
