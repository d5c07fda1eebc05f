//! The window of unanswered calls, and delayed and repeated transmissions.

use super::Transport;

/// Interval of the client's timer, in nanoseconds: FreeBSD 4 has 100 ticks a second.
const TICK: u64 = 10_000_000;

/// First estimate of the ticks until an answer: a second (`NFS_TIMEO`).
const FIRST: i64 = 100;

/// Most doublings of the timeout (`NFS_NBACKOFF`).
const BACKOFF: u32 = 8;

/// The client's window of calls over UDP, as in `nfs_request`, `nfs_reply` and `nfs_timer` of
/// FreeBSD 4 (`nfs_socket.c`).
///
/// A call without room in the window does not leave as soon as there is room: the timer sends it
/// with its next tick. Later calls that find room leave before it. If an answer takes longer than
/// the mean and four deviations, the call is sent again, the timeout doubles until an answer comes,
/// and the window is halved. TCP has no window, and the stream keeps the order.
#[derive(Clone, Debug)]
pub struct Window {
    /// Most calls, in [`Window::CALL`]ths; none: no limit.
    most: Option<u64>,
    /// Current limit of unanswered calls, in the same unit.
    size: u64,
    unanswered: u64,
    /// Calls without an answer, in the order in which they were made.
    calls: Vec<Waiting>,
    /// Mean of the ticks until an answer, times 8.
    mean: i64,
    /// Its deviation, times 4.
    deviation: i64,
    /// Timeouts since the last answer.
    late: u32,
    /// Offset of the timer's ticks from the multiples of their interval.
    phase: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    call: usize,
    sent: bool,
    /// Ticks since it was sent; none before.
    ticks: Option<i64>,
    /// Whether it was sent only once, so that an answer gives a time.
    timed: bool,
}

/// A call that is sent with a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// The call.
    pub call: usize,
    /// Whether it was sent before.
    pub again: bool,
}

impl Window {
    /// Weight of a call in the window (`NFS_CWNDSCALE`).
    const CALL: u64 = 256;

    /// A window half open. `phase` decides when the timer ticks.
    pub fn new(transport: Transport, phase: u64) -> Self {
        let most = match transport {
            Transport::Udp { window } => Some(window as u64 * Self::CALL),
            Transport::Tcp => None,
        };
        Self {
            most,
            size: most.map_or(u64::MAX, |most| (most / 2).max(Self::CALL)),
            unanswered: 0,
            calls: Vec::new(),
            mean: 8 * FIRST,
            deviation: 0,
            late: 0,
            phase: phase % TICK,
        }
    }

    /// Send a call if the window allows; return whether it was sent.
    pub fn send(&mut self, call: usize) -> bool {
        if self.most.is_none() {
            return true;
        }
        let sent = self.has_room();
        self.unanswered += if sent { Self::CALL } else { 0 };
        self.calls.push(Waiting { call, sent, ticks: sent.then_some(0), timed: true });
        sent
    }

    /// The tick after `now`; none over TCP.
    pub fn next_tick(&self, now: u64) -> Option<u64> {
        let ticks = (now + TICK - self.phase) / TICK;
        self.most.map(|_| ticks * TICK + self.phase)
    }

    /// Process a tick of the timer; return the calls that are sent now.
    pub fn tick(&mut self) -> Vec<Leaving> {
        let mut leaving = Vec::new();
        for number in 0..self.calls.len() {
            let own = self.calls[number];
            let ticks = own.ticks.map(|ticks| ticks + 1);
            self.calls[number].ticks = ticks;
            if ticks.is_some_and(|ticks| ticks <= self.patience()) {
                continue;
            }
            self.late = (self.late + u32::from(ticks.is_some())).min(BACKOFF);
            if own.sent {
                self.size = (self.size / 2).max(Self::CALL);
            } else if self.has_room() {
                self.unanswered += Self::CALL;
            } else {
                continue;
            }
            let timed = !own.sent;
            self.calls[number] = Waiting { sent: true, ticks: Some(0), timed, ..own };
            leaving.push(Leaving { call: own.call, again: own.sent });
        }
        leaving
    }

    /// Process the first answer to a call. A full window grows by one call per round.
    pub fn answered(&mut self, call: usize) {
        let Some(most) = self.most else { return };
        let Some(number) = self.calls.iter().position(|own| own.call == call) else { return };
        if self.size <= self.unanswered {
            let more = (Self::CALL * Self::CALL + self.size / 2) / self.size;
            self.size = (self.size + more).min(most);
        }
        self.unanswered -= Self::CALL;
        let own = self.calls.remove(number);
        if let Some(ticks) = own.ticks.filter(|_| own.timed) {
            let off = ticks + 1 - (self.mean >> 3);
            self.mean += off;
            self.deviation += off.abs() - (self.deviation >> 2);
        }
        self.late = 0;
    }

    /// Timeout of an answer in ticks (`NFS_RTO`).
    fn patience(&self) -> i64 {
        (((self.mean + 7) >> 3) + self.deviation + 1) << self.late
    }

    fn has_room(&self) -> bool {
        self.unanswered < self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp(window: usize) -> Window {
        Window::new(Transport::Udp { window }, 3)
    }

    fn again(call: usize) -> Leaving {
        Leaving { call, again: true }
    }

    #[test]
    fn a_call_without_room_leaves_with_a_tick_and_after_later_ones() {
        let mut window = udp(4);
        assert!(window.send(0) && window.send(1));
        assert!(!window.send(2) && !window.send(3));
        window.answered(0);
        assert!(window.send(4), "before those that wait");
        assert_eq!(window.tick(), [Leaving { call: 2, again: false }], "3 has to wait on");
        assert_eq!(window.next_tick(TICK + 3), Some(2 * TICK + 3));
    }

    #[test]
    fn a_full_window_grows_up_to_its_limit() {
        let mut window = udp(8);
        let mut next = 0;
        for done in 0..1000 {
            while window.send(next) {
                next += 1;
            }
            next += 1;
            window.answered(done);
            window.tick();
        }
        assert_eq!((window.size, window.unanswered), (8 * Window::CALL, 8 * Window::CALL));
    }

    #[test]
    fn a_call_without_an_answer_leaves_again_after_a_second_and_then_less_and_less_often() {
        let mut window = udp(8);
        window.send(7);
        let ticks: Vec<usize> = (1..800).filter(|_| window.tick() == [again(7)]).collect();
        assert_eq!(ticks, [102, 102 + 203, 102 + 203 + 405]);
        assert_eq!(window.size, Window::CALL, "halved twice, and no less than one call");
        window.answered(7);
        assert_eq!(window.mean, 8 * FIRST, "it is not known which one was answered");
        assert_eq!(window.late, 0);
    }

    #[test]
    fn answers_that_come_soon_are_expected_soon() {
        let mut window = udp(8);
        for call in 0..200 {
            window.send(call);
            window.tick();
            window.answered(call);
        }
        assert!(window.patience() < 10, "{}", window.patience());
        window.send(200);
        assert_eq!((0..10).flat_map(|_| window.tick()).next(), Some(again(200)));
    }

    #[test]
    fn a_stream_has_no_window_and_no_timer() {
        let mut window = Window::new(Transport::Tcp, 0);
        assert!((0..1000).all(|call| window.send(call)));
        window.answered(3);
        assert_eq!(window.next_tick(0), None);
    }
}
