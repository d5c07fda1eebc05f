//! Episodes: requests that belong together.

use super::random::Random;
use super::recent::Recent;
use super::shape::Places;
use crate::cache::BLOCK;
use birthmark_storage::drive::Request;

/// Blocks of the unit that requests are scattered over: 64 KiB.
const UNIT: u64 = 16;

/// Number of recent episodes near which new ones may begin.
const LATE: f64 = 512.0;

/// Greatest distance of a near episode: a part of the storage.
const NEAR: f64 = 1.0 / 320.0;

/// Number of uses that are remembered.
const ROOM: usize = 1 << 16;

/// Requests that belong together. A repeated episode is the same.
#[derive(Clone, Copy, Debug)]
pub struct Episode {
    /// Its first block, or that of the unit.
    block: u64,
    /// Blocks of each request.
    size: u64,
    /// Number of requests.
    pub requests: u64,
    /// Seed of their scattering, if they are scattered.
    scattered: Option<u64>,
}

/// Episodes of a stream that reads, or writes.
pub struct Episodes<'a> {
    places: &'a Places,
    write: bool,
    recent: Recent<Episode>,
    /// Reuse depth of the last one, if it was a repeat.
    drawn: Option<u64>,
    /// Blocks of the history before the first.
    before: u64,
    /// First block and size of a stream's storage.
    storage: (u64, u64),
    /// Number of streams.
    streams: u64,
}

impl<'a> Episodes<'a> {
    pub fn new(places: &'a Places, write: bool, storage: (u64, u64), streams: u64) -> Self {
        Self { places, write, recent: Recent::new(ROOM), drawn: None, before: 0, storage, streams }
    }

    /// Mean number of requests of an episode.
    pub fn mean(&self) -> f64 {
        let own = self.places;
        let single = 1.0 - own.runs - own.scattered;
        single + own.runs * own.run_length + own.scattered * own.scatter_length
    }

    /// The next episode.
    pub fn next(&mut self, random: &mut Random) -> Episode {
        // At the depth of the previous one lies its last successor.
        if !random.happens(self.places.in_order) {
            self.drawn = self.depth(random);
        }
        let again = self.drawn.and_then(|depth| self.recent.take(depth));
        let episode = again.unwrap_or_else(|| self.fresh(random));
        self.recent.push(episode, 1);
        episode
    }

    /// An episode of the history.
    pub fn before(&mut self, random: &mut Random) -> Option<Episode> {
        if self.before >= self.places.history_blocks / self.streams {
            return None;
        }
        let episode = self.fresh(random);
        self.before += episode.blocks();
        self.recent.push(episode, 1);
        Some(episode)
    }

    /// The requests of an episode, in order.
    pub fn requests(&self, episode: Episode) -> impl Iterator<Item = Request> {
        let write = self.write;
        let mut chance = episode.scattered.map(Random::new);
        (0..episode.requests).map(move |number| {
            let block = match &mut chance {
                None => episode.block + number * episode.size,
                Some(random) => episode.block + random.below(UNIT - episode.size + 1),
            };
            Request { sector: block * BLOCK, sectors: episode.size * BLOCK, write }
        })
    }

    /// Mean number of blocks of an episode, about.
    fn blocks(&self) -> f64 {
        let request = self.places.small + (1.0 - self.places.small) * 7.5;
        self.mean() * request
    }

    /// The reuse depth of an episode, if it is a repeat.
    fn depth(&self, random: &mut Random) -> Option<u64> {
        let drawn = random.unit();
        let (mut low, mut below) = (1.0, 0.0);
        for depth in &self.places.again {
            if drawn < depth.share {
                let part = (drawn - below) / (depth.share - below);
                let blocks = low * (depth.blocks / low).powf(part);
                return Some((blocks / self.blocks() / self.streams as f64) as u64);
            }
            (low, below) = (depth.blocks, depth.share);
        }
        None
    }

    /// A new episode.
    fn fresh(&self, random: &mut Random) -> Episode {
        let own = self.places;
        let size = if random.happens(own.small) { 1 } else { 2 << random.below(4) };
        let kind = random.unit();
        let scattered = kind >= own.runs && kind < own.runs + own.scattered && size < UNIT;
        let requests = if kind < own.runs {
            random.long_tailed(own.run_length)
        } else if scattered {
            random.count(own.scatter_length)
        } else {
            1
        };
        let (first, blocks) = self.storage;
        let end = first + blocks - (requests * size).max(UNIT);
        let block = self.place(end, random);
        let block = if scattered { block - block % UNIT } else { block };
        let scattered = scattered.then(|| random.below(u64::MAX));
        Episode { block: block.max(first), size, requests, scattered }
    }

