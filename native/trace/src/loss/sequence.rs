//! The numbers of a client's calls. Most clients count them up by one, in their own byte order.

use std::collections::VecDeque;

/// A step longer than this begins another count.
const LONGEST: u32 = 4096;

/// The most numbers passed over that may still come.
const MOST: usize = 4096;

/// For so many of them memory is kept when there are none.
const KEPT: usize = 64;

/// So many steps tell whether a client counts, …
const TELLING: u32 = 16;

/// … if this share of them, of four, went on by one.
const QUARTERS: u32 = 3;

/// After so many steps earlier ones weigh half.
const MEMORY: u32 = 1 << 12;

/// A number that was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    number: u32,
    /// The time of the call before it.
    pub since: i64,
    /// The time of the call behind it.
    pub until: i64,
    /// Whether its reply was seen.
    pub replied: bool,
}

/// The byte order of a count, as XIDs are printed: the network's or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As it is.
    Plain,
    /// Reversed.
    Swapped,
}

/// The XIDs of one conversation, followed as counts in both byte orders.
#[derive(Debug, Default)]
pub struct Sequence {
    plain: Count,
    swapped: Count,
}

impl Sequence {
    /// Takes the XID of a new call. `held` says whether the reply to an XID waits for its call, and
    /// `room` how many more numbers may wait.
    pub fn call(&mut self, xid: u32, time: i64, room: usize, held: impl Fn(u32) -> bool) {
        let before = self.plain.missing.len();
        self.plain.step(xid, time, room, &held);
        let room = (room + before).saturating_sub(self.plain.missing.len());
        self.swapped.step(xid.swap_bytes(), time, room, |number| held(number.swap_bytes()));
    }

    /// How many numbers that were passed over may still come.
    pub fn waiting(&self) -> usize {
        self.plain.missing.len() + self.swapped.missing.len()
    }

    /// Takes the XID of a reply whose call was not seen.
    pub fn replied(&mut self, xid: u32) {
        self.plain.replied(xid);
        self.swapped.replied(xid.swap_bytes());
    }

    /// The byte order in which the XIDs count up, if they do.
    pub fn order(&self) -> Option<Order> {
        match (self.plain.counts(), self.swapped.counts()) {
            (true, _) => Some(Order::Plain),
            (_, true) => Some(Order::Swapped),
            _ => None,
        }
    }

    /// The time of the last new number.
    pub fn heard(&self) -> i64 {
        self.plain.time
    }

    /// Gives up the numbers passed over before `until`, and those of the count to `lost`.
    pub fn give_up(&mut self, until: i64, mut lost: impl FnMut(Missing)) {
        let order = self.order();
        for (count, of) in [(&mut self.plain, Order::Plain), (&mut self.swapped, Order::Swapped)] {
            while let Some(&missing) = count.missing.front().filter(|first| first.until < until) {
                count.missing.pop_front();
                if order == Some(of) {
                    lost(missing);
                }
            }
            if count.missing.is_empty() {
                count.missing.shrink_to(KEPT);
            }
        }
    }
}

#[derive(Debug, Default)]
struct Count {
    highest: Option<u32>,
    time: i64,
    steps: u32,
    by_one: u32,
    missing: VecDeque<Missing>,
}

impl Count {
    fn step(&mut self, number: u32, time: i64, room: usize, held: impl Fn(u32) -> bool) {
        let Some(highest) = self.highest.replace(number) else {
            self.time = time;
            return;
        };
        let before = std::mem::replace(&mut self.time, time);
        self.weigh();
        let ahead = number.wrapping_sub(highest);
        if ahead == 1 {
            self.by_one += 1;
        } else if (2..=LONGEST).contains(&ahead) {
            let passed = (1..ahead).take(room.min(MOST - self.missing.len().min(MOST)));
            self.missing.extend(passed.map(|at| {
                let number = highest.wrapping_add(at);
                Missing { number, since: before, until: time, replied: held(number) }
            }));
        } else if highest.wrapping_sub(number) <= LONGEST {
            // overtaken by later ones
            (self.highest, self.time) = (Some(highest), before);
            if let Some(at) = self.position(number) {
                self.missing.remove(at);
                self.by_one += 1;
            }
        }
    }

    fn weigh(&mut self) {
        if self.steps >= MEMORY {
            (self.steps, self.by_one) = (self.steps / 2, self.by_one / 2);
        }
        self.steps += 1;
    }

    fn replied(&mut self, number: u32) {
        if let Some(at) = self.position(number) {
            self.missing[at].replied = true;
        }
    }

    fn position(&self, number: u32) -> Option<usize> {
        self.missing.iter().rposition(|missing| missing.number == number)
    }

    fn counts(&self) -> bool {
        self.steps >= TELLING && 4 * self.by_one >= QUARTERS * self.steps
    }
}
