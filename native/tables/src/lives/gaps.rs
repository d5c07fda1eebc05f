//! When calls were lost, and which lives were used near such a time.

use super::life::Operation;
use birthmark_trace::message::WINDOW;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How near in time a loss is to a use that it may have to do with, in microseconds. Chosen by
/// `benchmarks/loss.py`: programs use a file by several calls within milliseconds.
pub const NEAR: i64 = 50_000;

/// A loss is known when its call is given up, at the latest, in microseconds.
pub const SETTLED: i64 = WINDOW + 2_000_000;

/// Uses that are not yet settled are looked at when there are so many.
const USES: usize = 8;

/// The most times of losses that are kept apart: beyond, neighbours become one.
const MOST: usize = if cfg!(test) { 1 << 10 } else { 1 << 20 };

type Span = (i64, i64);

/// The times in which a client's calls to a server were lost, or the answer to a call that may
/// have told of a file that no name in it tells of.
#[derive(Default, Serialize, Deserialize)]
pub struct Gaps {
    near: i64,
    spans: HashMap<(u32, u32), Vec<Span>>,
    /// Times in which calls of everyone may have been lost.
    everyone: Vec<Span>,
    count: usize,
    now: i64,
}

impl Gaps {
    /// No gaps; those near within so many microseconds touch a life.
    pub fn new(near: i64) -> Gaps {
        Gaps { near, now: i64::MIN, ..Gaps::default() }
    }

    /// Within how many microseconds they touch a life.
    pub fn reach(&self) -> i64 {
        self.near
    }

    /// Moves the trace's time on.
    pub fn advance(&mut self, now: i64) {
        self.now = self.now.max(now);
    }

    /// The trace's time.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Adds a time of loss, of calls of one client to a server.
    pub fn add(&mut self, server: u32, client: u32, span: Span) {
        let spans = self.spans.entry((server, client)).or_default();
        let before = spans.len();
        add(spans, span, self.near);
        self.count = self.count + spans.len() - before;
        self.bound();
    }

    /// Adds a time of loss of which nobody knows whose calls were lost.
    pub fn add_everyone(&mut self, span: Span) {
        let before = self.everyone.len();
        add(&mut self.everyone, span, self.near);
        self.count = self.count + self.everyone.len() - before;
        self.bound();
    }

    fn bound(&mut self) {
        if self.count > MOST {
            self.coarsen();
        }
    }

    /// Whether calls were lost near a time.
    pub fn near(&self, server: u32, client: u32, span: Span) -> bool {
        let own = self.spans.get(&(server, client)).is_some_and(|own| near(own, span, self.near));
        own || near(&self.everyone, span, self.near)
    }

    /// Joins neighbours, so that more lives seem touched, and none less.
    fn coarsen(&mut self) {
        self.count = 0;
        for spans in self.spans.values_mut().chain([&mut self.everyone]) {
            *spans = spans.chunks(2).map(|pair| (pair[0].0, pair[pair.len() - 1].1)).collect();
            self.count += spans.len();
        }
    }
}

/// Adds a time to others, joined with those that are as good as next to it.
fn add(spans: &mut Vec<Span>, (since, until): Span, margin: i64) {
    let reach = margin.saturating_mul(2);
    let first = spans.partition_point(|span| span.1.saturating_add(reach) < since);
    let behind = spans.partition_point(|span| span.0.saturating_sub(reach) <= until);
    let joined = spans[first..behind]
        .iter()
        .fold((since, until), |joined, span| (joined.0.min(span.0), joined.1.max(span.1)));
    spans.splice(first..behind, [joined]);
}

/// Whether a time is near one of others.
fn near(spans: &[Span], (since, until): Span, margin: i64) -> bool {
    let first = spans.partition_point(|span| span.1.saturating_add(margin) < since);
    spans.get(first).is_some_and(|span| span.0.saturating_sub(margin) <= until)
}

/// When a client used a file.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Use {
    client: u32,
    span: Span,
}

/// Whether loss may have touched a life.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Touch {
    lost: bool,
    last: Option<Use>,
    earlier: Vec<Use>,
}

impl Touch {
    /// It was: a call that named it was not answered.
    pub fn mark(&mut self) {
        *self = Touch { lost: true, ..Touch::default() };
    }

    /// Takes a use of the file.
    #[inline]
    pub fn used(&mut self, op: &Operation, gaps: &Gaps) {
        if self.lost {
            return;
        }
        let (client, span) = (op.caller.client, (op.time.min(op.at), op.at));
        if let Some(last) = &mut self.last {
            let near = span.0.saturating_sub(last.span.1) <= 2 * gaps.near;
            if last.client == client && near {
                last.span = (last.span.0.min(span.0), last.span.1.max(span.1));
                return;
            }
            self.earlier.push(*last);
            if self.earlier.len() >= USES {
                self.settle(op.server, gaps);
            }
        }
        self.last = Some(Use { client, span });
    }

    /// Whether loss touched it, as far as is known by now.
    pub fn lost(&self, server: u32, gaps: &Gaps) -> bool {
        let mut uses = self.last.iter().chain(&self.earlier);
        self.lost || uses.any(|each| gaps.near(server, each.client, each.span))
    }

