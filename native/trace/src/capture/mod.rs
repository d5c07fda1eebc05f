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
//! | NFS | [`nfs2`], [`nfs3`], [`codec`]; [`nfs4`] |
//!
//! What a capture lost costs the messages that it touches and no others. A packet that was cut
//! keeps its length, so that a stream is bytes and holes of known length; a message is read as
//! far as it is there; and where a hole swallowed the beginning of a message, the next beginning
//! is searched for.
//!
//! [`write`] goes the other way, from operations to a capture file.

pub mod boundary;
pub mod codec;
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
pub mod statistics;
pub mod stream;
#[cfg(test)]
mod tests;
pub mod write;
pub mod xdr;

pub use error::CaptureError;

use crate::decoder::{DecodeError, Decoder, DecoderCounts, Format};
use crate::input::Input;
use crate::instants::{Instants, Odd, Verdict};
use crate::join::Joiner;
use file::{File, Frame};
use messages::Origin;
use network::{Captured, Network};
use statistics::Statistics;

/// pcap and pcapng.
pub static FORMAT: Format = Format {
    word: "capture",
    name: "a packet capture (pcap or pcapng)",
    first: 4,
    begins: |first| pcap::Pcap::begins(first) || pcapng::Pcapng::begins(first),
    decoder: || Box::<CaptureDecoder>::default(),
};

/// The packets of one step.
const PACKETS: usize = 1000;

/// Reads a capture, and hands its calls and replies to a [`Joiner`].
#[derive(Default)]
struct CaptureDecoder {
    file: Option<File>,
    /// What the file before told of packets that were dropped.
    statistics: Statistics,
    network: Network,
    instants: Instants<Doubted>,
    ended: bool,
}

/// A packet that waits until its time is judged.
#[derive(Debug)]
struct Doubted {
    frame: Frame,
    bytes: Vec<u8>,
    offset: u64,
}

impl Decoder for CaptureDecoder {
    /// Reads at most a thousand packets; of a live capture those that are there, and one that is
    /// waited for: however steadily they come, what came is handed on.
    ///
    /// # Errors
    ///
    /// If the input is no capture, or one of a link type that cannot be read ([`CaptureError`]).
    fn step(&mut self, input: &mut Input, joiner: &mut Joiner) -> Result<bool, DecodeError> {
        if self.ended {
            return Ok(false);
        }
        let before = input.reads();
        for _ in 0..PACKETS {
            if input.live && input.reads() != before {
                break;
            }
            let file = match &mut self.file {
                Some(file) => file,
                None => {
                    let file = self.file.insert(File::open(input)?);
                    if let Some(told) = file.statistics() {
                        *told = std::mem::take(&mut self.statistics);
                    }
                    file
                }
            };
            let before = joiner.quarantine.total();
            let next = file.next(input, &mut joiner.quarantine);
            self.network.counts.damaged_stretches += joiner.quarantine.total() - before;
            for (span, packets) in file.statistics().map(Statistics::take).into_iter().flatten() {
                joiner.dropped(span, packets);
                self.network.counts.dropped += packets;
            }
            let Some(frame) = next? else {
                self.ended = !input.is_idle();
                return Ok(!self.ended);
            };
            let offset = input.position();
            let bytes = &input.peek(frame.size)[frame.start..frame.start + frame.captured];
            match self.instants.judge(frame.time) {
                Verdict::Plausible => self.take(&frame, bytes, offset, joiner),
                Verdict::Odd(odd) => self.set_aside(bytes, offset, odd, joiner),
                Verdict::Doubted => {
                    let doubted = Doubted { frame, bytes: bytes.to_vec(), offset };
                    self.instants.hold(frame.time, doubted);
                    self.settle(false, joiner);
                }
            }
            input.consume(frame.size);
        }
        Ok(true)
    }

    fn end(&mut self, joiner: &mut Joiner) {
        self.settle(true, joiner);
        self.network.end(joiner);
    }

    fn go_on(&mut self) {
        if let Some(told) = self.file.as_mut().and_then(File::statistics) {
            self.statistics = std::mem::take(told);
        }
        (self.file, self.ended) = (None, false);
    }

    fn judge_by(&mut self, clock: i64) {
        self.instants.judge_by(clock);
    }

    fn judged(&self) -> (u64, u64) {
        self.instants.judged()
    }

    fn counts(&self) -> DecoderCounts {
        self.network.counts.told()
    }
}

impl CaptureDecoder {
    #[inline]
    fn take(&mut self, frame: &Frame, bytes: &[u8], offset: u64, joiner: &mut Joiner) {
        let origin = Origin { time: frame.time, offset };
        let packet = Captured { link: frame.link, bytes, length: frame.length, origin };
        self.network.packet(&packet, joiner);
    }

    /// Hands on, or sets aside, the packets that waited until their times were judged.
    fn settle(&mut self, ended: bool, joiner: &mut Joiner) {
        while let Some((Doubted { frame, bytes, offset }, odd)) = self.instants.settled(ended) {
            match odd {
                None => self.take(&frame, &bytes, offset, joiner),
                Some(odd) => self.set_aside(&bytes, offset, odd, joiner),
            }
        }
    }

    fn set_aside(&mut self, bytes: &[u8], offset: u64, odd: Odd, joiner: &mut Joiner) {
        self.network.counts.damaged_stretches += 1;
        joiner.quarantine.set_aside(offset, None, odd.0, odd.1, bytes);
    }
}
