//! The numbers of a client's calls. Most clients count them up by one, in their own byte order.

use std::collections::VecDeque;

/// A step longer than this begins another count.
const LONGEST: u32 = 4096;

/// The most numbers passed over that may still come.
const MOST: usize = 4096;

/// The numbers to reserve memory for when there are none.
const RESERVED: usize = 8;

/// So many steps tell whether a client counts, …
const TELLING: u32 = 16;

/// … if this share of them, of four, went on by one.
const QUARTERS: u32 = 3;

/// After so many steps earlier ones weigh half.
const MEMORY: u32 = 1 << 12;

/// XIDs that count up by one, in a byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    first: u32,
    len: u32,
    order: Order,
}

impl Run {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether an XID is among them.
    pub fn has(&self, xid: u32) -> bool {
        self.place(xid) < self.len
    }

    /// Each of them.
    pub fn xids(self) -> impl Iterator<Item = u32> {
        (0..self.len).map(move |place| self.order.of(self.first.wrapping_add(place)))
    }

    fn place(&self, xid: u32) -> u32 {
        self.order.of(xid).wrapping_sub(self.first)
    }
}

/// Numbers that were passed over at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    run: Run,
    /// The time of the call before them.
    pub since: i64,
    /// The time of the call behind them.
    pub until: i64,
    /// Those whose reply was seen.
    replied: Vec<u32>,
}

impl Missing {
    /// Of how many the reply was not seen, either.
    pub fn unseen(&self) -> u64 {
        (self.run.len() - self.replied.len()) as u64
    }

    /// Splits them where one is that came late: into those before it and those behind it.
    fn without(self, late: u32) -> [Missing; 2] {
        let before = self.run.place(late);
        let (first, len) = (self.run.first.wrapping_add(before + 1), self.run.len - before - 1);
        [Run { len: before, ..self.run }, Run { first, len, ..self.run }].map(|run| {
            let replied = self.replied.iter().copied().filter(|xid| run.has(*xid)).collect();
            Missing { run, replied, ..self }
        })
    }
}

/// The byte order of a count, as XIDs are printed: the network's or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As it is.
    Plain,
    /// Reversed.
    Swapped,
}

impl Order {
    /// The number that an XID is, or the XID of a number.
    #[inline]
    fn of(self, xid: u32) -> u32 {
        match self {
            Order::Plain => xid,
            Order::Swapped => xid.swap_bytes(),
        }
    }
}

/// The XIDs of one conversation, followed as counts in both byte orders.
#[derive(Debug)]
pub struct Sequence {
    plain: Count,
    swapped: Count,
}

impl Default for Sequence {
    fn default() -> Sequence {
        Sequence { plain: Count::new(Order::Plain), swapped: Count::new(Order::Swapped) }
    }
}

impl Sequence {
    /// Takes the XID of a new call. `held` says which of some XIDs have a reply that waits for its
    /// call, and `room` how many more numbers may wait.
    pub fn call(&mut self, xid: u32, time: i64, room: usize, held: impl Fn(Run) -> Vec<u32>) {
        let before = self.plain.waiting;
        self.plain.step(xid, time, room, &held);
        let room = (room + before).saturating_sub(self.plain.waiting);
        self.swapped.step(xid, time, room, &held);
    }

    /// How many numbers that were passed over may still come.
    pub fn waiting(&self) -> usize {
        self.plain.waiting + self.swapped.waiting
    }

    /// Takes the XID of a reply whose call was not seen.
    pub fn replied(&mut self, xid: u32) {
        self.plain.replied(xid);
        self.swapped.replied(xid);
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
        for count in [&mut self.plain, &mut self.swapped] {
            while count.missing.front().is_some_and(|first| first.until < until) {
                let Some(missing) = count.missing.pop_front() else {
                    break;
                };
                count.waiting -= missing.run.len();
                if order == Some(count.order) {
                    lost(missing);
                }
            }
            if count.missing.is_empty() {
                count.missing.shrink_to(RESERVED);
            }
        }
    }
}

#[derive(Debug)]
struct Count {
    order: Order,
    highest: Option<u32>,
    time: i64,
    steps: u32,
    by_one: u32,
    missing: VecDeque<Missing>,
    /// How many numbers are missing.
    waiting: usize,
}

impl Count {
    fn new(order: Order) -> Count {
        let (highest, missing) = (None, VecDeque::new());
        Count { order, highest, time: 0, steps: 0, by_one: 0, missing, waiting: 0 }
    }

    fn step(&mut self, xid: u32, time: i64, room: usize, held: impl Fn(Run) -> Vec<u32>) {
        let number = self.order.of(xid);
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
            let room = room.min(MOST.saturating_sub(self.waiting)) as u32;
            let (first, len) = (highest.wrapping_add(1), room.min(ahead - 1));
            self.pass(Run { first, len, order: self.order }, (before, time), held);
        } else if highest.wrapping_sub(number) <= LONGEST {
            // overtaken by later ones
            (self.highest, self.time) = (Some(highest), before);
            self.by_one += u32::from(self.came_late(xid));
        }
    }

    fn pass(&mut self, run: Run, (since, until): (i64, i64), held: impl Fn(Run) -> Vec<u32>) {
        if run.len > 0 {
            self.waiting += run.len();
            self.missing.push_back(Missing { run, since, until, replied: held(run) });
        }
    }

    /// Takes a number from those that are missing; whether it was among them.
    fn came_late(&mut self, xid: u32) -> bool {
        let Some(at) = self.position(xid) else {
            return false;
        };
        let parts = self.missing.remove(at).map(|missing| missing.without(xid));
        for part in parts.into_iter().flatten().rev().filter(|part| part.run.len > 0) {
            self.missing.insert(at, part);
        }
        self.waiting -= 1;
        true
    }

    fn weigh(&mut self) {
        if self.steps >= MEMORY {
            (self.steps, self.by_one) = (self.steps / 2, self.by_one / 2);
        }
        self.steps += 1;
    }

    fn replied(&mut self, xid: u32) {
        if let Some(at) = self.position(xid) {
            let replied = &mut self.missing[at].replied;
            if !replied.contains(&xid) {
                replied.push(xid);
            }
        }
    }

    fn position(&self, xid: u32) -> Option<usize> {
        self.missing.iter().rposition(|missing| missing.run.has(xid))
    }

    fn counts(&self) -> bool {
        self.steps >= TELLING && 4 * self.by_one >= QUARTERS * self.steps
    }
}
