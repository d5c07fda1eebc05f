//! The state of a connection that others may read or end.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicU8};
use std::time::Instant;
use tokio::sync::Notify;

/// The client's host: an IPv4 address, or the network of an IPv6 address, as one host may have a
/// whole /64. 0 for Unix sockets.
pub type Address = u64;

/// What a connection is doing, in the order in which connections are closed to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Phase {
    /// It has sent nothing yet.
    Silent,
    /// Every request is answered, and none is being received.
    Idle,
    /// Its TLS handshake has begun.
    Handshake,
    /// A request has begun and is not complete.
    Receiving,
    /// A request is complete, and its answer is not sent.
    Answering,
}

const PHASES: [Phase; 5] =
    [Phase::Silent, Phase::Idle, Phase::Handshake, Phase::Receiving, Phase::Answering];

/// What a connection is to do. A later one replaces an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Order {
    /// Nothing.
    None,
    /// To end after the requests that have begun.
    Finish,
    /// To refuse the request being received, as its time is over.
    TooSlow,
    /// To refuse the request being received, as there are too many connections.
    Displaced,
    /// To refuse the request being received, as others need the bytes of its body.
    Outrun,
    /// To end at once.
    Abort,
}

const ORDERS: [Order; 6] =
    [Order::None, Order::Finish, Order::TooSlow, Order::Displaced, Order::Outrun, Order::Abort];

/// A connection.
pub struct Conn {
    /// The client's host.
    pub address: Address,
    start: Instant,
    phase: AtomicU8,
    /// When the phase began, in milliseconds since `start`.
    since: AtomicU64,
    /// When the client stopped reading its answer, in milliseconds since `start`; 0 if it reads.
    blocked: AtomicU64,
    /// The bytes of the answer that are not sent.
    unsent: AtomicU64,
    order: AtomicU8,
    /// Whether a request's body is being read by its handler, or discarded.
    reading_body: AtomicBool,
    discarding: AtomicBool,
    /// Wakes the connection's task for an order.
    pub wake: Notify,
}

impl Conn {
    /// A silent connection; `start` is the service's.
    pub fn new(address: Address, start: Instant) -> Conn {
        Conn {
            address,
            start,
            phase: AtomicU8::new(Phase::Silent as u8),
            since: AtomicU64::new(elapsed(start)),
            blocked: AtomicU64::new(0),
            unsent: AtomicU64::new(0),
            order: AtomicU8::new(Order::None as u8),
            reading_body: AtomicBool::new(false),
            discarding: AtomicBool::new(false),
            wake: Notify::new(),
        }
    }

    /// Its phase.
    pub fn phase(&self) -> Phase {
        PHASES[usize::from(self.phase.load(Acquire)) % PHASES.len()]
    }

    /// Begins a phase now.
    pub fn begin(&self, phase: Phase) {
        self.since.store(elapsed(self.start), Relaxed);
        self.phase.store(phase as u8, Release);
    }

    /// Goes on with another phase, whose time began with the one before.
    pub fn continue_as(&self, phase: Phase) {
        self.phase.store(phase as u8, Release);
    }

    /// When its phase began, in milliseconds since the service's start.
    pub fn since(&self) -> u64 {
        self.since.load(Relaxed)
    }

    /// Milliseconds in this phase.
    pub fn age(&self) -> u64 {
        elapsed(self.start).saturating_sub(self.since())
    }

    /// Milliseconds since the client stopped reading its answer; 0 if it reads.
    pub fn blocked_for(&self) -> u64 {
        match self.blocked.load(Relaxed) {
            0 => 0,
            since => elapsed(self.start).saturating_sub(since),
        }
    }

    /// Records that the client does not read, or reads again; returns whether that is new.
    pub fn set_blocked(&self, blocked: bool) -> bool {
        let was = self.blocked.load(Relaxed) != 0;
        if was != blocked {
            let since = if blocked { elapsed(self.start).max(1) } else { 0 };
            self.blocked.store(since, Relaxed);
        }
        was != blocked
    }

    /// Records the size of the next answer.
    pub fn set_unsent(&self, bytes: usize) {
        self.unsent.store(bytes as u64, Relaxed);
    }

    /// Counts bytes as sent.
    pub fn count_sent(&self, bytes: usize) {
        let unsent = self.unsent.load(Relaxed);
        self.unsent.store(unsent.saturating_sub(bytes as u64), Relaxed);
    }

    /// The bytes of the answer that are not sent.
    pub fn unsent(&self) -> usize {
        usize::try_from(self.unsent.load(Relaxed)).unwrap_or(usize::MAX)
    }

    /// Gives an order.
    pub fn order(&self, order: Order) {
        self.order.fetch_max(order as u8, AcqRel);
        self.wake.notify_one();
    }

    /// The last order.
    pub fn ordered(&self) -> Order {
        ORDERS[usize::from(self.order.load(Acquire)) % ORDERS.len()]
    }

    /// Records whether a handler reads a request's body.
    pub fn set_reading_body(&self, reading: bool) {
        self.reading_body.store(reading, Release);
    }

    /// Whether a handler reads a request's body.
    pub fn is_reading_body(&self) -> bool {
        self.reading_body.load(Acquire)
    }

    /// Records whether the rest of an answered request's body is discarded.
    pub fn set_discarding(&self, discarding: bool) {
        self.discarding.store(discarding, Release);
    }

    /// Whether the rest of an answered request's body is discarded.
    pub fn is_discarding(&self) -> bool {
        self.discarding.load(Acquire)
    }
}

fn elapsed(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}
