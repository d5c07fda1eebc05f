//! Looking up, making and removing directory entries, with the blocks that this reads and changes.

use super::cache::key;
use super::directory::{entry_bytes, Directory, Entry, BLOCK};
use super::system::{Found, System};
use super::trace::What;
use crate::ffs::Error;

/// Bytes from which on a directory is read once and then searched by hash (`ufs_mindirhashsize`).
const HASHED: u64 = 5 * BLOCK as u64;

impl System {
    /// The directory of an existing object.
    pub fn directory(&mut self, object: u32) -> Option<&mut Directory> {
        let live = self.live(object).filter(|live| live.what == What::Directory)?.directory;
        self.directories.get_mut(live as usize)
    }

    /// Looks for a name (`ufs_lookup`): reads the directory up to it, or to its end.
    pub fn find(&mut self, directory: u32, name: u32) -> Option<Found> {
        let found = self.names.get(&key(directory, name)).copied();
        if self.building {
            return found;
        }
        let inode = self.live(directory)?.inode;
        self.inode_block(inode, false);
        let here = self.directory(directory)?;
        let (size, hashed) = (here.size(), here.hashed);
        let last = (size / u64::from(BLOCK)) as u32 - 1;
        let end = match (found, size >= HASHED) {
            (Some(found), false) => found.block,
            _ => last,
        };
        let blocks = match (hashed, found) {
            (true, None) => return None,
            (true, Some(found)) => found.block..=found.block,
            _ => 0..=end,
        };
        here.hashed |= size >= HASHED;
        for lbn in self.directory_lbn(*blocks.start())..=self.directory_lbn(*blocks.end()) {
            self.directory_block(directory, lbn, false);
        }
        found
    }

    /// Reads a block of a directory, and may change it.
    pub fn directory_block(&mut self, directory: u32, lbn: u32, change: bool) {
        if self.building {
            return;
        }
        if let Some((address, fragments)) = self.place(directory, lbn) {
            let at = self.block(self.wanted(directory, lbn, address, fragments), true);
            if change {
                self.change(at);
            }
        }
    }

    /// Makes an entry (`ufs_direnter`).
    pub fn enter(&mut self, directory: u32, name: u32, object: u32) -> Result<(), Error> {
        let needs = entry_bytes(self.trace.names.get(name));
        let stamp = if self.building { 0 } else { self.stamp };
        let inode = self.objects[directory as usize].inode;
        let here = self.directory(directory).ok_or(Error::NotDirectory(inode))?;
        let put = here.insert(name, object, needs, stamp);
        let size = here.size();
        if put.grown {
            if let Err(error) = self.write(directory, size - u64::from(BLOCK), size) {
                let here = self.directory(directory).ok_or(Error::NotDirectory(inode))?;
                here.remove(put.block, name);
                here.cut();
                return Err(error);
            }
        } else if self.directory(directory).is_some_and(Directory::cut) {
            let size = self.directory(directory).map_or(0, |here| here.size());
            self.truncate(directory, size)?;
        }
        let lbn = self.directory_lbn(put.block);
        self.directory_block(directory, lbn, true);
        self.inode_block(inode, true);
        self.names.insert(key(directory, name), Found { object, block: put.block });
        self.objects[object as usize].links += 1;
        Ok(())
    }

    /// Removes an entry (`ufs_dirremove`).
    pub fn leave(&mut self, directory: u32, name: u32, found: Found) {
        self.names.remove(&key(directory, name));
        let Some(here) = self.directory(directory) else { return };
        let Some(entry) = here.remove(found.block, name) else { return };
        self.entry_changed(directory, found.block, entry);
    }

    /// Redirects an entry (`ufs_dirrewrite`).
    pub fn redirect(&mut self, directory: u32, name: u32, found: Found, object: u32) {
        let stamp = self.stamp;
        let Some(here) = self.directory(directory) else { return };
        let Some(entry) = here.replace(found.block, name, object, stamp) else { return };
        self.names.insert(key(directory, name), Found { object, ..found });
        self.objects[object as usize].links += 1;
        self.entry_changed(directory, found.block, entry);
    }

    fn entry_changed(&mut self, directory: u32, block: u32, entry: Entry) {
        let lbn = self.directory_lbn(block);
        self.directory_block(directory, lbn, true);
        self.inode_block(self.objects[directory as usize].inode, true);
        self.entry_removed(directory, block, &entry);
    }

    /// Whether a directory has no entries but "." and "..".
    pub fn is_empty(&mut self, directory: u32) -> bool {
        self.directory(directory).is_none_or(|here| here.is_empty())
    }

    /// Reads a whole directory; returns its objects.
    pub fn list(&mut self, directory: u32) -> Vec<u32> {
        let Some(here) = self.directory(directory) else { return Vec::new() };
        let objects = here.entries().map(|(_, entry)| entry.object).collect();
        let last = self.directory_lbn((self.size(directory) / u64::from(BLOCK)) as u32 - 1);
        for lbn in 0..=last {
            self.directory_block(directory, lbn, false);
        }
        objects
    }
}