    /// The position of a new episode, ending before a block: near a recent one, with a preference
    /// for later ones, or at any distance.
    fn place(&self, end: u64, random: &mut Random) -> u64 {
        let (first, blocks) = self.storage;
        let anywhere = |random: &mut Random| first + random.below(end - first);
        let Some(other) = self.recent.at(LATE.powf(random.unit()) as u64 - 1) else {
            return anywhere(random);
        };
        let most = if random.happens(self.places.near) { NEAR } else { 1.0 };
        let far = (most * blocks as f64).powf(random.unit()) as u64;
        let forward = random.happens(0.5);
        let sides = [other.block + far, other.block.wrapping_sub(far)];
        let inside = |block: &u64| (first..end).contains(block);
        // A position outside is mirrored to the other side.
        let [one, other] = if forward { sides } else { [sides[1], sides[0]] };
        [one, other].into_iter().find(inside).unwrap_or_else(|| anywhere(random))
    }
}

impl Episode {
    /// Number of its blocks, about as many as are different.
    fn blocks(&self) -> u64 {
        match self.scattered {
            None => self.requests * self.size,
            Some(_) => (self.requests * self.size).min(UNIT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Depth;
    use std::collections::HashSet;

    const STORAGE: (u64, u64) = (1 << 20, 1 << 20);

    fn singles(near: f64) -> Places {
        Places {
            small: 1.0,
            runs: 0.0,
            run_length: 1.0,
            scattered: 0.0,
            scatter_length: 1.0,
            near,
            in_order: 0.0,
            again: vec![],
            history_blocks: 0,
        }
    }

    /// Blocks of new episodes, one after the other.
    fn blocks(near: f64) -> Vec<u64> {
        let places = singles(near);
        let mut episodes = Episodes::new(&places, false, STORAGE, 1);
        let mut random = Random::new(3);
        (0..20_000).map(|_| episodes.next(&mut random).block).collect()
    }

    /// The share of blocks that are near one of `late` earlier ones.
    fn near_late(blocks: &[u64], late: usize) -> f64 {
        let reach = (NEAR * STORAGE.1 as f64) as u64;
        let near = |own: &[u64]| own[..late].iter().any(|other| other.abs_diff(own[late]) <= reach);
        let count = blocks.windows(late + 1).filter(|own| near(own)).count();
        count as f64 / (blocks.len() - late) as f64
    }

    #[test]
    fn new_episodes_are_near_late_ones_the_later_the_likelier() {
        let blocks = blocks(0.9);
        let shares = [1, 8, 512].map(|late| near_late(&blocks, late));
        assert!((0.2..0.35).contains(&shares[0]), "{shares:?}");
        assert!((0.5..0.75).contains(&shares[1]), "{shares:?}");
        assert!(shares[2] > 0.9, "{shares:?}");
        let (first, blocks) = STORAGE;
        assert!(self::blocks(0.0).iter().all(|own| (first..first + blocks).contains(own)));
    }

    #[test]
    fn what_comes_again_comes_in_the_order_of_the_last_time() {
        let again = vec![Depth { blocks: 100.0, share: 0.0 }, Depth { blocks: 1e4, share: 0.5 }];
        let follows = |in_order: f64| {
            let places = Places { in_order, again: again.clone(), ..singles(0.9) };
            let mut episodes = Episodes::new(&places, false, STORAGE, 1);
            let mut random = Random::new(3);
            let blocks: Vec<u64> = (0..20_000).map(|_| episodes.next(&mut random).block).collect();
            let pairs =
                |from: usize, to: usize| blocks[from..to].windows(2).map(|own| (own[0], own[1]));
            let before: HashSet<(u64, u64)> = pairs(0, 15_000).collect();
            pairs(15_000, 20_000).filter(|own| before.contains(own)).count()
        };
        let counts = [follows(0.0), follows(0.6)];
        assert!(counts[1] > 3 * counts[0] && counts[1] > 500, "{counts:?}");
    }
}
