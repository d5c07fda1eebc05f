//! How many bytes of memory what is remembered of a trace may take, split among its parts.
//!
//! Each part counts the bytes that it holds and gives up its oldest when it holds more than its
//! share. Shares are limits, not reservations: ordinary traffic needs a fraction of them.

/// The bytes that a trace may take that is read by a program without a setting for it.
pub const DEFAULT: usize = 800 << 20;

/// A part that holds memory, with its share in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Part {
    /// Calls that wait for their replies.
    Calls = 110,
    /// Replies that wait for their calls.
    Replies = 20,
    /// Bytes of TCP that wait for others.
    Segments = 80,
    /// Datagrams with missing fragments.
    Fragments = 40,
    /// What was lost, by server and client.
    Losses = 31,
    /// The rows of one batch.
    Batch = 32,
    /// Rows that were handed on and may still change.
    Rows = 251,
    /// Messages without a row.
    Messages = 10,
    /// Names of hosts.
    Hosts = 21,
    /// Files that are alive.
    Lives = 220,
    /// Rows of files and names that have ended, each.
    Ended = 45,
    /// Times of loss.
    Gaps = 22,
    /// What calls without replies named.
    Unanswered = 41,
}

/// Bytes of memory for all parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(usize);

impl Default for Budget {
    fn default() -> Budget {
        Budget(DEFAULT)
    }
}

impl Budget {
    /// So many bytes for all parts.
    pub fn new(bytes: usize) -> Budget {
        Budget(bytes)
    }

    /// The bytes that a part may hold.
    #[inline]
    pub fn share(self, part: Part) -> usize {
        self.0 / 1000 * part as usize
    }

    /// All bytes.
    pub fn bytes(self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_all_parts_are_no_more_than_the_budget() {
        use Part::*;
        let once = [Calls, Replies, Segments, Fragments, Losses, Batch, Rows, Messages, Lives];
        let twice = [Hosts, Ended]; // of the trace and of the lives; of files and of names
        let parts = once.into_iter().chain(twice).chain(twice).chain([Gaps, Unanswered]);
        let all: usize = parts.map(|part| Budget::new(1000).share(part)).sum();
        assert!(all <= 1000, "{all}");
    }
}
