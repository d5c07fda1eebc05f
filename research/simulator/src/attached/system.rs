//! A system: stations, caches, and pieces under way between them.

use super::config::{Attached, AttachedError, Organization};
use super::disk::Disk;
use super::load::{Ask, Kind};
use super::piece::{Part, Piece, Spent};
use super::tally::Tally;
use super::BLOCK;
use crate::cache::Lru;
use birthmark_storage::drive::OutsideError;
use birthmark_storage::events::Events;
use birthmark_storage::station::{Station, Turn};

/// The next station of a piece.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A disk's processor, which looks into its cache.
    Command,
    /// The disk.
    Disk,
    /// After the disk: the bus, or the disk's processor, which answers.
    Back,
    /// The file manager, which answers.
    Reply,
}

/// A request with pieces under way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    pieces: u64,
    kind: Kind,
    /// End of the last piece done, and where its time went.
    last: (u64, Spent),
}

/// A system that serves requests.
pub(super) struct System<'a> {
    config: &'a Attached,
    seed: u64,
    manager: Station,
    bus: Station,
    processors: Vec<Station>,
    disks: Vec<Disk>,
    /// The file manager's cache, or one for each disk.
    caches: Vec<Lru<()>>,
    /// Blocks in each of them.
    cache_blocks: usize,
    requests: Vec<UnderWay>,
    free_requests: Vec<u32>,
    events: Events<(Step, Piece)>,
    pub tally: Tally,
}

impl<'a> System<'a> {
    pub fn new(config: &'a Attached, seed: u64) -> Result<Self, AttachedError> {
        config.check()?;
        let disk = || Disk::new(config.drive.as_ref(), config.costs.disk_ms);
        let (caches, cache_blocks) = match config.organization {
            Organization::ServerDisk => (1, config.manager_blocks()),
            Organization::NetDisk => (config.disks, config.disk_blocks()),
        };
        Ok(Self {
            config,
            seed,
            manager: Station::new(1),
            bus: Station::new(1),
            processors: vec![Station::new(1); config.disks],
            disks: (0..config.disks).map(|_| disk()).collect::<Result<_, _>>()?,
            caches: vec![Lru::default(); caches],
            cache_blocks,
            requests: Vec::new(),
            free_requests: Vec::new(),
            events: Events::default(),
            tally: Tally::default(),
        })
    }

    /// Fill the caches with a request, in no time.
    pub fn warm(&mut self, ask: &Ask) {
        if ask.kind.is_data() {
            for mut piece in Piece::of(ask, 0) {
                self.look_up(&mut piece);
            }
        }
    }

    /// Time of the next event.
    pub fn next_at(&self) -> Option<u64> {
        self.events.next_at()
    }

    /// Process the next event.
    pub fn step(&mut self) -> Result<(), OutsideError> {
        let Some((now, (step, piece))) = self.events.pop() else {
            return Ok(());
        };
        match step {
            Step::Command => self.command(piece, now),
            Step::Disk => self.disk(piece, now)?,
            Step::Back => self.back(piece, now),
            Step::Reply => {
                let work = self.config.costs.reply.of(piece.blocks);
                self.finish_at_manager(piece, now, work);
            }
        }
        Ok(())
    }

    /// Accept a request of a client.
    pub fn ask(&mut self, ask: &Ask) {
        self.tally.asked(ask);
        let costs = &self.config.costs;
        match ask.kind {
            Kind::Attributes => self.answer_metadata(ask, costs.attributes),
            Kind::Directory => {
                let blocks = ask.bytes.div_ceil(BLOCK).max(1);
                let work = costs.manager_hit * blocks as f64 + costs.reply.of(blocks);
                self.answer_metadata(ask, work);
            }
            Kind::Read | Kind::Write => {
                let request = self.begin(ask);
                for piece in Piece::of(ask, request) {
                    match self.config.organization {
                        Organization::ServerDisk => self.serve(piece, ask.at),
                        Organization::NetDisk => self.forward(piece, ask.at),
                    }
                }
            }
        }
    }

    /// Answer a request for metadata, which are in the file manager's memory.
    fn answer_metadata(&mut self, ask: &Ask, instructions: f64) {
        let turn = self.manager.take(ask.at, time(instructions, self.config.manager_mips));
        let mut spent = Spent::default();
        spent[Part::ManagerWait] = turn.start - ask.at;
        spent[Part::Manager] = turn.end - turn.start;
        self.tally.done(ask.kind, turn.end, spent);
    }

    fn begin(&mut self, ask: &Ask) -> u32 {
        let pieces = Piece::of(ask, 0).count() as u64;
        let own = UnderWay { pieces, kind: ask.kind, last: (0, Spent::default()) };
        match self.free_requests.pop() {
            Some(free) => {
                self.requests[free as usize] = own;
                free
            }
            None => {
                self.requests.push(own);
                self.requests.len() as u32 - 1
            }
        }
    }

    /// At a server: look into the cache, and answer at once on a full hit.
    fn serve(&mut self, mut piece: Piece, now: u64) {
        self.look_up(&mut piece);
        self.tally.looked_up(&piece);
        let costs = &self.config.costs;
        let reply = costs.reply.of(piece.blocks);
        if piece.write {
            let work = costs.manager_hit * piece.blocks as f64 + reply;
            let end = self.finish_at_manager(piece, now, work);
            self.events.add(end + milliseconds(costs.control_ms), (Step::Back, piece));
        } else if piece.missed == 0 {
            self.finish_at_manager(piece, now, costs.manager_hit * piece.blocks as f64 + reply);
        } else {
            let hits = (piece.blocks - piece.missed) as f64;
            let work = costs.manager_hit * hits + costs.manager_miss * piece.missed as f64;
            let at = self.at_manager(&mut piece, now, work);
            self.send(piece, at, Step::Disk);
        }
    }

