//! Recent uses, indexed by the size of later ones.

/// Things in the order of their last use, each with a size. Finding one by the size of all later
/// ones takes logarithmic time.
#[derive(Clone, Debug)]
pub struct Recent<T> {
    /// Things by their last use; those used again have size 0.
    things: Vec<(T, u64)>,
    /// Sums of sizes (Fenwick, "A new data structure for cumulative frequency tables", 1994).
    sums: Vec<u64>,
    total: u64,
}

impl<T: Copy> Recent<T> {
    /// Room for a number of uses, a power of two, until the next sweep.
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

    /// The thing with this size of later uses; none if there never was that much.
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

    /// Drop the older half, and the slots of things used again.
    fn sweep(&mut self) {
        let room = self.sums.len() - 1;
        let mut live: Vec<(T, u64)> = std::mem::replace(&mut self.things, Vec::with_capacity(room));
        live.retain(|own| own.1 > 0);
        let gone = live.len().saturating_sub(room / 2);
        live.drain(..gone);
        self.sums.fill(0);
        self.total = 0;
        for (thing, size) in live {
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
            let thing = at.map(|at| list.remove(at));
            // The sweep dropped all that lies deeper than half of the room.
            let seen = recent.at(depth);
            let found = recent.take(depth);
            assert_eq!(seen, found);
            if list.len() < 30 {
                assert_eq!(found, thing.map(|own| own.0), "{number}");
            }
            if list.len() < 25 {
                let size = thing.map_or(1 + random.below(6), |own| own.1);
                list.push((number, size));
                recent.push(number, size);
            }
            assert_eq!(recent.total, list.iter().map(|own| own.1).sum::<u64>());
        }
    }

    #[test]
    fn the_older_half_is_dropped_when_there_is_no_room() {
        let mut recent = Recent::new(8);
        for number in 0..9 {
            recent.push(number, 1);
        }
        assert_eq!(recent.total, 5);
        assert_eq!([0, 3, 3].map(|depth| recent.take(depth)), [Some(8), Some(4), None]);
    }
}
