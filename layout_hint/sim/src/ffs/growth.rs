//! A growing file.

use super::changes::Change;
use super::file::{File, DIRECT};
use super::kernel::{Before, Wanted};
use super::level::Level;
use super::volume::Volume;
use super::Error;
use birthmark_hook::Outcome;

/// A growing file of a volume.
pub(super) struct Growth<'a> {
    pub volume: &'a mut Volume,
    pub inode: u32,
    pub file: &'a mut File,
}

impl Growth<'_> {
    /// Allocates the first `end` bytes of block `lbn` (`ffs_balloc`).
    pub fn reach(&mut self, lbn: u32, end: u32) -> Result<(), Error> {
        self.fill(lbn)?;
        match lbn < DIRECT {
            true => self.direct(lbn, end),
            false => self.indirect(lbn),
        }
    }

    /// Extends the fragments at the file's end to a block, if it is to grow beyond them.
    fn fill(&mut self, lbn: u32) -> Result<(), Error> {
        let (frag, bsize) = (self.volume.geometry.frag(), u64::from(self.volume.geometry.bsize));
        let Ok(last) = u32::try_from(self.file.size / bsize) else { return Ok(()) };
        if last >= DIRECT.min(lbn) {
            return Ok(());
        }
        let old = self.fragments(last);
        if let Some(address) = self.file.block(last).filter(|_| 0 < old && old < frag) {
            let (wanted, hot) = (self.wanted(last, last, None), self.hot(last));
            let moved = self.volume.extend(address, wanted, old, frag, hot)?;
            self.set_block(last, moved, frag);
            self.file.size = u64::from(last + 1) * bsize;
        }
        Ok(())
    }

    fn direct(&mut self, lbn: u32, end: u32) -> Result<(), Error> {
        let (frag, fsize) = (self.volume.geometry.frag(), self.volume.geometry.fsize);
        let (old, new) = (self.fragments(lbn), end.div_ceil(fsize));
        let before = self.file.block(lbn);
        if before.is_some() && new <= old {
            return Ok(());
        }
        let (wanted, hot) = (self.wanted(lbn, lbn, None), self.hot(lbn));
        // a hole in the midst of a file becomes a whole block
        let n = if before.is_some() || old < frag { new } else { frag };
        let address = match before {
            Some(address) => self.volume.extend(address, wanted, old, n, hot)?,
            None => self.volume.alloc(self.inode, wanted, n, hot)?,
        };
        self.set_block(lbn, address, n);
        Ok(())
    }

    fn indirect(&mut self, lbn: u32) -> Result<(), Error> {
        let found = Level::of(lbn, self.volume.geometry.nindir());
        let (level, index) = found.ok_or(Error::TooLarge)?;
        if self.file.block(lbn).is_some() {
            return Ok(());
        }
        let mut made = [None; 3];
        let done = self.lead(lbn, level, &mut made);
        let done = done.and_then(|before| self.behind(lbn, index, before));
        match done {
            Ok(()) => self.log_pointers(level, &made),
            Err(_) => self.undo(&made),
        }
        done
    }

    /// Returns new indirect blocks without blocks behind them.
    fn undo(&mut self, made: &[Option<usize>]) {
        for &slot in made.iter().flatten() {
            if let Some(address) = self.file.indirect(slot) {
                self.volume.free(address, self.volume.geometry.frag());
                self.file.set_indirect(slot, 0);
            }
        }
    }

    /// Makes the indirect blocks on the way to a block; returns which, and the address of the last.
    fn lead(
        &mut self,
        lbn: u32,
        level: Level,
        made: &mut [Option<usize>],
    ) -> Result<Option<Before>, Error> {
        let frag = self.volume.geometry.frag();
        let mut before = None;
        for (slot, made) in level.slots().zip(made) {
            if self.file.indirect(slot).is_none() {
                let wanted = Wanted { inode: self.inode, lbn, index: 0, previous: None, before };
                let preference = self.volume.prefer_indirect(self.file, &wanted);
                let hot = self.hot(lbn);
                let address = self.volume.alloc(self.inode, preference, frag, hot)?;
                self.file.set_indirect(slot, address);
                *made = Some(slot);
                before = Some(Before { preference, address });
            }
        }
        Ok(before)
    }

    /// Makes a block behind an indirect one.
    fn behind(&mut self, lbn: u32, index: u32, before: Option<Before>) -> Result<(), Error> {
        let (preference, hot) = (self.wanted(lbn, index, before), self.hot(lbn));
        let frag = self.volume.geometry.frag();
        let address = self.volume.alloc(self.inode, preference, frag, hot)?;
        self.set_block(lbn, address, frag);
        Ok(())
    }

    /// Logs the indirect blocks on the way to a block that have a new pointer: the last one, and
    /// those that lead to one just made.
    fn log_pointers(&mut self, level: Level, made: &[Option<usize>]) {
        let inode = self.inode;
        for slot in level.slots().rev() {
            if let Some(address) = self.file.indirect(slot) {
                self.volume.changes.push(Change::Indirect { inode, address });
            }
            if !made.contains(&Some(slot)) {
                break;
            }
        }
    }

    /// The preferred address of a block.
    fn wanted(&self, lbn: u32, index: u32, before: Option<Before>) -> Option<u32> {
        let previous = (index > 0).then(|| self.file.block(lbn - 1)).flatten();
        let wanted = Wanted { inode: self.inode, lbn, index, previous, before };
        self.volume.prefer_block(self.file, &wanted)
    }

    /// Whether a block belongs in the region.
    fn hot(&mut self, lbn: u32) -> bool {
        let Some(region) = self.volume.region.as_ref().filter(|_| self.file.hot) else {
            return false;
        };
        let hot = lbn < region.hot_blocks;
        if !hot {
            self.volume.changes.hint(Outcome::TooLarge);
        }
        hot
    }

    fn set_block(&mut self, lbn: u32, address: u32, fragments: u32) {
        self.file.set_block(lbn, address);
        let inode = self.inode;
        self.volume.changes.push(Change::Placed { inode, lbn, address, fragments });
    }

    fn fragments(&self, lbn: u32) -> u32 {
        self.file.fragments(lbn, &self.volume.geometry)
    }
}
