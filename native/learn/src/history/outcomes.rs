//! The outcomes of lives, in the order in which they are known.

use super::births::Lives;
use super::record::{Fact, MARKS};

/// The age of a file's early size and use (`early_size` and the others), microseconds.
pub const YOUNG: i64 = 5_000_000;
/// The kinds of outcomes: one for each mark, then these.
const DIED: u8 = MARKS.len() as u8;
const USED_YOUNG: u8 = DIED + 1;
const USED: u8 = DIED + 2;

/// A fact about a birth, and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The time.
    pub time: i64,
    /// The number of the birth, in their order.
    pub birth: u64,
    /// The fact.
    pub fact: Fact,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    time: i64,
    place: u32,
    what: u8,
}

/// The outcomes of lives whose births are in that order.
pub struct Outcomes<'a> {
    lives: &'a Lives<'a>,
    order: &'a [u32],
    due: std::iter::Peekable<std::vec::IntoIter<Due>>,
}

impl<'a> Outcomes<'a> {
    /// All of them.
    pub fn new(lives: &'a Lives<'a>, order: &'a [u32]) -> Outcomes<'a> {
        let mut due = Vec::with_capacity(order.len() * usize::from(USED));
        for (place, &row) in (0..).zip(order) {
            let (born, died) = (lives.born(row as usize), lives.died(row as usize));
            let by = |mark: i64| {
                let mark = born.saturating_add(mark);
                died.map_or(mark, |died| died.min(mark))
            };
            due.extend((0..).zip(MARKS).map(|(what, mark)| Due { time: by(mark), place, what }));
            due.extend(died.map(|time| Due { time, place, what: DIED }));
            let young = lives.have_early().then_some(by(YOUNG));
            due.extend(young.map(|time| Due { time, place, what: USED_YOUNG }));
            let old = died.filter(|_| young != died);
            due.extend(old.map(|time| Due { time, place, what: USED }));
        }
        due.sort_unstable();
        Outcomes { lives, order, due: due.into_iter().peekable() }
    }

    /// The next outcome known at a time, of a birth before that place, if there is one.
    #[inline]
    pub fn next_before(&mut self, time: i64, place: usize) -> Option<Outcome> {
        let due = self.due.next_if(|due| due.time <= time && (due.place as usize) < place)?;
        let place = due.place as usize;
        let fact = self.fact(self.order[place] as usize, due.what);
        Some(Outcome { time: due.time, birth: u64::from(due.place), fact })
    }

    fn fact(&self, row: usize, what: u8) -> Fact {
        let life = self.lives.died(row).map(|died| died.saturating_sub(self.lives.born(row)));
        match MARKS.get(usize::from(what)) {
            Some(&mark) => Fact::Mark(usize::from(what), life.is_some_and(|life| life <= mark)),
            None if what == DIED => Fact::Died(life.unwrap_or(i64::MAX)),
            None if what == USED_YOUNG => Fact::Used(self.lives.early_use(row)),
            None => Fact::Used(self.lives.last_use(row)),
        }
    }
}
