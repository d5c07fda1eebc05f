//! Unreadable traffic in a capture, by reason.

macro_rules! reasons {
    ($(#[doc = $what:literal] $reason:ident = $name:literal,)+) => {
        /// Why traffic is unreadable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Reason {
            $(#[doc = $what] $reason,)+
        }

        /// The names of the reasons, in their order.
        pub const REASONS: &[&str] = &[$($name),+];
    };
}

reasons! {
    /// IPsec's encrypted payload (RFC 4303).
    Esp = "ipsec-esp",
    /// A tunnel or label of an unsupported kind.
    Tunnel = "other-tunnel",
    /// More nested encapsulations than are removed.
    Nesting = "nested-too-deep",
    /// An interface or section with an unreadable link type.
    Link = "link-type",
    /// Packets of a capture that states no time for them.
    NoTime = "no-time",
    /// A TLS session (RFC 9289, or on NFS's port from the beginning).
    Tls = "tls",
    /// Calls and replies whose bodies Kerberos encrypts (krb5p, RFC 2203 section 5.3.2.3).
    Krb5p = "krb5p",
    /// RPC over RDMA (RFC 8166).
    Rdma = "rpc-rdma",
    /// Packets of NFS's port without a recognizable message.
    NoMessage = "no-message",
}

/// Unreadable packets or messages, and their bytes, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    counts: [(u64, u64); REASONS.len()],
}

impl Unread {
    /// Counts a packet or message of `bytes` bytes.
    pub fn add(&mut self, reason: Reason, bytes: u64) {
        self.add_all(reason, (1, bytes));
    }

    /// Counts packets or messages, and their bytes.
    pub fn add_all(&mut self, reason: Reason, (count, bytes): (u64, u64)) {
        let (counted, sum) = &mut self.counts[reason as usize];
        (*counted, *sum) = (*counted + count, *sum + bytes);
    }

    /// Uncounts packets or messages that turned out to be readable.
    pub fn take_back(&mut self, reason: Reason, (count, bytes): (u64, u64)) {
        let (counted, sum) = &mut self.counts[reason as usize];
        (*counted, *sum) = (counted.saturating_sub(count), sum.saturating_sub(bytes));
    }

    /// Each reason that occurred: its name, the number of packets or messages, and their bytes.
    pub fn reasons(&self) -> impl Iterator<Item = (&'static str, u64, u64)> + '_ {
        let counted = REASONS.iter().zip(&self.counts).filter(|(_, (count, _))| *count > 0);
        counted.map(|(name, (count, bytes))| (*name, *count, *bytes))
    }
}
