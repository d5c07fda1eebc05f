//! The client: a process, and the page cache that reads ahead for it.

use super::setup::PAGE;
use super::{Call, Event, Stream};
use birthmark_storage::events::Events;
use birthmark_storage::readahead::{Ahead, Held, Linux, Read};

/// The only file.
const FILE: u64 = 0;

/// A process and its pages.
pub struct Client<'a> {
    setup: &'a Stream,
    policy: Linux,
    pages: Pages,
    calls: Vec<Call>,
    /// The next offset of the process.
    next: u64,
    /// Whether it waits for pages.
    waits: bool,
}

/// State of each page.
struct Pages(Vec<Page>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Page {
    Missing,
    UnderWay,
    Here,
}

impl Held for Pages {
    fn held(&self, _: u64, byte: u64) -> bool {
        self.0.get((byte / PAGE) as usize).is_some_and(|page| *page != Page::Missing)
    }
}

impl Pages {
    fn of(&mut self, offset: u64, end: u64) -> &mut [Page] {
        &mut self.0[(offset / PAGE) as usize..(end / PAGE) as usize]
    }
}

impl<'a> Client<'a> {
    /// No page of the file is in memory.
    pub fn new(setup: &'a Stream) -> Self {
        let pages = Pages(vec![Page::Missing; (setup.bytes / PAGE) as usize]);
        let policy = Linux::new(setup.read_ahead);
        Self { setup, policy, pages, calls: Vec::new(), next: 0, waits: false }
    }

    /// All calls so far.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Let the process request the next bytes.
    pub fn step(&mut self, now: u64, events: &mut Events<Event>) {
        if self.next == self.setup.bytes {
            return;
        }
        let read = Read { offset: self.next, bytes: self.setup.asked, at: now };
        let ahead = self.policy.read(FILE, &read, &self.pages);
        self.send(ahead.start, ahead.end.min(self.setup.bytes), now, events);
        // The window lacks these bytes, so read them directly.
        self.send(read.offset, read.end(), now, events);
        self.waits = true;
        self.go_on(now, events);
    }

    /// Insert the pages of a call.
    pub fn answered(&mut self, call: usize, now: u64, events: &mut Events<Event>) {
        let Call { offset, bytes } = self.calls[call];
        self.pages.of(offset, offset + bytes).fill(Page::Here);
        self.go_on(now, events);
    }

    /// Let the process copy its bytes, once all of them are there.
    fn go_on(&mut self, now: u64, events: &mut Events<Event>) {
        let end = self.next + self.setup.asked;
        if self.waits && self.pages.of(self.next, end).iter().all(|page| *page == Page::Here) {
            self.waits = false;
            self.next = end;
            events.add(now + self.setup.copy, Event::Step);
        }
    }

    /// Send calls for all pages that are missing.
    fn send(&mut self, offset: u64, end: u64, now: u64, events: &mut Events<Event>) {
        let mut at = offset;
        while at < end {
            let most = end.min(at + self.setup.rsize);
            let missing = self.pages.of(at, most).iter().take_while(|page| **page == Page::Missing);
            let bytes = missing.count() as u64 * PAGE;
            if bytes == 0 {
                at += PAGE;
                continue;
            }
            self.pages.of(at, at + bytes).fill(Page::UnderWay);
            events.add(now + self.setup.latency, Event::Arrive(self.calls.len()));
            self.calls.push(Call { offset: at, bytes });
            at += bytes;
        }
    }
}
