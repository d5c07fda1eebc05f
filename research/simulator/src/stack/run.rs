//! Serving a load's requests.

use super::disk::Disk;
use super::figures::Tally;
use super::outcome::{Answer, Outcome};
use super::rules::{Rules, RulesError};
use super::Figures;
use crate::issue::Issue;
use crate::load::Load;
use birthmark_storage::drive::{Parameters, Request};
use birthmark_storage::events::Events;
use birthmark_storage::queue::Waiting;

enum Event {
    /// A part of a request is done.
    Done(usize),
    /// A drive's arm is free.
    Free(usize),
    /// A drive is due for a check.
    Look(usize),
}

/// A part of a request that lies on one drive.
struct Piece {
    request: usize,
    disk: usize,
    /// Nanoseconds until its drive took it.
    waited: u64,
    outcome: Option<Outcome>,
}

struct Stack<'a> {
    rules: &'a Rules,
    requests: &'a [Request],
    disks: Vec<Disk>,
    events: Events<Event>,
    pieces: Vec<Piece>,
    /// Number of unfinished parts of each request.
    open: Vec<u32>,
    tally: Tally,
}

/// Serve a load, whose requests follow an issue model; return the results. The first requests only
/// warm the stack up.
pub fn run(
    load: &Load,
    issue: &mut dyn Issue,
    drive: &Parameters,
    rules: &Rules,
) -> Result<Figures, RulesError> {
    rules.check()?;
    let disks = (0..rules.disks).map(|_| Disk::new(drive, rules));
    let mut stack = Stack {
        rules,
        requests: &load.requests,
        disks: disks.collect::<Result<_, _>>()?,
        events: Events::default(),
        pieces: Vec::with_capacity(load.requests.len() + load.requests.len() / 8),
        open: vec![0; load.requests.len()],
        tally: Tally::new(load.requests.len(), load.warm_up),
    };
    stack.check()?;
    stack.warm(&load.history);
    stack.serve(issue);
    Ok(stack.tally.figures(&load.requests))
}

impl Stack<'_> {
    fn check(&self) -> Result<(), RulesError> {
        let each = self.disks.first().map_or(0, Disk::end);
        let end = if self.rules.disks == 1 {
            each
        } else {
            each / self.rules.stripe_sectors * self.rules.stripe_sectors * self.rules.disks
        };
        let beyond = self.requests.iter().map(|own| own.sector + own.sectors).max();
        match beyond.filter(|last| *last > end) {
            Some(last) => Err(RulesError::Beyond { sector: last - 1, end }),
            None => Ok(()),
        }
    }

    /// Fill memory with the history; writes as far as there is room.
    fn warm(&mut self, history: &[Request]) {
        for request in history {
            self.split(*request, |disk, own| {
                if !own.write {
                    disk.cache.fill(own.sector, own.sectors);
                } else if let Some(writes) = &mut disk.writes {
                    if writes.is_drained() {
                        writes.write(own.sector, own.sectors, 0);
                    }
                }
            });
        }
    }

    /// Process each part of a request that lies on one drive.
    fn split(&mut self, request: Request, mut part: impl FnMut(&mut Disk, Request)) {
        let mut done = 0;
        while done < request.sectors {
            let (disk, sector, most) = self.rules.place(request.sector + done);
            let sectors = most.min(request.sectors - done);
            part(&mut self.disks[disk], Request { sector, sectors, ..request });
            done += sectors;
        }
    }

    fn serve(&mut self, issue: &mut dyn Issue) {
        loop {
            let due = self.events.next_at();
            if let Some((now, number)) =
                issue.next().filter(|own| due.is_none_or(|due| own.0 < due))
            {
                issue.issue();
                self.arrive(number, now);
            } else if let Some((now, event)) = self.events.pop() {
                match event {
                    Event::Done(piece) => self.done(piece, now, issue),
                    Event::Free(disk) => {
                        self.disks[disk].end_doing(now);
                        self.go_on(disk, now);
                    }
                    Event::Look(disk) => {
                        if self.disks[disk].look == Some(now) {
                            self.disks[disk].look = None;
                            self.go_on(disk, now);
                        }
                    }
                }
                if self.tally.is_complete() {
                    return;
                }
            } else {
                return;
            }
        }
    }

    fn arrive(&mut self, number: usize, now: u64) {
        self.tally.came(number, now);
        let request = self.requests[number];
        let mut done = 0;
        while done < request.sectors {
            let (disk, sector, most) = self.rules.place(request.sector + done);
            let sectors = most.min(request.sectors - done);
            let piece = self.pieces.len();
            self.pieces.push(Piece { request: number, disk, waited: 0, outcome: None });
            self.open[number] += 1;
            let own = Request { sector, sectors, ..request };
            self.disks[disk].outside.push_back(Waiting { number: piece, since: now, request: own });
            self.let_come(disk, now);
            done += sectors;
        }
    }

    /// Let a drive accept requests up to the queue depth; hits pass others only from then on.
    fn let_come(&mut self, number: usize, now: u64) {
        while self.disks[number].accepted < self.rules.depth {
            let Some(own) = self.disks[number].outside.pop_front() else {
                break;
            };
            self.disks[number].accepted += 1;
            self.pieces[own.number].waited = now - own.since;
            let own = Waiting { since: now, ..own };
            self.with(number, |disk, answer| disk.arrive(own, now, answer));
        }
        self.begin(number, now);
    }

    /// Let a drive work, and record its outcomes.
    fn with(&mut self, disk: usize, work: impl FnOnce(&mut Disk, &mut Answer<'_>)) {
        let (events, pieces) = (&mut self.events, &mut self.pieces);
        let mut answer = |piece: usize, outcome: Outcome| {
            pieces[piece].outcome = Some(outcome);
            events.add(outcome.at, Event::Done(piece));
        };
        work(&mut self.disks[disk], &mut answer);
    }

    /// Let a drive go on that is free, or was waited for.
    fn go_on(&mut self, disk: usize, now: u64) {
        self.with(disk, |disk, answer| {
            disk.admit_writes(now, answer);
            disk.pass_hits(now, answer);
        });
        self.begin(disk, now);
    }

    fn begin(&mut self, number: usize, now: u64) {
        if self.disks[number].doing.is_some() {
            return;
        }
        let (rules, mut begun) = (self.rules, None);
        self.with(number, |disk, answer| begun = disk.begin(rules, now, answer));
        if let Some(begun) = begun {
            self.tally.moved(&begun.moved);
            self.events.add(begun.free, Event::Free(number));
        } else if let Some(due) = self.disks[number].due(now) {
            if self.disks[number].look.is_none_or(|look| look > due) {
                self.disks[number].look = Some(due);
                self.events.add(due, Event::Look(number));
            }
        }
    }

    fn done(&mut self, piece: usize, now: u64, issue: &mut dyn Issue) {
        let Piece { request, disk, waited, outcome } = self.pieces[piece];
        if let Some(mut outcome) = outcome {
            outcome.service.queue += waited;
            self.tally.part(request, &outcome);
        }
        self.disks[disk].accepted -= 1;
        self.let_come(disk, now);
        self.open[request] -= 1;
        if self.open[request] == 0 {
            self.tally.done();
            issue.done(request, now);
        }
    }
}
