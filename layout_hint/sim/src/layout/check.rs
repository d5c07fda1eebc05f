//! Consistency of names, links, sizes and the file system.

use super::cache::key;
use super::system::System;
use super::trace::What;
use hashbrown::HashSet;

impl System {
    /// Returns the first inconsistency, after all delayed work.
    pub fn check(&mut self) -> Result<(), String> {
        self.work_all();
        self.fs.check().map_err(|error| error.to_string())?;
        let mut links = vec![0u32; self.objects.len()];
        links[0] = 1;
        let mut entries = 0;
        for (number, object) in (0u32..).zip(&self.objects) {
            if object.inode == 0 || object.what != What::Directory {
                continue;
            }
            let here = &self.directories[object.directory as usize];
            for (block, entry) in here.entries() {
                entries += 1;
                links[entry.object as usize] += 1;
                let found = self.names.get(&key(number, entry.name));
                let known = found.map(|found| (found.object, found.block));
                if known != Some((entry.object, block)) {
                    return Err(format!("directory {number}: an entry is not where it is known"));
                }
            }
        }
        if entries != self.names.len() {
            return Err(format!("{} names are known, {entries} are there", self.names.len()));
        }
        self.check_objects(&links)
    }

    fn check_objects(&self, links: &[u32]) -> Result<(), String> {
        let mut inodes = HashSet::new();
        for (number, (object, &links)) in self.objects.iter().zip(links).enumerate() {
            if object.inode == 0 && links > 0 {
                return Err(format!("a name leads to object {number}, which is not there"));
            }
            if object.inode == 0 {
                continue;
            }
            if object.links != links || links == 0 {
                return Err(format!("object {number}: {} links, {links} names", object.links));
            }
            let directory = object.what == What::Directory;
            let Some(file) = self.fs.file(object.inode).filter(|file| file.directory == directory)
            else {
                return Err(format!("object {number}: inode {} is not its own", object.inode));
            };
            if directory && file.size != self.directories[object.directory as usize].size() {
                return Err(format!("directory {number}: its size is not that of its entries"));
            }
            if !inodes.insert(object.inode) {
                return Err(format!("object {number}: inode {} is another's", object.inode));
            }
        }
        Ok(())
    }
}
