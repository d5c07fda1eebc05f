//! The syncer: whose turn it is to be written, second by second.

/// Seconds from the first delayed write to the file, the directory and the device being written
/// (`filedelay`, `dirdelay` and `metadelay`), and between two rounds over the whole file system
/// (`syncdelay`).
pub const FILE: u64 = 30;
/// See [`FILE`].
pub const DIRECTORY: u64 = 29;
/// See [`FILE`].
pub const DEVICE: u64 = 28;
/// See [`FILE`].
pub const ROUND: u64 = 30;
/// More than all delays.
const SLOTS: usize = 32;

/// Owners of delayed writes, by the second in which they are due.
#[derive(Debug)]
pub struct Syncer {
    /// The second that comes next.
    second: u64,
    slots: Vec<Vec<u32>>,
    waiting: Vec<bool>,
}

impl Syncer {
    /// One for so many owners.
    pub fn new(owners: usize) -> Syncer {
        Syncer { second: 1, slots: vec![Vec::new(); SLOTS], waiting: vec![false; owners] }
    }

    /// The second that comes next.
    #[inline]
    pub fn second(&self) -> u64 {
        self.second
    }

    /// Has an owner written after `delay` seconds, if it is not waiting.
    #[inline]
    pub fn add(&mut self, owner: u32, delay: u64) {
        if !std::mem::replace(&mut self.waiting[owner as usize], true) {
            self.slots[((self.second - 1 + delay) % SLOTS as u64) as usize].push(owner);
        }
    }

    /// Goes on to the next second. Returns who is due in it.
    pub fn tick(&mut self) -> Vec<u32> {
        let due = std::mem::take(&mut self.slots[(self.second % SLOTS as u64) as usize]);
        due.iter().for_each(|&owner| self.waiting[owner as usize] = false);
        self.second += 1;
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_due_after_its_delay_and_once() {
        let mut syncer = Syncer::new(3);
        let mut due = Vec::new();
        syncer.add(1, FILE);
        for second in 1..100 {
            if second == 10 {
                syncer.add(1, FILE); // waits already
                syncer.add(2, DEVICE);
            }
            due.extend(syncer.tick().into_iter().map(|owner| (second, owner)));
        }
        assert_eq!(due, [(30, 1), (9 + 28, 2)]);
    }
}
