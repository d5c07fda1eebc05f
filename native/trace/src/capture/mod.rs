//! Packet captures of NFS traffic: pcap, pcapng, snoop and ERF files, down to calls and replies.
//!
//! Each layer has a file of its own, and hands what it finds to the next:
//!
//! | layer | files |
//! | --- | --- |
//! | capture file | [`file`]; [`packets`], [`pcap`], [`snoop`], [`erf`]; [`pcapng`], [`interface`] |
//! | link and IP | [`link`], [`ethertype`], [`ppp`]; [`ip`], [`fragments`] |
//! | tunnels | [`tunnel`], [`gre`], which lead to link and IP again |
//! | transport | [`network`], [`flows`], [`stream`], [`receiver`] |
//! | RPC | [`records`], [`record`], [`boundary`], [`header`], [`messages`], [`rpc`], [`gss`], [`xdr`] |
//! | unreadable traffic | [`opaque`], [`rdma`], [`unread`] |
//! | NFS | [`nfs2`], [`nfs3`], [`codec`]; [`nfs4`] |
//!
//! Lost data costs only the messages that it touches. A packet that was cut keeps its length, so a
//! stream consists of bytes and of holes of known length. A message is read as far as it is
//! present. If a hole swallowed the beginning of a message, the next beginning is searched for.
//!
//! [`write`] goes the other way, from operations to a capture file.

pub mod boundary;
pub mod codec;
pub mod counts;
pub mod erf;
pub mod error;
pub mod ethertype;
pub mod file;
pub mod flows;
pub mod fragments;
pub mod gre;
pub mod gss;
pub mod header;
pub mod interface;
pub mod ip;
pub mod link;
pub mod messages;
pub mod network;
pub mod nfs2;
pub mod nfs3;
pub mod nfs4;
pub mod opaque;
mod order;
pub mod packets;
pub mod pcap;
pub mod pcapng;
pub mod ppp;
pub mod rdma;
pub mod receiver;
pub mod record;
pub mod records;
pub mod rpc;
pub mod snoop;
pub mod statistics;
pub mod stream;
#[cfg(test)]
mod tests;
pub mod tunnel;
pub mod unread;
pub mod write;
pub mod xdr;

pub use error::CaptureError;

use crate::budget::Budget;
use crate::decoder::{DecodeError, Decoder, DecoderCounts, Format};
use crate::input::Input;
use crate::instants::{Instants, Odd, Verdict};
use crate::join::Joiner;
use file::{File, Frame, SideOutputs};
use messages::Origin;
use network::{Captured, Network};
use statistics::Statistics;

/// All kinds of capture file.
pub static FORMAT: Format = Format {
    word: "capture",
    name: "a packet capture (pcap, pcapng, snoop or ERF)",
    first: file::LOOKAHEAD,
    begins: File::begins,
    decoder: || Box::<CaptureDecoder>::default(),
};

/// The packets of one step.
const PACKETS: usize = 1000;

/// Reads a capture, and hands its calls and replies to a [`Joiner`].
#[derive(Default)]
struct CaptureDecoder {
    file: Option<File>,
    /// The drop counts of the earlier file.
    statistics: Statistics,
    network: Network,
    instants: Instants<PendingPacket>,
    ended: bool,
}

/// A packet that is pending until its time is judged.
#[derive(Debug)]
struct PendingPacket {
    frame: Frame,
    bytes: Vec<u8>,
    offset: u64,
}

impl Decoder for CaptureDecoder {
    /// Reads at most a thousand packets. For a live capture it reads the present ones and waits for
    /// one more, so that packets are handed on however steadily they come.
    ///
    /// # Errors
    ///
    /// If the input is not a capture, or has no readable packet ([`CaptureError`]).
    fn step(&mut self, input: &mut Input, joiner: &mut Joiner) -> Result<bool, DecodeError> {
        if self.ended {
            return Ok(false);
        }
        let before = input.reads();
        for _ in 0..PACKETS {
            if input.live && (input.reads() != before || joiner.batches.is_full()) {
                break;
            }
            let file = match &mut self.file {
                Some(file) => file,
                None => {
                    let file = self.file.insert(File::open(input)?);
                    *file.statistics() = std::mem::take(&mut self.statistics);
                    file
                }
            };
            let before = joiner.quarantine.total();
            let (quarantine, unread) = (&mut joiner.quarantine, &mut self.network.counts.unread);
            let next = file.next(input, &mut SideOutputs { quarantine, unread });
            self.network.counts.damaged_stretches += joiner.quarantine.total() - before;
            for (span, packets) in file.statistics().take() {
                joiner.dropped(span, packets);
                self.network.counts.dropped += packets;
            }
            let Some(frame) = next else {
                self.ended = !input.is_idle();
                if self.ended {
                    file.check()?;
                }
                return Ok(!self.ended);
            };
            let offset = input.position();
            let bytes = &input.peek(frame.size)[frame.start..frame.start + frame.captured];
            match self.instants.judge(frame.time) {
                Verdict::Plausible => self.take(&frame, bytes, offset, joiner),
                Verdict::Odd(odd) => self.set_aside(bytes, offset, odd, joiner),
                Verdict::Pending => {
                    let pending = PendingPacket { frame, bytes: bytes.to_vec(), offset };
                    self.instants.hold(frame.time, pending);
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
        if let Some(file) = &mut self.file {
            self.statistics = std::mem::take(file.statistics());
        }
        (self.file, self.ended) = (None, false);
    }

    fn limit(&mut self, budget: Budget) {
        self.network.limit(budget);
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
        self.network.counts.decoder_counts()
    }
}

impl CaptureDecoder {
    #[inline]
    fn take(&mut self, frame: &Frame, bytes: &[u8], offset: u64, joiner: &mut Joiner) {
        let origin = Origin { time: frame.time, offset };
        let packet = Captured { link: frame.link, bytes, length: frame.length, origin };
        self.network.packet(&packet, joiner);
    }

    /// Hands on, or sets aside, packets whose times are judged now.
    fn settle(&mut self, ended: bool, joiner: &mut Joiner) {
        while let Some((PendingPacket { frame, bytes, offset }, odd)) = self.instants.settled(ended)
        {
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
