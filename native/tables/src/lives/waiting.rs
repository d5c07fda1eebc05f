//! What is known of births and their outcomes, until the trace's time has come to tell it.

use super::events::{Create, Event, Subject, Use, What};
use super::inodes::Inodes;
use super::life::{Birth, Bytes};
use birthmark_learn::history::{MARKS, YOUNG};
use birthmark_trace::message::Interner;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// What falls due after a birth, and the order in which it is told of one birth at one time: the
/// marks, the death, the use when it was young.
const DUE: [(i64, u8); 4] = [(MARKS[0], 0), (MARKS[1], 1), (MARKS[2], 2), (YOUNG, USED_YOUNG)];
const DIED: u8 = MARKS.len() as u8;
const USED_YOUNG: u8 = DIED + 1;
const LOST: u8 = USED_YOUNG + 1;

/// A birth that is not told yet.
#[derive(Debug, Serialize, Deserialize)]
pub struct Newborn {
    /// When.
    pub at: i64,
    /// The handle, if it is known.
    pub handle: Option<Bytes>,
    /// What is told of it.
    pub create: Create,
}

/// An end that is not told yet.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ending {
    number: u64,
    born: i64,
    /// When it came to be known.
    pub at: i64,
    how: Fate,
    last: Use,
    early: Use,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Fate {
    Died,
    Lost,
    Unborn,
}

impl Ending {
    /// The end of a life that is known now, with its last use and that when it was young.
    pub fn new(birth: Birth, now: i64, died: Option<i64>, (last, early): (Use, Use)) -> Ending {
        let how = if died.is_some() { Fate::Died } else { Fate::Lost };
        let at = died.unwrap_or(now).max(birth.at);
        Ending { number: birth.number, born: birth.at, at, how, last, early }
    }

    /// Of what was no birth.
    pub fn unborn(birth: Birth, now: i64) -> Ending {
        let ending = Ending::new(birth, now, None, Default::default());
        Ending { how: Fate::Unborn, ..ending }
    }
}

/// A birth that was told, of which something may fall due.
#[derive(Debug, Serialize, Deserialize)]
struct Recent {
    born: i64,
    /// The number that it came with.
    number: u64,
    /// Whether nothing falls due any more.
    over: bool,
}

/// Births of one subject and their outcomes.
///
/// Births get numbers as they come, which inodes keep. Those of one instant may be told in another
/// order, by which they are counted anew: these numbers are told.
#[derive(Debug, Serialize, Deserialize)]
pub struct Waiting {
    subject: Subject,
    most: u64,
    /// How many came, and how many were told.
    came: u64,
    told: u64,
    newborn: Vec<(u64, Newborn)>,
    ended: Vec<Ending>,
    /// The last that were told.
    recent: VecDeque<Recent>,
    /// The first whose mark (or other due) was not told yet.
    next: [u64; DUE.len()],
    /// The numbers told, of births for which they are not those with which they came.
    told_as: BTreeMap<u64, u64>,
    dropped: u64,
    /// When the first of what waits falls due; the end of time if nothing does.
    due: i64,
}

type Outcome = (u64, u8, i64, What);

impl Waiting {
    /// Nothing yet; the outcomes of so many births are awaited.
    pub fn new(subject: Subject, most: usize) -> Waiting {
        Waiting {
            subject,
            most: (most as u64).max(1),
            came: 0,
            told: 0,
            newborn: Vec::new(),
            ended: Vec::new(),
            recent: VecDeque::new(),
            next: [0; DUE.len()],
            told_as: BTreeMap::new(),
            dropped: 0,
            due: i64::MAX,
        }
    }

    /// Takes a birth; gives its number.
    pub fn born(&mut self, newborn: Newborn) -> u64 {
        self.due = self.due.min(newborn.at);
        let number = self.came;
        self.newborn.push((number, newborn));
        self.came += 1;
        number
    }

    /// Takes an end.
    pub fn ended(&mut self, ending: Ending) {
        self.due = self.due.min(ending.at);
        self.ended.push(ending);
    }

    /// How many outcomes were not told, because too many births came after theirs.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// When the first of what waits falls due; the end of time if nothing does.
    #[inline]
    pub fn due(&self) -> i64 {
        self.due
    }

    fn first_due(&self) -> i64 {
        let newborn = self.newborn.iter().map(|(_, newborn)| newborn.at);
        let ended = self.ended.iter().map(|ending| ending.at);
        let recent = self.cursors().filter_map(|which| self.next_due(which));
        newborn.chain(ended).chain(recent).min().unwrap_or(i64::MAX)
    }

    /// Tells what falls due first, all that is known at that time.
    pub fn tell(&mut self, inodes: &mut Inodes, hosts: &Interner, out: &mut Vec<Event>) {
        let (time, first) = (self.due, self.told);
        let newborn = self.take_newborn(time, hosts);
        let mut outcomes = self.take_ended(time);
        self.take_due(time, inodes, &mut outcomes);
        outcomes.sort_unstable_by_key(|outcome| (outcome.0, outcome.1));
        let subject = self.subject;
        let outcome = |(birth, _, at, what)| Event { subject, birth, at, what };
        let mut outcomes = outcomes.into_iter().peekable();
        for (birth, newborn) in (first..).zip(newborn) {
            while let Some(before) = outcomes.next_if(|outcome| outcome.0 < birth) {
                out.push(outcome(before));
            }
            let what = What::Born(Box::new(newborn.create));
            out.push(Event { subject, birth, at: newborn.at, what });
        }
        out.extend(outcomes.map(outcome));
        self.forget(inodes);
        self.due = self.first_due();
    }

