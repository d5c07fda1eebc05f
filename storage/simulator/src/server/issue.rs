//! When calls come: as captured, or as callers wait for answers.

use super::call::{Call, NO_REPLY};
use slab::Slab;

/// A call that others may wait for.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Time of its answer.
    done: Option<u64>,
    /// Calls that wait for it, each with its caller's think time.
    children: Vec<(usize, u64)>,
    /// Whether calls to come may wait for it.
    held: bool,
}

/// State of a client's caller: its latest answers in the capture.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// The last answer before the latest call: its time in the capture, and its node.
    last: Option<(u64, usize)>,
    /// Calls unanswered in the capture when the last one came.
    open: Vec<(u64, usize)>,
}

/// Calls that each wait for the latest answer in their stream before their arrival.
///
/// Memory: outstanding calls, and one for each stream.
#[derive(Clone, Debug, Default)]
pub struct Streams {
    nodes: Slab<Node>,
    streams: Vec<Stream>,
}

/// Arrival of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this time.
    At(u64),
    /// After the answer to another call, which returns it.
    Later,
}

impl Streams {
    /// Add a numbered call in the order of the capture; return its arrival, and its node for
    /// [`Self::done`].
    pub fn admit(&mut self, call: &Call, number: usize) -> (Start, usize) {
        let own = call.stream as usize;
        if own >= self.streams.len() {
            self.streams.resize(own + 1, Stream::default());
        }
        self.catch_up(own, call.at);
        let start = match self.streams[own].last {
            None => Start::At(call.at),
            Some((replied, node)) => {
                let think = call.at - replied;
                match self.nodes[node].done {
                    Some(done) => Start::At(done + think),
                    None => {
                        self.nodes[node].children.push((number, think));
                        Start::Later
                    }
                }
            }
        };
        let held = call.replied != NO_REPLY;
        let node = self.nodes.insert(Node { held, ..Node::default() });
        if held {
            self.streams[own].open.push((call.replied, node));
        }
        (start, node)
    }

    /// Record an answer; return the arrivals of calls that waited for it.
    pub fn done(&mut self, node: usize, now: u64) -> Vec<(usize, u64)> {
        let own = &mut self.nodes[node];
        own.done = Some(now);
        let children = std::mem::take(&mut own.children);
        if !own.held {
            self.nodes.remove(node);
        }
        children.into_iter().map(|(number, think)| (number, now + think)).collect()
    }

    /// Find the latest answer of a stream by a time, and drop earlier ones.
    fn catch_up(&mut self, stream: usize, at: u64) {
        let Stream { last, open } = &mut self.streams[stream];
        let mut over = Vec::new();
        open.retain(|&(replied, node)| {
            if replied > at {
                return true;
            }
            match last {
                Some(best) if best.0 > replied => over.push(node),
                _ => over.extend(last.replace((replied, node)).map(|best| best.1)),
            }
            false
        });
        for node in over {
            let own = &mut self.nodes[node];
            own.held = false;
            if own.done.is_some() {
                self.nodes.remove(node);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::call::{Class, NO_END};
    use super::*;

    fn call(stream: u32, at: u64, replied: u64) -> Call {
        let (class, end) = (Class::Getattr, NO_END);
        Call {
            at,
            replied,
            stream,
            connection: 0,
            class,
            file: 0,
            target: 0,
            directory: false,
            hints: 0,
            offset: 0,
            bytes: 0,
            end,
            stable: false,
        }
    }

    #[test]
    fn a_call_waits_for_the_one_answered_last_before_it_and_thinks_as_long() {
        let mut streams = Streams::default();
        let (start, first) = streams.admit(&call(0, 100, 110), 0);
        assert_eq!(start, Start::At(100));
        assert_eq!(streams.admit(&call(0, 115, 130), 1).0, Start::Later);
        assert_eq!(streams.admit(&call(1, 115, 130), 2).0, Start::At(115));
        assert_eq!(streams.done(first, 400), [(1, 405)]);
        assert_eq!(streams.admit(&call(0, 117, NO_REPLY), 3).0, Start::At(407));
        assert_eq!(streams.admit(&call(0, 131, 140), 4).0, Start::Later);
    }

    #[test]
    fn of_calls_beside_one_another_the_one_answered_last_counts() {
        let mut streams = Streams::default();
        let (_, slow) = streams.admit(&call(0, 0, 50), 0);
        let (_, quick) = streams.admit(&call(0, 1, 20), 1);
        assert_eq!(streams.admit(&call(0, 60, 70), 2).0, Start::Later);
        assert_eq!(streams.done(quick, 5), []);
        assert_eq!(streams.done(slow, 30), [(2, 40)]);
    }

    #[test]
    fn it_forgets_what_nobody_can_wait_for() {
        let mut streams = Streams::default();
        for number in 0..10_000 {
            let at = number as u64 * 10;
            let (_, node) = streams.admit(&call(number as u32 % 3, at, at + 25), number);
            streams.done(node, at + 5);
        }
        assert!(streams.nodes.len() < 20, "{}", streams.nodes.len());
    }
}
