//! Ageing of a file system: files are made, half of them removed, again and again.

use super::cluster::{self, Before, Stream};
use super::config::Age;
use super::random::Seeded;
use super::system::System;
use crate::ffs::ROOT;

/// The sizes' logarithm: its mean (a median of 4 KB), and its deviation.
const MEDIAN: f64 = 4096.0;
const DEVIATION: f64 = 2.2;
/// No file is larger than this share of the file system.
const LARGEST: f64 = 0.01;
/// Number of files per directory.
const FILES: u64 = 32;

impl System {
    /// Ages a file system that has no files yet.
    pub fn age(&mut self, age: &Age) {
        let mut random = Seeded::new(age.seed);
        let mut directories = vec![ROOT];
        let mut files = Vec::new();
        let data = f64::from(self.geometry.dsize());
        let least_free = (data * (1.0 - age.fill.clamp(0.0, 1.0))) as u64;
        for _ in 0..age.rounds {
            while self.free_fragments() > least_free {
                let Some(inode) = self.old_file(&mut random, &mut directories, files.len()) else {
                    break;
                };
                files.push(inode);
            }
            for _ in 0..files.len().div_ceil(2) {
                let inode = files.swap_remove(random.below(files.len()));
                if self.fs.unlink(inode).is_err() {
                    self.count_unexpected("ageing", "an old file is gone");
                }
            }
            self.fs.take_changes();
        }
    }

    fn free_fragments(&self) -> u64 {
        let total = &self.fs.volume.total;
        u64::from(total.nbfree) * u64::from(self.geometry.frag()) + u64::from(total.nffree)
    }

    /// A file in some directory, which may be a new one.
    fn old_file(
        &mut self,
        random: &mut Seeded,
        directories: &mut Vec<u32>,
        files: usize,
    ) -> Option<u32> {
        let parent = directories[random.below(directories.len())];
        if (directories.len() as u64) * FILES <= files as u64 {
            directories.push(self.fs.mkdir(parent, false).ok()?);
        }
        let parent = directories[random.below(directories.len())];
        let inode = self.fs.create(parent, false).ok()?;
        let largest = LARGEST * f64::from(self.geometry.size) * f64::from(self.geometry.fsize);
        let size = MEDIAN * (DEVIATION * random.normal()).exp();
        let written = self.old_blocks(inode, size.min(largest) as u64);
        self.fs.take_changes();
        if written.is_none() {
            self.fs.unlink(inode).ok()?;
        }
        written.map(|()| inode)
    }

    /// Writes a file as [`System::write`] does, without the cache.
    fn old_blocks(&mut self, inode: u32, size: u64) -> Option<()> {
        let (bsize, frag) = (u64::from(self.geometry.bsize), self.geometry.frag());
        let (mut stream, mut at) = (Stream::default(), 0);
        while at < size {
            let (lbn, end) = ((at / bsize) as u32, size.min(at + bsize));
            stream.access(at, end - at, self.geometry.bsize);
            self.fs.write(inode, at, end).ok()?;
            at = end;
            let Some(address) = self.fs.file(inode)?.block(lbn) else { continue };
            if !end.is_multiple_of(bsize) {
                continue;
            }
            if let Before::Reallocate(start, blocks) = stream.before(lbn, address, frag, true) {
                if self.fs.reallocate(inode, start, blocks) {
                    stream.reallocated(lbn, self.fs.file(inode)?.block(lbn)?);
                    continue;
                }
            }
            stream.add(lbn, address, frag, cluster::most(self.geometry.bsize));
        }
        Some(())
    }
}