    /// The births of a time, in their order.
    fn take_newborn(&mut self, time: i64, hosts: &Interner) -> Vec<Newborn> {
        let mut taken: Vec<_> = self.newborn.extract_if(.., |(_, each)| each.at <= time).collect();
        if taken.len() > 1 {
            taken.sort_by(|(_, a), (_, b)| a.key(hosts).cmp(&b.key(hosts)));
        }
        taken.into_iter().map(|(number, newborn)| self.count(number, newborn)).collect()
    }

    /// Gives a birth the next number that is told.
    fn count(&mut self, number: u64, newborn: Newborn) -> Newborn {
        if number != self.told {
            self.told_as.insert(number, self.told);
        }
        self.told += 1;
        // a clock that goes back stands still, so that what falls due does so in the births' order
        let born = self.recent.back().map_or(newborn.at, |last| last.born.max(newborn.at));
        self.recent.push_back(Recent { born, number, over: false });
        newborn
    }

    /// What the ends of a time tell.
    fn take_ended(&mut self, time: i64) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        let ended: Vec<Ending> = self.ended.extract_if(.., |each| each.at <= time).collect();
        for ending in ended {
            let birth = self.told_as.remove(&ending.number).unwrap_or(ending.number);
            if birth.saturating_add(self.most) < self.told {
                self.dropped += 1;
                continue;
            }
            self.outcomes(birth, &ending, &mut outcomes);
            if let Some(recent) = self.recent(birth).filter(|_| ending.how != Fate::Lost) {
                recent.over = true;
            }
        }
        outcomes
    }

    /// What an end tells.
    fn outcomes(&self, birth: u64, ending: &Ending, out: &mut Vec<Outcome>) {
        let mut tell = |order, what| out.push((birth, order, ending.at, what));
        if ending.how != Fate::Died {
            return tell(LOST, What::Lost);
        }
        let life = ending.at.saturating_sub(ending.born);
        for (which, (after, order)) in DUE.into_iter().enumerate() {
            if birth < self.next[which] {
                continue; // told when it fell due
            }
            match MARKS.get(which) {
                Some(_) => tell(order, What::Mark(which, life <= after)),
                None if self.subject == Subject::File && life <= after => {
                    tell(order, What::Young(Box::new(ending.early)))
                }
                None => {}
            }
        }
        tell(DIED, What::Died(life, Box::new(ending.last)));
    }

    /// What falls due at a time.
    fn take_due(&mut self, time: i64, inodes: &mut Inodes, out: &mut Vec<Outcome>) {
        for which in self.cursors() {
            while let Some(due) = self.next_due(which).filter(|due| *due <= time) {
                let (birth, order) = (self.next[which], DUE[which].1);
                self.next[which] += 1;
                let Some(recent) = self.recent(birth) else {
                    continue;
                };
                let (number, over) = (recent.number, recent.over);
                let what = match MARKS.get(which) {
                    Some(_) => What::Mark(which, false),
                    None => What::Young(Box::new(inodes.unwatch(number))),
                };
                if !over {
                    out.push((birth, order, due, what));
                }
            }
        }
    }

    /// Forgets the births of which nothing falls due any more, and those that are too many.
    fn forget(&mut self, inodes: &mut Inodes) {
        let due = self.cursors().map(|which| self.next[which]).min().unwrap_or(self.told);
        while self.first() < due || self.recent.len() as u64 > self.most {
            let first = self.first();
            let Some(recent) = self.recent.pop_front() else {
                return;
            };
            if self.subject == Subject::File {
                inodes.unwatch(recent.number);
            }
            let cursors = self.cursors();
            for next in &mut self.next[cursors] {
                if *next <= first {
                    *next = first + 1;
                    self.dropped += u64::from(!recent.over);
                }
            }
        }
        while let Some(oldest) = self.told_as.first_entry() {
            if oldest.key().saturating_add(self.most) >= self.came {
                return;
            }
            oldest.remove();
        }
    }

    /// What falls due of this subject's births: of names, not how their files were used.
    fn cursors(&self) -> std::ops::Range<usize> {
        0..DUE.len() - usize::from(self.subject == Subject::Name)
    }

    /// When that falls due of the next birth.
    fn next_due(&self, which: usize) -> Option<i64> {
        let place = self.next[which].checked_sub(self.first())?;
        Some(self.recent.get(place as usize)?.born.saturating_add(DUE[which].0))
    }

    /// The number of the first birth of which something may fall due.
    fn first(&self) -> u64 {
        self.told.saturating_sub(self.recent.len() as u64)
    }

    fn recent(&mut self, birth: u64) -> Option<&mut Recent> {
        let place = birth.checked_sub(self.first())?;
        self.recent.get_mut(place as usize)
    }
}

impl Newborn {
    /// What orders births of one instant.
    fn key<'a>(&'a self, hosts: &'a Interner) -> impl Ord + 'a {
        let server = hosts.names().get(self.create.server as usize);
        (server, &self.create.dir_fh, &self.create.name, &self.handle)
    }
}