    /// On the network: forward to the disk.
    fn forward(&mut self, mut piece: Piece, now: u64) {
        let at = self.at_manager(&mut piece, now, self.config.costs.forward);
        self.send(piece, at, Step::Command);
    }

    fn send(&mut self, mut piece: Piece, at: u64, step: Step) {
        let control = milliseconds(self.config.costs.control_ms);
        piece.spent[Part::Network] += control;
        self.events.add(at + control, (step, piece));
    }

    /// Look into the cache of a disk on the network.
    fn command(&mut self, mut piece: Piece, now: u64) {
        self.look_up(&mut piece);
        self.tally.looked_up(&piece);
        let costs = &self.config.costs;
        let reply = costs.reply.of(piece.blocks);
        if piece.write {
            let work = costs.disk_hit * piece.blocks as f64 + reply;
            let at = self.at_processor(&mut piece, now, work);
            self.finish(&piece, at);
            self.events.add(at, (Step::Disk, piece));
        } else if piece.missed == 0 {
            let work = costs.disk_hit * piece.blocks as f64 + reply;
            let at = self.at_processor(&mut piece, now, work);
            self.finish(&piece, at);
        } else {
            let hits = (piece.blocks - piece.missed) as f64;
            let work = costs.disk_hit * hits + costs.disk_miss * piece.missed as f64;
            let at = self.at_processor(&mut piece, now, work);
            self.events.add(at, (Step::Disk, piece));
        }
    }

    fn disk(&mut self, mut piece: Piece, now: u64) -> Result<(), OutsideError> {
        let disk = piece.disk(self.config.disks, self.seed);
        let turn = self.disks[disk].serve(now, piece.extent(), piece.write)?;
        if !piece.write {
            piece.spent[Part::DiskWait] += turn.start - now;
            piece.spent[Part::Disk] += turn.end - turn.start;
            self.events.add(turn.end, (Step::Back, piece));
        }
        Ok(())
    }

    /// Pass read data to the bus or the client, and written data to the disk.
    fn back(&mut self, mut piece: Piece, now: u64) {
        if self.config.organization == Organization::NetDisk {
            let reply = self.config.costs.reply.of(piece.blocks);
            let at = self.at_processor(&mut piece, now, reply);
            self.finish(&piece, at);
            return;
        }
        let blocks = piece.extent().blocks;
        let turn = self.bus.take(now, milliseconds(self.config.costs.bus_ms.of(blocks)));
        piece.spent[Part::Network] += turn.end - now;
        let next = if piece.write { Step::Disk } else { Step::Reply };
        self.events.add(turn.end, (next, piece));
    }

    fn at_manager(&mut self, piece: &mut Piece, now: u64, instructions: f64) -> u64 {
        let turn = self.manager.take(now, time(instructions, self.config.manager_mips));
        charge(piece, now, turn, (Part::ManagerWait, Part::Manager))
    }

    fn at_processor(&mut self, piece: &mut Piece, now: u64, instructions: f64) -> u64 {
        let disk = piece.disk(self.config.disks, self.seed);
        let turn = self.processors[disk].take(now, time(instructions, self.config.disk_mips));
        charge(piece, now, turn, (Part::ProcessorWait, Part::Processor))
    }

    fn finish_at_manager(&mut self, mut piece: Piece, now: u64, instructions: f64) -> u64 {
        let at = self.at_manager(&mut piece, now, instructions);
        self.finish(&piece, at);
        at
    }

    /// Look up the blocks of a piece in the cache that they belong to.
    fn look_up(&mut self, piece: &mut Piece) {
        let disk = piece.disk(self.config.disks, self.seed);
        let own = if self.caches.len() == 1 { 0 } else { disk };
        let (cache, most) = (&mut self.caches[own], self.cache_blocks);
        piece.missed = 0;
        for key in piece.keys() {
            if cache.touch(key).is_none() {
                cache.replace(key, (), most);
                piece.missed += 1;
            }
        }
    }

    /// Finish a piece, and with the last one the request.
    fn finish(&mut self, piece: &Piece, at: u64) {
        let request = &mut self.requests[piece.request as usize];
        if at >= request.last.0 {
            request.last = (at, piece.spent);
        }
        request.pieces -= 1;
        if request.pieces == 0 {
            self.free_requests.push(piece.request);
            self.tally.done(request.kind, request.last.0, request.last.1);
        }
    }

    /// Utilization of file manager, processors of disks, and disks over a time.
    pub fn busy(&self, of: u64) -> [f64; 3] {
        let share = |busy: u64, places: usize| busy as f64 / (of.max(1) as f64 * places as f64);
        let processors = self.processors.iter().map(Station::busy).sum();
        let disks = self.disks.iter().map(Disk::busy).sum();
        let count = self.config.disks;
        [share(self.manager.busy(), 1), share(processors, count), share(disks, count)]
    }
}

/// Charge a piece for its turn at a station; return the turn's end.
fn charge(piece: &mut Piece, now: u64, turn: Turn, (wait, work): (Part, Part)) -> u64 {
    piece.spent[wait] += turn.start - now;
    piece.spent[work] += turn.end - turn.start;
    turn.end
}

/// Nanoseconds of instructions.
fn time(instructions: f64, mips: f64) -> u64 {
    (instructions / mips * 1e3).round() as u64
}

fn milliseconds(time: f64) -> u64 {
    (time * 1e6).round() as u64
}
