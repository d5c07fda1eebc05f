//! How many calls may be unanswered, and when those that may not leave yet do.

use super::Transport;
use std::collections::VecDeque;

/// Between two ticks of the client's timer, in nanoseconds: FreeBSD 4 has 100 a second.
const TICK: u64 = 10_000_000;

/// The client's window of calls over UDP, as `nfs_request` and `nfs_timer` of FreeBSD 4 keep it.
///
/// A call for which there is no room does not leave as soon as there is: the timer sends it with its
/// next tick. Later calls that find room leave before it. Over TCP there is no window, and the stream
/// keeps the order.
#[derive(Clone, Debug)]
pub struct Window {
    /// Calls at most, in [`Window::CALL`]ths; none, if there is no limit.
    most: Option<u64>,
    /// Calls that may be unanswered now, in the same unit.
    size: u64,
    unanswered: u64,
    late: VecDeque<usize>,
    /// By how much the timer's ticks come after the multiples of their interval.
    phase: u64,
}

/// When a call leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// At once.
    Now,
    /// With a tick of the timer: the next one, if nobody has asked for it yet.
    Later(Option<u64>),
}

impl Window {
    /// What a call counts (`NFS_CWNDSCALE`).
    const CALL: u64 = 256;

    /// An open window of half the most calls. `phase` decides when the timer ticks.
    pub fn new(transport: Transport, phase: u64) -> Self {
        let most = match transport {
            Transport::Udp { window } => Some(window as u64 * Self::CALL),
            Transport::Tcp => None,
        };
        let size = most.map_or(u64::MAX, |most| (most / 2).max(Self::CALL));
        Self { most, size, unanswered: 0, late: VecDeque::new(), phase: phase % TICK }
    }

    /// A call is ready to leave.
    pub fn send(&mut self, call: usize, now: u64) -> Sent {
        if self.unanswered < self.size {
            self.unanswered += Self::CALL;
            return Sent::Now;
        }
        let first = self.late.is_empty();
        self.late.push_back(call);
        Sent::Later(if first { self.next_tick(now) } else { None })
    }

    /// The next call that leaves with a tick, if there is room for it.
    pub fn late(&mut self) -> Option<usize> {
        if self.unanswered >= self.size {
            return None;
        }
        let call = self.late.pop_front()?;
        self.unanswered += Self::CALL;
        Some(call)
    }

    /// The tick after `now`, if calls wait for it.
    pub fn next_tick(&self, now: u64) -> Option<u64> {
        let ticks = (now + TICK - self.phase) / TICK;
        (!self.late.is_empty()).then_some(ticks * TICK + self.phase)
    }

    /// A call has its answer. A window that was full grows by a call for each time it is.
    pub fn answered(&mut self) {
        if let Some(most) = self.most.filter(|_| self.size <= self.unanswered) {
            let more = (Self::CALL * Self::CALL + self.size / 2) / self.size;
            self.size = (self.size + more).min(most);
        }
        self.unanswered -= Self::CALL;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp(window: usize) -> Window {
        Window::new(Transport::Udp { window }, 3)
    }

    #[test]
    fn a_call_without_room_leaves_with_a_tick_and_after_later_ones() {
        let mut window = udp(4);
        assert_eq!([window.send(0, 0), window.send(1, 0)], [Sent::Now, Sent::Now]);
        assert_eq!(window.send(2, 5), Sent::Later(Some(TICK + 3)));
        assert_eq!(window.send(3, 6), Sent::Later(None), "the tick is coming");
        window.answered();
        window.answered();
        assert_eq!(window.send(4, 7), Sent::Now, "before those that wait");
        assert_eq!(window.late(), Some(2));
        assert_eq!(window.next_tick(TICK + 3), Some(2 * TICK + 3));
    }

    #[test]
    fn a_full_window_grows_up_to_its_limit() {
        let mut window = udp(8);
        for _ in 0..1000 {
            while window.send(0, 0) == Sent::Now {}
            window.answered();
        }
        let fits = (0..).take_while(|_| window.send(0, 0) == Sent::Now).count();
        assert_eq!((window.size / Window::CALL, fits), (8, 1));
    }

    #[test]
    fn a_stream_has_no_window() {
        let mut window = Window::new(Transport::Tcp, 0);
        assert!((0..1000).all(|call| window.send(call, 0) == Sent::Now));
        window.answered();
        assert_eq!(window.next_tick(0), None);
    }
}
