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

/// A call that has come, or is waiting to come, and is not answered.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The call.
    pub call: Call,
    /// Which of all calls it is.
    pub number: u64,
    /// What of others may wait for it.
    pub node: usize,
    /// When it came.
    pub came: u64,
    /// When what it is waiting for, or doing, began.
    pub since: u64,
    /// Requests to disks that it waits for.
    pub awaited: u32,
    /// Where its time went.
    pub parts: Parts,
    /// Bytes that were read or written on disks for it before it was answered.
    pub disk_bytes: u64,
}

impl Flight {
    /// A call that has not come yet.
    pub fn new(call: Call, number: u64) -> Self {
        let (parts, node) = (Parts::default(), usize::MAX);
        Self { call, number, node, came: 0, since: 0, awaited: 0, parts, disk_bytes: 0 }
    }

    /// Whether it needs the lock of its file, and whether alone.
    pub fn lock(&self) -> Option<bool> {
        match self.call.class {
            Class::Read => Some(false),
            Class::Write | Class::Commit => Some(true),
            _ => None,
        }
    }
}
