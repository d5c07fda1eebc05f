//! Fragments at the end of a file, when it grows.

use super::volume::{Optimization, Volume};
use super::{runs, Error};

impl Volume {
    /// Extends a file's last fragments, `old` of them at `address`, to `new`: in place if the
    /// following ones are free, else elsewhere (`ffs_realloccg`); for something hot, in the region
    /// if they fit. Returns their address.
    pub fn extend(
        &mut self,
        address: u32,
        preference: Option<u32>,
        old: u32,
        new: u32,
        hot: bool,
    ) -> Result<u32, Error> {
        if !self.may_give(new - old) {
            return Err(Error::NoSpace);
        }
        if self.extend_in_place(address, old, new) {
            return Ok(address);
        }
        let preference = preference.filter(|&address| address < self.geometry.size);
        let n = match self.optimize() {
            Optimization::Time => self.geometry.frag(),
            Optimization::Space => new,
        };
        let cg = self.geometry.group(address);
        let near = |volume: &mut Volume| Some((volume.alloc_near(cg, preference, n)?, n));
        let placed = self.place_hot(n, new, hot).or_else(|| near(self));
        let (moved, n) = placed.ok_or(Error::NoSpace)?;
        self.free(address, old);
        if new < n {
            self.release(moved + new, n - new);
        }
        Ok(moved)
    }

    /// Takes the following fragments, if all of them are free and in the same block
    /// (`ffs_fragextend`).
    fn extend_in_place(&mut self, address: u32, old: u32, new: u32) -> bool {
        let (cg, at) = (self.geometry.group(address), address % self.geometry.fpg);
        let frag = self.geometry.frag();
        if at % frag + new > frag {
            return false;
        }
        let free = self.groups[cg as usize].block(at / frag);
        let wanted = runs::mask(at % frag + old, new - old);
        if free & wanted != wanted {
            return false;
        }
        self.set(cg, at / frag, free & !wanted);
        true
    }

    /// The optimization for moving fragments this time. It changes to time when few fragments are
    /// free, and to space when many are.
    fn optimize(&mut self) -> Optimization {
        let (now, minfree) = (self.optimization, i64::from(self.geometry.minfree));
        let nffree = i64::from(self.total.nffree);
        match now {
            Optimization::Space => {
                if minfree > 5 && nffree <= self.share(minfree, 200) {
                    self.optimization = Optimization::Time;
                }
            }
            Optimization::Time => {
                if nffree >= self.share(minfree - 2, 100) {
                    self.optimization = Optimization::Space;
                }
            }
        }
        now
    }
}
