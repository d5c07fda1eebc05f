//! Conversations that carry RPC in an unreadable form: TLS (RFC 9289), and iWARP, which is RDMA
//! over TCP (RFC 5044).

use super::unread::Reason;

/// A record of TLS (RFC 8446 section 5): its type, version 3.x, and its length.
const HEADER: usize = 5;
const TYPES: std::ops::RangeInclusive<u8> = 0x14..=0x17;
const LONGEST: usize = (1 << 14) + 2048;

/// The first bytes of an MPA request or reply frame (RFC 5044 section 7.1).
const MPA: &[u8] = b"MPA ID Re";

/// Why bytes in place of a message are unreadable, if that can be recognized.
pub fn reason(bytes: &[u8]) -> Option<Reason> {
    if bytes.starts_with(MPA) {
        return Some(Reason::Rdma);
    }
    record(bytes).is_some().then_some(Reason::Tls)
}

/// The length of the TLS record that begins here, its header included.
fn record(bytes: &[u8]) -> Option<usize> {
    let [kind, 3, minor, high, low] = *bytes.first_chunk::<HEADER>()? else {
        return None;
    };
    let length = usize::from(u16::from_be_bytes([high, low]));
    let valid = TYPES.contains(&kind) && minor <= 4 && (1..=LONGEST).contains(&length);
    valid.then_some(HEADER + length)
}

/// Looks for TLS in a stream met in its middle: a record that ends where the next one begins, or
/// with its segment.
#[derive(Debug, Default)]
pub struct Search {
    /// The bytes up to the end of the last record found, if it was one.
    left: Option<u64>,
}

impl Search {
    /// Takes the next bytes of the stream; returns whether they prove it to be TLS.
    pub fn proves(&mut self, bytes: &[u8]) -> bool {
        if let Some(left) = self.left.take() {
            match bytes.get(left as usize..) {
                None | Some([]) => {
                    self.left = Some(left - bytes.len() as u64);
                    return false;
                }
                Some(next) if record(next).is_some() => return true,
                Some(_) => {}
            }
        }
        for at in 0..bytes.len() {
            let Some(length) = record(&bytes[at..]) else {
                continue;
            };
            match bytes.get(at + length..) {
                Some([]) => return true,
                Some(next) if record(next).is_some() => return true,
                Some(_) => {}
                None => {
                    self.left = Some((at + length - bytes.len()) as u64);
                    return false;
                }
            }
        }
        false
    }

    /// Skips missing bytes.
    pub fn hole(&mut self, missing: u64) {
        self.left = self.left.and_then(|left| left.checked_sub(missing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of application data.
    fn data(length: u16) -> Vec<u8> {
        let [high, low] = length.to_be_bytes();
        [&[0x17, 3, 3, high, low][..], &vec![0x5a; length.into()]].concat()
    }

    #[test]
    fn a_session_is_recognized_by_its_first_record() {
        let client = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];
        assert_eq!(reason(&client), Some(Reason::Tls));
        assert_eq!(reason(&[0x16, 3, 3, 0, 90, 2, 0, 0, 86]), Some(Reason::Tls));
        assert_eq!(reason(b"MPA ID Req Frame\x40\x01\0\0"), Some(Reason::Rdma));
        assert_eq!(reason(&data(40)), Some(Reason::Tls));
        assert_eq!(reason(&[0x17, 3, 3, 0xff, 0xff]), None);
        assert_eq!(reason(&[0x80, 0, 0, 40, 0, 0, 0, 1]), None);
    }

    #[test]
    fn a_session_met_in_its_middle_is_recognized_by_consecutive_records() {
        let stream = [data(3000), data(700), data(9000), data(10)].concat();
        for start in [0, 1, 500, 3005, 3800] {
            for size in [1448, 2000, 64_000] {
                let mut search = Search::default();
                assert!(stream[start..].chunks(size).any(|part| search.proves(part)), "{start}");
            }
        }
        assert!(Search::default().proves(&data(90)), "a segment that is one record");
    }

    #[test]
    fn other_bytes_are_no_session() {
        let mut search = Search::default();
        for part in [&data(3000)[..1448], &[0; 4000], b"\x17\x03\x03\x00\x04abcdef", &[0x17; 900]] {
            assert!(!search.proves(part));
        }
        let mut search = Search::default();
        assert!(!search.proves(&data(3000)[..1000]));
        search.hole(2005);
        assert!(search.proves(&data(20)[..10]), "the hole ended with the record");
    }
}
