//! Times of lost calls, and the lives used near them.

use super::life::Operation;
use birthmark_trace::budget::{Budget, Part};
use birthmark_trace::message::WINDOW;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The greatest distance between a loss and an affected use, in microseconds. Chosen by
/// `benchmarks/loss.py`: programs use a file by several calls within milliseconds.
pub const NEAR: i64 = 50_000;

/// The latest delay until a loss is known: when its call is given up, in microseconds.
pub const SETTLED: i64 = WINDOW + 2_000_000;

/// The number of unsettled uses that triggers settling.
const USES: usize = 8;

/// The most clients of one file within a minute; beyond, a loss cannot be attributed.
const CLIENTS: usize = 4096;

/// The bytes of a time of loss, and the overhead per client.
const SPAN: usize = 16;
const CLIENT: usize = 128;
/// The bytes of an entry for an unanswered call.
const NAMED: usize = 64;

type Span = (i64, i64);

/// Times in which a client's calls to a server were lost, or the reply to a call that may have
/// introduced a file that the call does not name.
#[derive(Default, Serialize, Deserialize)]
pub struct Gaps {
    near: i64,
    spans: HashMap<(u32, u32), Vec<Span>>,
    /// Times in which calls of all clients may have been lost.
    everyone: Vec<Span>,
    count: usize,
    now: i64,
    /// The most bytes of them: beyond, neighbours are merged.
    #[serde(skip)]
    most: usize,
}

impl Gaps {
    /// Returns an empty list; gaps within `near` microseconds touch a life.
    pub fn new(near: i64) -> Gaps {
        let mut gaps = Gaps { near, now: i64::MIN, ..Gaps::default() };
        gaps.limit(Budget::default());
        gaps
    }

    /// Applies a memory budget from now on.
    pub fn limit(&mut self, budget: Budget) {
        self.most = budget.share(Part::Gaps);
    }

    /// The servers and clients in use.
    pub fn hosts(&self) -> impl Iterator<Item = &(u32, u32)> {
        self.spans.keys()
    }

    /// The distance within which gaps touch a life, microseconds.
    pub fn reach(&self) -> i64 {
        self.near
    }

    /// Advances the trace's time.
    pub fn advance(&mut self, now: i64) {
        self.now = self.now.max(now);
    }

    /// The trace's time.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Adds a time in which calls of one client to a server were lost.
    pub fn add(&mut self, server: u32, client: u32, span: Span) {
        let spans = self.spans.entry((server, client)).or_default();
        let before = spans.len();
        add(spans, span, self.near);
        self.count = self.count + spans.len() - before;
        self.bound();
    }

    /// Adds a time in which calls of unknown clients were lost.
    pub fn add_everyone(&mut self, span: Span) {
        let before = self.everyone.len();
        add(&mut self.everyone, span, self.near);
        self.count = self.count + self.everyone.len() - before;
        self.bound();
    }

    fn bound(&mut self) {
        if self.memory() > self.most {
            self.coarsen();
        }
        if self.memory() > self.most {
            self.merge_clients();
        }
    }

    fn memory(&self) -> usize {
        SPAN * self.count + CLIENT * self.spans.len()
    }

    /// Merges the gaps of all clients, since too many clients lost calls.
    fn merge_clients(&mut self) {
        let mut all = std::mem::take(&mut self.everyone);
        all.extend(self.spans.drain().flat_map(|(_, spans)| spans));
        all.sort_unstable();
        let apart = (self.most / SPAN / 2).max(1);
        let joined = |some: &[Span]| {
            let until = some.iter().map(|span| span.1).max();
            (some[0].0, until.unwrap_or(some[0].1))
        };
        let few = all.chunks(all.len().div_ceil(apart).max(1)).map(joined);
        for span in few {
            add(&mut self.everyone, span, self.near);
        }
        self.count = self.everyone.len();
    }

    /// Whether calls were lost near a time.
    pub fn near(&self, server: u32, client: u32, span: Span) -> bool {
        let own = self.spans.get(&(server, client)).is_some_and(|own| near(own, span, self.near));
        own || near(&self.everyone, span, self.near)
    }

    /// Merges neighbours, so that more lives seem touched, and none less.
    fn coarsen(&mut self) {
        self.count = 0;
        for spans in self.spans.values_mut().chain([&mut self.everyone]) {
            *spans = spans.chunks(2).map(|pair| (pair[0].0, pair[pair.len() - 1].1)).collect();
            self.count += spans.len();
        }
    }
}

/// Adds a time, merged with adjacent ones.
fn add(spans: &mut Vec<Span>, (since, until): Span, margin: i64) {
    let reach = margin.saturating_mul(2);
    let first = spans.partition_point(|span| span.1.saturating_add(reach) < since);
    let behind = spans.partition_point(|span| span.0.saturating_sub(reach) <= until);
    let joined = spans[first..behind]
        .iter()
        .fold((since, until), |joined, span| (joined.0.min(span.0), joined.1.max(span.1)));
    spans.splice(first..behind, [joined]);
}