    /// Adds what was known of the same file under another life.
    pub fn join(&mut self, other: Touch) {
        self.lost |= other.lost;
        self.earlier.extend(other.last);
        self.earlier.extend(other.earlier);
    }

    /// Lets go of uses of which all is known, and makes room: a client's two oldest become one.
    fn settle(&mut self, server: u32, gaps: &Gaps) {
        if self.lost(server, gaps) {
            return self.mark();
        }
        let settled = gaps.now.saturating_sub(SETTLED);
        self.earlier.retain(|each| each.span.1 >= settled);
        if self.earlier.len() >= USES {
            let first = self.earlier[0];
            let same = |each: &Use| each.client == first.client;
            if let Some(at) = self.earlier[1..].iter().position(same) {
                let second = self.earlier.remove(at + 1).span;
                let span = (first.span.0.min(second.0), first.span.1.max(second.1));
                self.earlier[0].span = span;
            } else {
                self.earlier.rotate_left(1);
            }
        }
    }
}

/// What was named by calls that were not answered, by its hash, for as long as rows wait.
#[derive(Default, Serialize, Deserialize)]
pub struct Unanswered {
    /// By hash: the latest such call, and when it was noted last.
    asked: HashMap<u64, (i64, i64)>,
    order: VecDeque<(i64, u64)>,
}

impl Unanswered {
    /// Notes, at some time, that a call at an earlier one was not answered.
    pub fn add(&mut self, hash: u64, call: i64, now: i64) {
        let known = self.asked.entry(hash).or_insert((call, now));
        *known = (known.0.max(call), now);
        self.order.push_back((now, hash));
    }

    /// Whether one that named this was made up to a time.
    pub fn before(&self, hash: u64, time: i64) -> bool {
        self.asked.get(&hash).is_some_and(|(call, _)| *call <= time)
    }

    /// Forgets what was noted before a time.
    pub fn forget(&mut self, before: i64) {
        while let Some(&(noted, hash)) = self.order.front().filter(|(noted, _)| *noted < before) {
            self.order.pop_front();
            if self.asked.get(&hash).is_some_and(|known| known.1 <= noted) {
                self.asked.remove(&hash);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lives::life::Caller;

    fn operation(time: i64, client: u32) -> Operation {
        let caller = Caller { uid: None, gid: None, client };
        Operation { server: 1, time, at: time + 10, caller }
    }

    #[test]
    fn gaps_are_near_up_to_the_margin_and_for_their_client_alone() {
        let mut gaps = Gaps::new(100);
        for (since, until) in [(1000, 1050), (5000, 5000), (1200, 1210), (4000, 4001)] {
            gaps.add(1, 2, (since, until));
        }
        assert_eq!(gaps.spans[&(1, 2)], [(1000, 1210), (4000, 4001), (5000, 5000)]);
        for (span, near) in [
            ((899, 899), false),
            ((0, 900), true),
            ((1310, 1310), true),
            ((1311, 3899), false),
            ((4500, 9000), true),
            ((5101, 9000), false),
        ] {
            assert_eq!(gaps.near(1, 2, span), near, "{span:?}");
        }
        assert!(!gaps.near(1, 3, (1000, 1000)) && !gaps.near(2, 2, (1000, 1000)));
    }

    #[test]
    fn a_life_is_touched_by_losses_near_its_uses_whenever_they_come_to_be_known() {
        let mut gaps = Gaps::new(100);
        let (mut early, mut late) = (Touch::default(), Touch::default());
        early.used(&operation(1000, 2), &gaps);
        late.used(&operation(3000, 2), &gaps);
        gaps.add(1, 2, (1090, 1095));
        assert!(early.lost(1, &gaps) && !late.lost(1, &gaps));
        gaps.add(1, 2, (2950, 2950));
        assert!(late.lost(1, &gaps));
    }

    #[test]
    fn however_often_a_file_is_used_little_is_kept_and_nothing_forgotten() {
        let mut gaps = Gaps::new(100);
        let mut touch = Touch::default();
        for i in 0..10_000 {
            let time = i * SETTLED / 4;
            gaps.advance(time);
            touch.used(&operation(time, i as u32 % 2), &gaps);
            assert!(touch.earlier.len() <= USES);
        }
        assert!(!touch.lost(1, &gaps));
        gaps.add(1, 1, (9_999 * SETTLED / 4, 9_999 * SETTLED / 4));
        assert!(touch.lost(1, &gaps));
        let (mut gaps, mut busy) = (Gaps::new(100), Touch::default());
        gaps.advance(0);
        for i in 0..100 {
            busy.used(&operation(i * 1000, 2), &gaps);
        }
        assert!(busy.earlier.len() <= USES);
        gaps.add(1, 2, (3000, 3000));
        assert!(busy.lost(1, &gaps));
    }

    #[test]
    fn gaps_beyond_number_are_joined() {
        let mut gaps = Gaps::new(1);
        for i in 0..=MOST as i64 {
            gaps.add(1, 2, (100 * i, 100 * i));
        }
        assert!(gaps.count <= MOST / 2 + 1);
        assert!(gaps.near(1, 2, (100, 100)));
    }
}
