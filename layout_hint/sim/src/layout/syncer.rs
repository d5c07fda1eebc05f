//! The syncer: owners of dirty buffers to write, second by second.

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
    /// When each is due; 0: it is not waiting.
    due: Vec<u64>,
}

impl Syncer {
    /// One for so many owners.
    pub fn new(owners: usize) -> Syncer {
        Syncer { second: 1, slots: vec![Vec::new(); SLOTS], due: vec![0; owners] }
    }

    /// The second that comes next.
    #[inline]
    pub fn second(&self) -> u64 {
        self.second
    }

    /// Has an owner written after `delay` seconds, if it is not waiting.
    #[inline]
    pub fn add(&mut self, owner: u32, delay: u64) {
        let due = &mut self.due[owner as usize];
        if *due == 0 {
            *due = self.second - 1 + delay;
            self.slots[(*due % SLOTS as u64) as usize].push(owner);
        }
    }

    /// Removes an owner without dirty buffers.
    #[inline]
    pub fn remove(&mut self, owner: u32) {
        self.due[owner as usize] = 0;
    }

    /// Advances to the next second. Returns the owners due in it.
    pub fn tick(&mut self) -> Vec<u32> {
        let second = self.second;
        self.second += 1;
        let mut due = std::mem::take(&mut self.slots[(second % SLOTS as u64) as usize]);
        due.retain(|&owner| self.due[owner as usize] == second);
        due.iter().for_each(|&owner| self.remove(owner));
        due
    }

    /// All waiting owners in the order of their due times, except `owner`.
    pub fn take_all(&mut self, owner: u32) -> Vec<u32> {
        let mut all = Vec::new();
        for second in self.second..self.second + SLOTS as u64 {
            let slot = std::mem::take(&mut self.slots[(second % SLOTS as u64) as usize]);
            for waiting in slot {
                if self.due[waiting as usize] != second {
                    continue; // it was written before, and waits again or not at all
                }
                if waiting == owner {
                    self.slots[(second % SLOTS as u64) as usize].push(waiting);
                } else {
                    self.remove(waiting);
                    all.push(waiting);
                }
            }
        }
        all
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

    #[test]
    fn a_file_written_meanwhile_waits_again_and_a_round_takes_all_but_the_device() {
        let mut syncer = Syncer::new(4);
        syncer.add(1, FILE);
        (1..=10).for_each(|_| assert!(syncer.tick().is_empty()));
        syncer.remove(1);
        syncer.add(1, FILE);
        syncer.add(2, DIRECTORY);
        syncer.add(3, DEVICE);
        (11..=37).for_each(|_| assert!(syncer.tick().is_empty()));
        assert_eq!(syncer.take_all(3), [2, 1]);
        assert_eq!(syncer.tick(), [3]);
        (39..=80).for_each(|_| assert!(syncer.tick().is_empty()));
    }
}
