//! Births and their outcomes, pending until the trace's time is reached.

use super::events::{Create, Event, Subject, Uses, What};
use super::inodes::Inodes;
use super::life::{Birth, Bytes};
use birthmark_learn::history::{MARKS, YOUNG};
use birthmark_trace::message::Interner;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Deadlines after a birth, in the order in which events with equal time are emitted: the marks,
/// the death, the use while young, the use until the last mark.
const DUE: [(i64, u8); 4] = [(MARKS[0], 0), (MARKS[1], 1), (MARKS[2], 2), (YOUNG, USED_YOUNG)];
const DIED: u8 = MARKS.len() as u8;
const USED_YOUNG: u8 = DIED + 1;
const USED: u8 = USED_YOUNG + 1;
const LOST: u8 = USED + 1;

/// A birth that was not emitted yet.
#[derive(Debug, Serialize, Deserialize)]
pub struct Newborn {
    /// Its time.
    pub at: i64,
    /// The handle, if known.
    pub handle: Option<Bytes>,
    /// The event's content.
    pub create: Create,
}

/// An end that was not emitted yet.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ending {
    number: u64,
    born: i64,
    /// When it became known.
    pub at: i64,
    how: Fate,
    uses: Uses,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Fate {
    Died,
    Lost,
    Unborn,
}

impl Ending {
    /// Returns the end of a life, with its use.
    pub fn new(birth: Birth, now: i64, died: Option<i64>, uses: Uses) -> Ending {
        let how = if died.is_some() { Fate::Died } else { Fate::Lost };
        let at = died.unwrap_or(now).max(birth.at);
        Ending { number: birth.number, born: birth.at, at, how, uses }
    }

    /// Returns a retraction of a birth.
    pub fn unborn(birth: Birth, now: i64) -> Ending {
        let ending = Ending::new(birth, now, None, Uses::default());
        Ending { how: Fate::Unborn, ..ending }
    }
}

/// An emitted birth with deadlines ahead.
#[derive(Debug, Serialize, Deserialize)]
struct Recent {
    born: i64,
    /// Its number on arrival.
    number: u64,
    /// Whether no deadline is ahead.
    over: bool,
}

/// Births of one subject and their outcomes.
///
/// Births get numbers on arrival, which inodes hold. Births of one instant may be emitted in
/// another order, so emitted events carry numbers counted in the order of emission.
#[derive(Debug, Serialize, Deserialize)]
pub struct PendingEvents {
    subject: Subject,
    most: u64,
    /// The number of births arrived, and of births emitted.
    next_id: u64,
    emitted: u64,
    newborn: Vec<(u64, Newborn)>,
    ended: Vec<Ending>,
    /// The last emitted births.
    recent: VecDeque<Recent>,
    /// For each deadline, the first birth for which it is ahead.
    next: [u64; DUE.len()],
    /// Numbers of emission that differ from those on arrival.
    emitted_as: BTreeMap<u64, u64>,
    dropped: u64,
    /// The first deadline of all pending events; the end of time if there is none.
    due: i64,
}

type Outcome = (u64, u8, i64, What);

impl PendingEvents {
    /// Returns an empty queue; outcomes are awaited for the last `most` births.
    pub fn new(subject: Subject, most: usize) -> PendingEvents {
        PendingEvents {
            subject,
            most: (most as u64).max(1),
            next_id: 0,
            emitted: 0,
            newborn: Vec::new(),
            ended: Vec::new(),
            recent: VecDeque::new(),
            next: [0; DUE.len()],
            emitted_as: BTreeMap::new(),
            dropped: 0,
            due: i64::MAX,
        }
    }

    /// Adds a birth; returns its number.
    pub fn born(&mut self, newborn: Newborn) -> u64 {
        self.due = self.due.min(newborn.at);
        let number = self.next_id;
        self.newborn.push((number, newborn));
        self.next_id += 1;
        number
    }

    /// The births that were not emitted yet.
    pub fn creates(&self) -> impl Iterator<Item = &Create> {
        self.newborn.iter().map(|(_, newborn)| &newborn.create)
    }

    /// Adds an end.
    pub fn ended(&mut self, ending: Ending) {
        self.due = self.due.min(ending.at);
        self.ended.push(ending);
    }

    /// The number of outcomes not emitted because too many births followed.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The first deadline of all pending events; the end of time if there is none.
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

    /// Emits all events of the first deadline.
    pub fn emit(&mut self, inodes: &mut Inodes, hosts: &Interner, out: &mut Vec<Event>) {
        let (time, first) = (self.due, self.emitted);
        let newborn = self.take_newborn(time, hosts);
        let mut outcomes = self.take_ended(time, inodes);
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
        let mut due_births: Vec<_> =
            self.newborn.extract_if(.., |(_, each)| each.at <= time).collect();
        if due_births.len() > 1 {
            due_births.sort_by(|(_, a), (_, b)| a.key(hosts).cmp(&b.key(hosts)));
        }
        due_births.into_iter().map(|(number, newborn)| self.count(number, newborn)).collect()
    }

