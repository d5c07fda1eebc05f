//! A fixed number of clients.

use super::Issue;
use birthmark_storage::events::Events;

/// Clients, each with one outstanding request, and think time between the answer and the next.
///
/// Request `i` goes to the client that is ready first; its think time is `think(i)`.
pub struct Population<T> {
    clients: Events<()>,
    think: T,
    issued: usize,
    most: usize,
    drawn: usize,
}

impl<T: FnMut(usize) -> u64> Population<T> {
    /// A number of clients with `most` requests in all, which begin with thinking.
    pub fn new(clients: usize, most: usize, think: T) -> Self {
        let mut own = Self { clients: Events::default(), think, issued: 0, most, drawn: 0 };
        for _ in 0..clients {
            own.think(0);
        }
        own
    }

    fn think(&mut self, now: u64) {
        let think = (self.think)(self.drawn);
        self.drawn += 1;
        self.clients.add(now + think, ());
    }
}

impl<T: FnMut(usize) -> u64> Issue for Population<T> {
    fn next(&mut self) -> Option<(u64, usize)> {
        let at = self.clients.next_at().filter(|_| self.issued < self.most)?;
        Some((at, self.issued))
    }

    fn issue(&mut self) {
        self.clients.pop();
        self.issued += 1;
    }

    fn done(&mut self, _: usize, at: u64) {
        self.think(at);
    }
}
