//! What was asked for lately, by how much has been asked for since.

/// Things in the order of their last use, each with a size. One is found by how much of others was used
/// since; that takes the logarithm of their number.
#[derive(Clone, Debug)]
pub struct Recent<T> {
    /// Things by when they were used last; those that were used again are of size 0.
    things: Vec<(T, u64)>,
    /// Sums of sizes (Fenwick, "A new data structure for cumulative frequency tables", 1994).
    sums: Vec<u64>,
    total: u64,
}

impl<T: Copy> Recent<T> {
    /// Room for so many uses, a power of two, until what has been used again is swept out.
    pub fn new(room: usize) -> Self {
        let room = room.next_power_of_two();
        Self { things: Vec::with_capacity(room), sums: vec![0; room + 1], total: 0 }
    }

    /// Use something new, of a size above 0.
    pub fn push(&mut self, thing: T, size: u64) {
        if self.things.len() + 1 == self.sums.len() {
            self.sweep();
        }
        self.things.push((thing, size));
        self.add(self.things.len(), size as i64);
        self.total += size;
    }

    /// The thing since whose use so much of others was used; none if there never was so much.
    pub fn at(&self, depth: u64) -> Option<T> {
        self.find(depth).map(|at| self.things[at].0)
    }

    /// Take it.
    pub fn take(&mut self, depth: u64) -> Option<T> {
        let at = self.find(depth)?;
        let (thing, size) = self.things[at];
        self.things[at].1 = 0;
        self.add(at + 1, -(size as i64));
        self.total -= size;
        Some(thing)
    }

    fn find(&self, depth: u64) -> Option<usize> {
        let mut rest = self.total.checked_sub(depth + 1)?;
        let mut at = 0;
        let mut step = self.sums.len() - 1;
        while step > 0 {
            let next = at + step;
            if next < self.sums.len() && self.sums[next] <= rest {
                rest -= self.sums[next];
                at = next;
            }
            step /= 2;
        }
        Some(at).filter(|&at| at < self.things.len())
    }

    /// Forget the older half of all, and leave no place to what was used again.
    fn sweep(&mut self) {
        let room = self.sums.len() - 1;
        let mut kept: Vec<(T, u64)> = std::mem::replace(&mut self.things, Vec::with_capacity(room));
        kept.retain(|own| own.1 > 0);
        let gone = kept.len().saturating_sub(room / 2);
        kept.drain(..gone);
        self.sums.fill(0);
        self.total = 0;
        for (thing, size) in kept {
            self.push(thing, size);
        }
    }

    fn add(&mut self, mut place: usize, size: i64) {
        while place < self.sums.len() {
            self.sums[place] = self.sums[place].wrapping_add_signed(size);
            place += place & place.wrapping_neg();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::random::Random;

    #[test]
    fn it_finds_what_a_list_finds() {
        let mut random = Random::new(4);
        let (mut recent, mut list) = (Recent::new(64), Vec::<(u64, u64)>::new());
        for number in 0..3_000 {
            let depth = random.below(120);
            let mut since = 0;
            let at = list.iter().rposition(|own| {
                since += own.1;
                since > depth
            });
            let taken = at.map(|at| list.remove(at));
            // What the sweep forgot is what lies deeper than half of the room.
            let seen = recent.at(depth);
            let found = recent.take(depth);
            assert_eq!(seen, found);
            if list.len() < 30 {
                assert_eq!(found, taken.map(|own| own.0), "{number}");
            }
            if list.len() < 25 {
                let size = taken.map_or(1 + random.below(6), |own| own.1);
                list.push((number, size));
                recent.push(number, size);
            }
            assert_eq!(recent.total, list.iter().map(|own| own.1).sum::<u64>());
        }
    }

    #[test]
    fn the_older_half_is_forgotten_when_there_is_no_room() {
        let mut recent = Recent::new(8);
        for number in 0..9 {
            recent.push(number, 1);
        }
        assert_eq!(recent.total, 5);
        assert_eq!([0, 3, 3].map(|depth| recent.take(depth)), [Some(8), Some(4), None]);
    }
}
