//! A line of a recording: a request and its answer.

use super::geometry::{Format, Geometry};
use super::kernel::Kernel;
use super::region::{Region, RegionMode};

/// Requests to the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A directory in a directory, hot or not.
    Mkdir(u32, bool),
    /// An empty file in a directory, hot or not.
    Create(u32, bool),
    /// Another region, or none.
    Region(Option<Place>),
    /// A file's size.
    Write(u32, u64),
    /// So many blocks of a file from one on, moved together.
    Cluster(u32, u32, u32),
    /// A file's end, and its directory.
    Unlink(u32, u32),
    /// The state of all groups.
    Dump,
}

/// A requested region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    start: u64,
    length: u64,
    inodes: u32,
    mode: RegionMode,
    hot_blocks: u32,
}

impl Place {
    /// The region, or why there is none.
    pub fn region(&self, geometry: &Geometry) -> Result<Region, String> {
        let region = Region::of(geometry, self.start, self.length, self.inodes, self.mode);
        let region = region.map_err(|error| error.to_string())?;
        Ok(Region { hot_blocks: self.hot_blocks, ..region })
    }
}

/// The expectation.
type Expected = String;

/// The default answer.
pub const OK: &str = "ok";
const REQUESTS: &str = "`m DIR`, `c DIR`, `w INODE SIZE`, `k INODE BLOCK BLOCKS`, `u INODE DIR` \
    or `d`, and ` = ANSWER`";
const HOT: &str = "hot";

/// Parses a line.
pub fn parse(line: &str) -> Result<(Request, &str), Expected> {
    let (request, answer) = line.split_once('=').ok_or(REQUESTS)?;
    let words: Vec<&str> = request.split_ascii_whitespace().collect();
    let request = match words[..] {
        ["m", parent] => Request::Mkdir(number(parent)?, false),
        ["m", parent, HOT] => Request::Mkdir(number(parent)?, true),
        ["c", parent] => Request::Create(number(parent)?, false),
        ["c", parent, HOT] => Request::Create(number(parent)?, true),
        ["r"] => Request::Region(None),
        ["r", start, length, inodes, mode, hot_blocks] => Request::Region(Some(Place {
            start: size_of(start)?,
            length: size_of(length)?,
            inodes: number(inodes)?,
            mode: mode_of(mode)?,
            hot_blocks: number(hot_blocks)?,
        })),
        ["w", inode, size] => Request::Write(number(inode)?, size_of(size)?),
        ["k", inode, first, blocks] => {
            Request::Cluster(number(inode)?, number(first)?, number(blocks)?)
        }
        ["u", inode, parent] => Request::Unlink(number(inode)?, number(parent)?),
        ["d"] => Request::Dump,
        _ => return Err(REQUESTS.into()),
    };
    Ok((request, answer.trim()))
}

/// The sizes in a recording's first line, and the kernel.
pub fn geometry(line: &str) -> Result<(Geometry, Kernel), Expected> {
    const NAMES: [&str; 7] = ["size_frags", "fpg", "ipg", "bsize", "fsize", "minfree", "spc"];
    let form = || format!("`# {}=N`", NAMES.join("=N "));
    let words: Vec<&str> = line.strip_prefix('#').ok_or_else(form)?.split_whitespace().collect();
    let (words, more) = words.split_at_checked(NAMES.len()).ok_or_else(form)?;
    let (kernel, format) = kernel(more)?;
    let mut values = [0; NAMES.len()];
    for (word, (name, value)) in words.iter().zip(NAMES.iter().zip(&mut values)) {
        let (key, text) = word.split_once('=').filter(|(key, _)| key == name).ok_or_else(form)?;
        *value = number(text).map_err(|expected| format!("{key}: {expected}"))?;
    }
    let [size, fpg, ipg, bsize, fsize, minfree, _] = values;
    let geometry = Geometry { bsize, fsize, minfree, format, ..Geometry::new(size, fpg, ipg) };
    geometry.check().map_err(|error| error.to_string())?;
    Ok((geometry, kernel))
}

/// The rest after the sizes: the kernel and the format.
fn kernel(words: &[&str]) -> Result<(Kernel, Format), Expected> {
    const FORM: &str = "`kernel=freebsd48`, `…14`, `…15` or nothing behind the sizes, and then \
        `format=ufs1`, `format=ufs2` or nothing";
    let (kernel, format) = match words {
        [] => ("kernel=freebsd48", "format=ufs1"),
        [kernel] => (*kernel, "format=ufs1"),
        [kernel, format] => (*kernel, *format),
        _ => return Err(FORM.into()),
    };
    let kernel = match kernel {
        "kernel=freebsd48" => Kernel::FreeBsd48,
        "kernel=freebsd14" => Kernel::FreeBsd14,
        "kernel=freebsd15" => Kernel::FreeBsd15,
        _ => return Err(FORM.into()),
    };
    match format {
        "format=ufs1" => Ok((kernel, Format::Ufs1)),
        "format=ufs2" => Ok((kernel, Format::Ufs2)),
        _ => Err(FORM.into()),
    }
}

/// Whether an answer that differs from ours is possible for such a request: of the form of `ours`,
/// with any number of addresses in the file system's range.
pub fn answers(request: Request, recorded: &str, ours: &str, geometry: &Geometry) -> bool {
    if recorded == super::recording::FULL {
        return matches!(request, Request::Create(..) | Request::Mkdir(..) | Request::Write(..));
    }
    let inode =
        |text: &str| number(text).is_ok_and(|inode| geometry.inode_group(inode) < geometry.ncg());
    let address = |text: &str| {
        let text = text.strip_prefix(['i', 'I', 'T']).unwrap_or(text);
        number(text).is_ok_and(|address| address < geometry.size)
    };
    match request {
        Request::Create(..) => inode(recorded),
        Request::Unlink(..) => false,
        Request::Region(_) => recorded == OK,
        Request::Dump => shape(recorded) == shape(ours),
        Request::Mkdir(..) | Request::Write(..) | Request::Cluster(..) => recorded
            .split_once(':')
            .is_some_and(|parts| inode(parts.0) && parts.1.split_ascii_whitespace().all(address)),
    }
}

/// A text with every number replaced by 0.
fn shape(text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if shape.ends_with('0') => {}
            '0'..='9' => shape.push('0'),
            c => shape.push(c),
        }
    }
    shape
}

fn number(text: &str) -> Result<u32, Expected> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse().ok().filter(|&value| digits && value <= i32::MAX as u32);
    value.ok_or_else(|| format!("a number from 0 to {}, not `{}`", i32::MAX, short(text)))
}

fn mode_of(text: &str) -> Result<RegionMode, Expected> {
    match text {
        "preferred" => Ok(RegionMode::Preferred),
        "data" => Ok(RegionMode::Data),
        "reserved" => Ok(RegionMode::Reserved),
        _ => Err(format!("`preferred`, `data` or `reserved`, not `{}`", short(text))),
    }
}

fn size_of(text: &str) -> Result<u64, Expected> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse().ok().filter(|&value| digits && value <= i64::MAX as u64);
    value.ok_or_else(|| format!("a size from 0 to {}, not `{}`", i64::MAX, short(text)))
}

/// A text, cut to fit into a message.
pub fn short(text: &str) -> String {
    // a line of a terminal has 80, and the message its own words
    const FIT: usize = 60;
    match text.char_indices().nth(FIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}
