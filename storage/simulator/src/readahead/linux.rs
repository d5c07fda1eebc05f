//! Linux's read-ahead on demand.

use super::{Ahead, Held, Read};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// Linux's read-ahead on demand (Wu, Xi and Xu, "On the design of a new Linux readahead framework",
/// Operating Systems Review 42(5), 2008).
///
/// A file has a window of pages that are being read. The first of the pages read ahead of need is
/// marked: a read of it begins the next window, two or four times as long, up to a limit.
#[derive(Clone, Debug)]
pub struct Linux {
    most: u64,
    windows: HashMap<u64, Window>,
    marks: HashSet<(u64, u64)>,
}

/// Pages of a file that are being read; nobody has requested the last `ahead` of them.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    start: u64,
    pages: u64,
    ahead: u64,
    /// The page behind the last read.
    next: u64,
}

impl Linux {
    /// At most `most` bytes at a time, at least a page.
    pub fn new(most: u64) -> Self {
        Self { most: (most / PAGE).max(1), windows: HashMap::new(), marks: HashSet::new() }
    }

    /// The limit of NFS mounts with a read size before Linux 5.4: 15 reads.
    pub fn nfs_before_5_4(rsize: u64) -> Self {
        Self::new(15 * rsize)
    }

    /// The limit of NFS mounts since: 128 KB, as for other file systems.
    pub fn nfs_since_5_4() -> Self {
        Self::new(128 * 1024)
    }

    /// The first window for a read of `pages` pages.
    fn first(&self, pages: u64) -> u64 {
        let up = pages.next_power_of_two();
        let times = match up {
            small if small <= self.most / 32 => 4,
            middle if middle <= self.most / 4 => 2,
            _ => return self.most,
        };
        up * times
    }

    /// The length of the window after one of `pages` pages.
    fn next(&self, pages: u64) -> u64 {
        let times = if pages < self.most / 16 { 4 } else { 2 };
        (pages * times).min(self.most)
    }

    /// The window for a marked page, followed by pages that `is_held`: none, if too many are. The
    /// whole window is ahead.
    fn go_on(
        &self,
        window: Window,
        page: u64,
        pages: u64,
        is_held: impl Fn(u64) -> bool,
    ) -> Option<Window> {
        let (start, length) = if page == window.start + window.pages - window.ahead {
            (window.start + window.pages, self.next(window.pages))
        } else {
            let hole = (page..page + self.most).find(|&own| !is_held(own))?;
            (hole, self.next(hole - page + pages))
        };
        Some(Window { start, pages: length, ahead: length, ..window })
    }

    /// The window for a page that is not in memory.
    fn miss(&self, window: Window, page: u64, pages: u64) -> Window {
        let sequential = page == window.next || page + 1 == window.next;
        if window.pages > 0 && page == window.start + window.pages {
            let length = self.next(window.pages);
            Window { start: page, pages: length, ahead: length, ..window }
        } else if page == 0 || sequential || pages > self.most {
            let length = self.first(pages.min(self.most));
            Window { start: page, pages: length, ahead: length.saturating_sub(pages), ..window }
        } else {
            // A random read: only the requested pages, and no window behind it.
            Window { start: page, pages, ahead: 0, ..window }
        }
    }
}

impl Ahead for Linux {
    fn read(&mut self, file: u64, read: &Read, held: &dyn Held) -> Range<u64> {
        let (page, end) = (read.offset / PAGE, read.end().div_ceil(PAGE));
        let is_held = |page: u64| held.held(file, page * PAGE);
        let old = self.windows.get(&file).copied().unwrap_or_default();
        let marked = (page..end).find(|&own| self.marks.remove(&(file, own)));
        let missing = (page..end).find(|&own| !is_held(own));
        let next = match (missing, marked) {
            (Some(missing), _) => Some(self.miss(old, missing, end - missing)),
            (None, Some(marked)) => self.go_on(old, marked, end - marked, is_held),
            (None, None) => None,
        };
        let new = Window { next: end, ..next.unwrap_or(old) };
        self.windows.insert(file, new);
        if next.is_none() {
            return read.offset..read.offset;
        }
        if new.ahead > 0 {
            self.marks.insert((file, new.start + new.pages - new.ahead));
        }
        new.start * PAGE..(new.start + new.pages) * PAGE
    }
}