/// Whether a time is near one of `spans`.
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

/// Evidence of whether loss touched a life.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Touch {
    lost: bool,
    last: Option<Use>,
    earlier: Vec<Use>,
}

impl Touch {
    /// Marks the life as touched: a call that named it was not answered.
    pub fn mark(&mut self) {
        *self = Touch { lost: true, ..Touch::default() };
    }

    /// The heap bytes.
    pub fn memory(&self) -> usize {
        self.earlier.capacity() * size_of::<Use>()
    }

    /// The clients in use.
    pub fn clients(&self) -> impl Iterator<Item = u32> + '_ {
        self.last.iter().chain(&self.earlier).map(|each| each.client)
    }

    /// Records a use of the file.
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

    /// Whether loss touched it, as far as known.
    pub fn lost(&self, server: u32, gaps: &Gaps) -> bool {
        let mut uses = self.last.iter().chain(&self.earlier);
        self.lost || uses.any(|each| gaps.near(server, each.client, each.span))
    }

    /// Adds the evidence of another life of the same file.
    pub fn join(&mut self, other: Touch) {
        self.lost |= other.lost;
        self.earlier.extend(other.last);
        self.earlier.extend(other.earlier);
    }

    /// Drops settled uses, and makes room by merging a client's two oldest.
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
            } else if self.earlier.len() > CLIENTS {
                self.mark();
            } else {
                self.earlier.rotate_left(1);
            }
        }
    }
}

/// Objects named by unanswered calls, by hash, for as long as rows are pending.
#[derive(Default, Serialize, Deserialize)]
pub struct Unanswered {
    /// By hash: the latest such call, and when it was last recorded.
    asked: HashMap<u64, (i64, i64)>,
    order: VecDeque<(i64, u64)>,
    #[serde(skip)]
    most: usize,
    /// The number evicted early.
    #[serde(skip)]
    pub evicted: u64,
}

impl Unanswered {
    /// Applies a memory budget from now on.
    pub fn limit(&mut self, budget: Budget) {
        self.most = budget.share(Part::Unanswered) / NAMED;
    }

    /// Records at time `now` that an earlier call was not answered.
    pub fn add(&mut self, hash: u64, call: i64, now: i64) {
        let known = self.asked.entry(hash).or_insert((call, now));
        *known = (known.0.max(call), now);
        self.order.push_back((now, hash));
        if self.order.len() > self.most {
            self.evicted += 1;
            self.forget_first();
        }
    }

    /// Whether such a call named this hash up to a time.
    pub fn before(&self, hash: u64, time: i64) -> bool {
        self.asked.get(&hash).is_some_and(|(call, _)| *call <= time)
    }

    /// Drops entries recorded before a time.
    pub fn forget(&mut self, before: i64) {
        while self.order.front().is_some_and(|(noted, _)| *noted < before) {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some((noted, hash)) = self.order.pop_front() {
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
    fn memory_for_uses_is_bounded_and_no_use_is_lost() {
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
        gaps.most = 1024 * SPAN + CLIENT;
        for i in 0..=1024 {
            gaps.add(1, 2, (100 * i, 100 * i));
        }
        assert!(gaps.count <= 1024 / 2 + 1);
        assert!(gaps.near(1, 2, (100, 100)));
    }

    #[test]
    fn gaps_of_more_clients_than_there_is_memory_for_are_those_of_everyone() {
        let mut gaps = Gaps::new(1);
        gaps.most = 100 * CLIENT;
        for client in 0..1000 {
            let time = i64::from(client) * 1000;
            gaps.add(1, client, (time, time));
            assert!(gaps.memory() <= gaps.most);
        }
        assert!((0..1000).all(|client| gaps.near(1, client, (i64::from(client) * 1000, 1 << 40))));
    }

    #[test]
    fn a_file_that_too_many_clients_use_counts_as_touched() {
        let (gaps, mut touch) = (Gaps::new(100), Touch::default());
        for client in 0..2 * CLIENTS as u32 {
            touch.used(&operation(1000, client), &gaps);
        }
        assert!(touch.lost && touch.earlier.is_empty());
    }

    #[test]
    fn names_of_unanswered_calls_are_bounded() {
        let mut unanswered = Unanswered { most: 100, ..Unanswered::default() };
        (0..1000).for_each(|hash| unanswered.add(hash, 5, 5));
        assert_eq!((unanswered.asked.len(), unanswered.evicted), (100, 900));
        assert!(unanswered.before(999, 5) && !unanswered.before(0, 5));
    }
}
