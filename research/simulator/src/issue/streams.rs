//! Independent streams of requests.

use super::Issue;

/// Issue models side by side. Their requests are numbered one model after the other.
pub struct Streams<I> {
    own: Vec<I>,
    /// The number of each one's first request.
    first: Vec<usize>,
}

impl<I: Issue> Streams<I> {
    /// Models, each with its number of requests.
    pub fn new(all: impl IntoIterator<Item = (I, usize)>) -> Self {
        let (mut own, mut first, mut next) = (Vec::new(), Vec::new(), 0);
        for (stream, requests) in all {
            own.push(stream);
            first.push(next);
            next += requests;
        }
        Self { own, first }
    }

    /// The stream whose request is next.
    fn soonest(&mut self) -> Option<(u64, usize, usize)> {
        let next = |(stream, own): (usize, &mut I)| own.next().map(|(at, own)| (at, stream, own));
        self.own.iter_mut().enumerate().filter_map(next).min()
    }
}

impl<I: Issue> Issue for Streams<I> {
    fn next(&mut self) -> Option<(u64, usize)> {
        self.soonest().map(|(at, stream, own)| (at, self.first[stream] + own))
    }

    fn issue(&mut self) {
        if let Some((_, stream, _)) = self.soonest() {
            self.own[stream].issue();
        }
    }

    fn done(&mut self, number: usize, at: u64) {
        let stream = self.first.partition_point(|first| *first <= number) - 1;
        self.own[stream].done(number - self.first[stream], at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::Population;

    #[test]
    fn each_stream_goes_on_by_itself() {
        let think = |gap| move |_| gap;
        let own = [(Population::new(1, 2, think(10)), 2), (Population::new(1, 3, think(4)), 3)];
        let mut streams = Streams::new(own);
        let mut came = vec![];
        while let Some((at, number)) = streams.next() {
            streams.issue();
            came.push((at, number));
            streams.done(number, at + 1);
        }
        assert_eq!(came, [(4, 2), (9, 3), (10, 0), (14, 4), (21, 1)]);
    }
}