    /// Gives a birth the next number of emission.
    fn count(&mut self, number: u64, newborn: Newborn) -> Newborn {
        if number != self.emitted {
            self.emitted_as.insert(number, self.emitted);
        }
        self.emitted += 1;
        // a clock that goes back stands still, so that deadlines stay in the births' order
        let born = self.recent.back().map_or(newborn.at, |last| last.born.max(newborn.at));
        self.recent.push_back(Recent { born, number, over: false });
        newborn
    }

    /// The outcomes of the ends of a time.
    fn take_ended(&mut self, time: i64, inodes: &mut Inodes) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        let ended: Vec<Ending> = self.ended.extract_if(.., |each| each.at <= time).collect();
        for ending in ended {
            let birth = self.emitted_as.remove(&ending.number).unwrap_or(ending.number);
            if birth.saturating_add(self.most) < self.emitted {
                self.dropped += 1;
                continue;
            }
            self.outcomes(birth, &ending, &mut outcomes);
            if let Some(recent) = self.recent(birth).filter(|_| ending.how != Fate::Lost) {
                recent.over = true;
                if self.subject == Subject::File {
                    inodes.unwatch(ending.number);
                }
            }
        }
        outcomes
    }

    /// The outcomes of an end.
    fn outcomes(&self, birth: u64, ending: &Ending, out: &mut Vec<Outcome>) {
        let mut tell = |order, what| out.push((birth, order, ending.at, what));
        if ending.how != Fate::Died {
            return tell(LOST, What::Lost);
        }
        let life = ending.at.saturating_sub(ending.born);
        for (which, (after, order)) in DUE.into_iter().enumerate() {
            if birth < self.next[which] {
                continue; // emitted at its deadline
            }
            match MARKS.get(which) {
                Some(_) => tell(order, What::Mark(which, life <= after)),
                None if self.subject == Subject::File && life <= after => {
                    tell(order, What::Young(Box::new(ending.uses.early)))
                }
                None => {}
            }
        }
        tell(DIED, What::Died(life, Box::new(ending.uses.last)));
    }

    /// The outcomes due at a time.
    fn take_due(&mut self, time: i64, inodes: &mut Inodes, out: &mut Vec<Outcome>) {
        for which in self.cursors() {
            while let Some(due) = self.next_due(which).filter(|due| *due <= time) {
                let (birth, order) = (self.next[which], DUE[which].1);
                self.next[which] += 1;
                let Some(recent) = self.recent(birth) else {
                    continue;
                };
                let number = recent.number;
                if recent.over {
                    continue;
                }
                let what = match MARKS.get(which) {
                    Some(_) => What::Mark(which, false),
                    None => What::Young(Box::new(inodes.uses(number).early)),
                };
                out.push((birth, order, due, what));
                if self.subject == Subject::File && which == MARKS.len() - 1 {
                    out.push((birth, USED, due, What::Used(Box::new(inodes.uses(number).last))));
                }
            }
        }
    }

    /// Drops births without deadlines ahead, and surplus ones.
    fn forget(&mut self, inodes: &mut Inodes) {
        let due = self.cursors().map(|which| self.next[which]).min().unwrap_or(self.emitted);
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
        while let Some(oldest) = self.emitted_as.first_entry() {
            if oldest.key().saturating_add(self.most) >= self.next_id {
                return;
            }
            oldest.remove();
        }
    }

    /// The deadlines of this subject's births: names have no early use.
    fn cursors(&self) -> std::ops::Range<usize> {
        0..DUE.len() - usize::from(self.subject == Subject::Name)
    }

    /// The deadline of the next birth.
    fn next_due(&self, which: usize) -> Option<i64> {
        let place = self.next[which].checked_sub(self.first())?;
        Some(self.recent.get(place as usize)?.born.saturating_add(DUE[which].0))
    }

    /// The number of the first birth that may have a deadline ahead.
    fn first(&self) -> u64 {
        self.emitted.saturating_sub(self.recent.len() as u64)
    }

    fn recent(&mut self, birth: u64) -> Option<&mut Recent> {
        let place = birth.checked_sub(self.first())?;
        self.recent.get_mut(place as usize)
    }
}

impl Newborn {
    /// The order of births of one instant.
    fn key<'a>(&'a self, hosts: &'a Interner) -> impl Ord + 'a {
        let server = hosts.names().get(self.create.server as usize);
        (server, &self.create.dir_fh, &self.create.name, &self.handle)
    }
}
