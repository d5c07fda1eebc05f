//! Recognizes RPC over RDMA (RFC 8166) in RoCEv2 packets, to name it; it is not read.

use super::header::word;
use super::rpc::{CALL, REPLY};
use hashbrown::HashSet;
use std::net::IpAddr;

/// The UDP port that RoCEv2 packets go to.
pub const PORT: u16 = 4791;

/// The base transport header of InfiniBand, which begins with an opcode, whose bits 5 to 7 are the
/// kind of transport.
const BASE: usize = 12;
const OPERATION: u8 = 0x1f;
/// Operations that begin a message for a receive buffer.
const SEND_FIRST: u8 = 0x00;
const SEND_ONLY: u8 = 0x04;
const SEND_ONLY_INVALIDATE: u8 = 0x17;
/// The header that follows then: the invalidated key.
const INVALIDATE: usize = 4;

/// The version of the transport header, and the message types with chunk lists.
const VERSION: u32 = 1;
const MSG: u32 = 0;
const NOMSG: u32 = 1;

/// Words of a read chunk after its discriminator, and of a segment of the other lists.
const READ_CHUNK: usize = 5;
const SEGMENT: usize = 4;

/// The most queue pairs remembered.
const PAIRS: usize = 65_536;

/// The destination queue pairs of RPC.
#[derive(Debug, Default)]
pub struct Rdma {
    pairs: HashSet<(IpAddr, u32)>,
}

impl Rdma {
    /// Whether a packet of RoCEv2 belongs to a connection that carries RPC.
    pub fn carries_rpc(&mut self, to: IpAddr, packet: &[u8]) -> bool {
        let (Some(&opcode), Some(pair)) = (packet.first(), word(packet, 4)) else {
            return false;
        };
        let pair = (to, pair & 0x00ff_ffff);
        let message = match opcode & OPERATION {
            SEND_FIRST | SEND_ONLY => packet.get(BASE..),
            SEND_ONLY_INVALIDATE => packet.get(BASE + INVALIDATE..),
            _ => None,
        };
        if message.is_some_and(is_rpc) && self.pairs.len() < PAIRS {
            self.pairs.insert(pair);
        }
        self.pairs.contains(&pair)
    }
}

/// Whether a transport header begins a message, followed by the RPC message of the same XID.
fn is_rpc(message: &[u8]) -> bool {
    let words: Vec<u32> = message.chunks_exact(4).filter_map(|part| word(part, 0)).collect();
    let [xid, VERSION, credits, kind @ (MSG | NOMSG), lists @ ..] = &words[..] else {
        return false;
    };
    let Some(rest) = behind_lists(lists) else {
        return false;
    };
    *credits > 0 && (*kind == NOMSG || matches!(rest, [same, CALL | REPLY, ..] if same == xid))
}

/// The words after the read list, the write list and the reply chunk.
fn behind_lists(mut words: &[u32]) -> Option<&[u32]> {
    while let [1, rest @ ..] = words {
        words = rest.get(READ_CHUNK..)?;
    }
    words = words.strip_prefix(&[0])?;
    while let [1, segments, rest @ ..] = words {
        words = rest.get(SEGMENT.checked_mul(*segments as usize)?..)?;
    }
    words = words.strip_prefix(&[0])?;
    match words {
        [0, rest @ ..] => Some(rest),
        [1, segments, rest @ ..] => rest.get(SEGMENT.checked_mul(*segments as usize)?..),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(opcode: u8, pair: u8, words: &[u32]) -> Vec<u8> {
        let base = [opcode, 0, 0xff, 0xff, 0, 0, 0, pair, 0, 0, 0, 7];
        base.into_iter().chain(words.iter().flat_map(|word| word.to_be_bytes())).collect()
    }

    #[test]
    fn a_connection_is_known_by_its_first_message() {
        let (host, mut rdma) = ([10, 0, 0, 2].into(), Rdma::default());
        let call = [9, 1, 32, MSG, 0, 0, 0, 9, CALL, 2, 100_003, 4, 1];
        let chunked = [9, 1, 32, MSG, 1, 8, 3, 4096, 0, 64, 0, 1, 1, 3, 4096, 0, 0, 0, 0, 9, CALL];
        let long = [9, 1, 32, NOMSG, 0, 0, 1, 1, 3, 4096, 0, 0];
        assert!(!rdma.carries_rpc(host, &packet(0x0d, 5, &[0, 1, 2])));
        for (pair, message) in [(5, &call[..]), (6, &chunked), (7, &long)] {
            assert!(rdma.carries_rpc(host, &packet(0x04, pair, message)), "queue pair {pair}");
            // its data travel in other packets
            assert!(rdma.carries_rpc(host, &packet(0x0d, pair, &[0, 1, 2])));
        }
        let invalidating = [&[77][..], &call].concat();
        assert!(rdma.carries_rpc(host, &packet(0x17, 8, &invalidating)));
        assert!(!rdma.carries_rpc([10, 0, 0, 3].into(), &packet(0x0d, 5, &[0, 1, 2])));
    }

    #[test]
    fn other_messages_are_not_taken_for_rpc() {
        let mut rdma = Rdma::default();
        for message in [
            &[][..],
            &[9, 1, 32, MSG, 0, 0, 0, 8, CALL, 2], // another XID
            &[9, 2, 32, MSG, 0, 0, 0, 9, CALL, 2],
            &[9, 1, 32, MSG, 1, 8],
            &[9, 1, 32, MSG, 0, 1, u32::MAX, 0],
            &[0; 20],
        ] {
            let packet = packet(0x04, 5, message);
            assert!(!rdma.carries_rpc([10, 0, 0, 2].into(), &packet), "{message:?}");
        }
        assert!(!rdma.carries_rpc([10, 0, 0, 2].into(), &[4; 7]));
    }
}
