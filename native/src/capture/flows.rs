//! The TCP conversations going on, each direction by itself.

use super::counts::CaptureCounts;
use super::messages::{Messages, Origin, Way};
use super::stream::{Receiver, Segment, Stream};
use crate::join::Joiner;
use hashbrown::HashMap;

/// The most directions remembered.
const AT_ONCE: usize = 16_384;

/// The most bytes that they keep waiting.
const WAITING: usize = 64 << 20;

/// Gaps of streams that have fallen silent are looked for once in so many segments, …
const SWEEP_SEGMENTS: u32 = 1024;

/// … if so many microseconds have passed in the trace.
const SWEEP_TIME: i64 = 500_000;

/// What takes the messages.
pub type Takers<'a> = (&'a mut Messages, &'a mut Joiner, &'a mut CaptureCounts);

/// The directions of conversations.
#[derive(Debug, Default)]
pub struct Flows {
    streams: HashMap<Way, Stream>,
    memory: usize,
    segments: u32,
    swept: i64,
}

impl Flows {
    /// Takes a segment; whether its conversation may be RPC's.
    pub fn segment(
        &mut self,
        way: Way,
        segment: &Segment,
        origin: Origin,
        mut takers: Takers,
    ) -> bool {
        if self.streams.len() >= AT_ONCE || self.memory > WAITING {
            self.make_room(&mut takers);
        }
        self.sweep(origin.time, &mut takers);
        let stream = self.streams.entry(way).or_default();
        let before = stream.memory();
        stream.segment(segment, origin, &mut receiver(way, &mut takers));
        self.memory = (self.memory + stream.memory()).saturating_sub(before);
        !stream.ignored()
    }

    /// Ends all conversations.
    pub fn end(&mut self, mut takers: Takers) {
        end(self.streams.drain().collect(), &mut takers);
        self.memory = 0;
    }

    /// Forgets the quarter of the conversations not heard of for longest.
    fn make_room(&mut self, takers: &mut Takers) {
        let mut heard: Vec<i64> = self.streams.values().map(|stream| stream.heard).collect();
        if heard.is_empty() {
            return;
        }
        let quarter = heard.len() / 4;
        let (_, &mut oldest, _) = heard.select_nth_unstable(quarter);
        let idle = self.streams.extract_if(|_, stream| stream.heard <= oldest).collect();
        end(idle, takers);
        self.memory = self.streams.values().map(Stream::memory).sum();
    }

    /// Gives up gaps in streams that may not be heard of again.
    fn sweep(&mut self, now: i64, takers: &mut Takers) {
        self.segments += 1;
        if self.segments < SWEEP_SEGMENTS || (now - self.swept).abs() < SWEEP_TIME {
            return;
        }
        (self.segments, self.swept) = (0, now);
        let mut stuck: Vec<_> = self.streams.iter_mut().filter(|(_, s)| s.waits()).collect();
        stuck.sort_unstable_by_key(|(way, _)| (way.from, way.to));
        for (way, stream) in stuck {
            stream.give_up(now, &mut receiver(*way, takers));
        }
        self.memory = self.streams.values().map(Stream::memory).sum();
    }
}

/// Ends conversations, in an order that does not depend on the table's.
fn end(mut streams: Vec<(Way, Stream)>, takers: &mut Takers) {
    streams.sort_unstable_by_key(|(way, stream)| (stream.heard, way.from, way.to));
    for (way, mut stream) in streams {
        stream.end(&mut receiver(way, takers));
    }
}

fn receiver<'a>(way: Way, (messages, joiner, counts): &'a mut Takers) -> Receiver<'a> {
    Receiver { messages, joiner, counts, way }
}
