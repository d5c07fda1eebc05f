//! Packet captures of NFS traffic: pcap and pcapng files, down to calls and replies.
//!
//! Each layer has a file of its own, and hands what it finds to the next:
//!
//! | layer | files |
//! | --- | --- |
//! | capture file | [`file`], [`pcap`], [`pcapng`], [`interface`] |
//! | link and IP | [`link`], [`ip`], [`fragments`] |
//! | transport | [`network`], [`flows`], [`stream`], [`receiver`] |
//! | RPC | [`records`], [`record`], [`boundary`], [`messages`], [`rpc`], [`xdr`] |
//! | NFS | [`nfs2`], [`nfs3`], [`attributes`]; [`nfs4`] |
//!
//! What a capture lost costs the messages that it touches and no others. A packet that was cut
//! keeps its length, so that a stream is bytes and holes of known length; a message is read as
//! far as it is there; and where a hole swallowed the beginning of a message, the next beginning
//! is searched for.
//!
//! [`write`] goes the other way, from operations to a capture file.

pub mod attributes;
pub mod boundary;
pub mod counts;
pub mod error;
pub mod file;
pub mod flows;
pub mod fragments;
pub mod interface;
pub mod ip;
pub mod link;
pub mod messages;
pub mod network;
pub mod nfs2;
pub mod nfs3;
pub mod nfs4;
mod order;
pub mod pcap;
pub mod pcapng;
pub mod receiver;
pub mod record;
pub mod records;
pub mod rpc;
pub mod stream;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod write;
pub mod xdr;

pub use counts::CaptureCounts;
pub use error::CaptureError;

use crate::input::Input;
use crate::join::Joiner;
use file::File;
use messages::Origin;
use network::{Captured, Network};

/// The packets of one step.
const PACKETS: usize = 1000;

/// Whether a file that begins so is a capture.
pub fn is_capture(first_bytes: &[u8]) -> bool {
    pcap::Pcap::begins(first_bytes) || pcapng::Pcapng::begins(first_bytes)
}

/// Reads a capture, pcap or pcapng, and hands its calls and replies to a [`Joiner`].
#[derive(Default)]
pub struct CaptureDecoder {
    file: Option<File>,
    network: Network,
    ended: bool,
}

impl CaptureDecoder {
    /// A decoder for one capture.
    pub fn new() -> CaptureDecoder {
        CaptureDecoder::default()
    }

    /// Reads at most a thousand packets; false when the input has ended and all that waited for
    /// more has been handed on.
    ///
    /// # Errors
    ///
    /// If the input is no capture, or one of a link type that cannot be read.
    pub fn step(&mut self, input: &mut Input, joiner: &mut Joiner) -> Result<bool, CaptureError> {
        if self.ended {
            return Ok(false);
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(File::open(input)?),
        };
        for _ in 0..PACKETS {
            let before = joiner.quarantine.total();
            let next = file.next(input, &mut joiner.quarantine);
            self.network.counts.damaged_stretches += joiner.quarantine.total() - before;
            let Some(frame) = next? else {
                self.network.end(joiner);
                self.ended = true;
                return Ok(false);
            };
            let origin = Origin { time: frame.time, offset: input.position() };
            let bytes = &input.peek(frame.size)[frame.start..frame.start + frame.captured];
            let packet = Captured { link: frame.link, bytes, length: frame.length, origin };
            self.network.packet(&packet, joiner);
            input.consume(frame.size);
        }
        Ok(true)
    }

    /// What was seen so far.
    pub fn counts(&self) -> CaptureCounts {
        self.network.counts
    }
}
