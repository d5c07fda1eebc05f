//! The TCP conversations going on, each direction by itself.

use super::counts::CaptureCounts;
use super::messages::{Flow, Messages, Origin};
use super::receiver::Receiver;
use super::stream::{Burden, Segment, Stream};
use crate::budget::{Budget, Part};
use crate::join::Joiner;
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The most directions remembered.
const AT_ONCE: usize = 16_384;

/// The interval, in microseconds of the trace's time, between searches for gaps in silent streams:
/// at its multiples, so that a gap is given up at the same segment wherever reading began, and a
/// follower that goes on repeats no message, …
const SWEEP_TIME: i64 = 250_000;

/// … and the most streams searched per segment: forged times may lie in another interval each. Of
/// ordinary traffic far fewer wait.
const SWEEP_STREAMS: usize = 64;

/// The consumers of messages.
pub type Takers<'a> = (&'a mut Messages, &'a mut Joiner, &'a mut CaptureCounts);

/// The directions of conversations.
#[derive(Debug, Default)]
pub struct Flows {
    streams: HashMap<Flow, Stream>,
    memory: usize,
    /// The streams with segments pending.
    stuck: BTreeSet<Flow>,
    /// The number of segments since the last search for gaps.
    segments: usize,
    /// The interval of the last search for gaps.
    swept: i64,
    budget: Budget,
}

impl Flows {
    /// Applies a memory budget from now on.
    pub fn limit(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// Takes a segment; returns whether its conversation may be RPC.
    pub fn segment(
        &mut self,
        flow: Flow,
        segment: &Segment,
        origin: Origin,
        mut takers: Takers,
    ) -> bool {
        if self.streams.len() >= AT_ONCE || self.memory > self.budget.share(Part::Segments) {
            self.make_room(&mut takers);
        }
        self.sweep(origin.time, &mut takers);
        if let (true, Some(sequence)) = (!self.stuck.is_empty(), segment.acknowledged) {
            let other = Flow { from: flow.to, to: flow.from, ..flow };
            if let Some(stream) = self.streams.get_mut(&other) {
                let before = stream.burden();
                stream.acknowledged(sequence, &mut receiver(other, &mut takers));
                let after = stream.burden();
                self.reckon(other, before, after);
            }
        }
        let stream = self.streams.entry(flow).or_default();
        let before = stream.burden();
        stream.segment(segment, origin, &mut receiver(flow, &mut takers));
        let (after, ignored) = (stream.burden(), stream.ignored());
        self.reckon(flow, before, after);
        !ignored
    }

    /// Updates the totals after one stream changed.
    fn reckon(&mut self, flow: Flow, before: Burden, after: Burden) {
        self.memory = (self.memory + after.memory).saturating_sub(before.memory);
        match (before.waits, after.waits) {
            (false, true) => _ = self.stuck.insert(flow),
            (true, false) => _ = self.stuck.remove(&flow),
            _ => {}
        }
    }

    fn reckon_all(&mut self) {
        self.memory = self.streams.values().map(|stream| stream.burden().memory).sum();
        self.stuck.retain(|flow| self.streams.contains_key(flow));
    }

    /// Ends all conversations.
    pub fn end(&mut self, mut takers: Takers) {
        end(self.streams.drain().collect(), &mut takers);
        self.reckon_all();
    }

    /// Drops the quarter of the conversations that were silent longest.
    fn make_room(&mut self, takers: &mut Takers) {
        let mut heard: Vec<i64> = self.streams.values().map(|stream| stream.heard).collect();
        if heard.is_empty() {
            return;
        }
        let quarter = heard.len() / 4;
        let (_, &mut oldest, _) = heard.select_nth_unstable(quarter);
        let idle = self.streams.extract_if(|_, stream| stream.heard <= oldest).collect();
        end(idle, takers);
        self.reckon_all();
    }

    /// Gives up gaps in streams that may stay silent.
    fn sweep(&mut self, now: i64, takers: &mut Takers) {
        self.segments += 1;
        let interval = now.div_euclid(SWEEP_TIME);
        if interval == self.swept || self.segments * SWEEP_STREAMS < self.stuck.len() {
            return;
        }
        (self.segments, self.swept) = (0, interval);
        for flow in self.stuck.clone() {
            let Some(stream) = self.streams.get_mut(&flow) else { continue };
            let before = stream.burden();
            stream.give_up(now, &mut receiver(flow, takers));
            let after = stream.burden();
            self.reckon(flow, before, after);
        }
    }
}

/// Ends conversations, in an order independent of the table's. Pending data goes on in the order of
/// time, so that calls precede their replies.
fn end(mut streams: Vec<(Flow, Stream)>, takers: &mut Takers) {
    streams.sort_unstable_by_key(|(flow, stream)| (stream.heard, flow.from, flow.to));
    let waiting = streams.iter().enumerate();
    let mut queue: BinaryHeap<_> = waiting
        .filter_map(|(number, (_, stream))| Some(Reverse((stream.waits_since()?, number))))
        .collect();
    while let Some(Reverse((_, number))) = queue.pop() {
        let (flow, stream) = &mut streams[number];
        stream.go_on(&mut receiver(*flow, takers));
        queue.extend(stream.waits_since().map(|time| Reverse((time, number))));
    }
    for (flow, mut stream) in streams {
        stream.end(&mut receiver(flow, takers));
    }
}

fn receiver<'a>(flow: Flow, (messages, joiner, counts): &'a mut Takers) -> Receiver<'a> {
    Receiver { messages, joiner, counts, flow }
}
