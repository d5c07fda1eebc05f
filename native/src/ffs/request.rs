//! A line of a recording: a request, and what was answered.

use super::geometry::Geometry;

/// What is asked of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A directory in a directory.
    Mkdir(u32),
    /// An empty file in a directory.
    Create(u32),
    /// A file's size.
    Write(u32, u64),
    /// A file's end, and its directory.
    Unlink(u32, u32),
    /// The state of all groups.
    Dump,
}

/// What was expected.
type Expected = String;

const REQUESTS: &str = "`m DIR`, `c DIR`, `w INODE SIZE`, `u INODE DIR` or `d`, and ` = ANSWER`";

/// Takes a line apart.
pub fn parse(line: &str) -> Result<(Request, &str), Expected> {
    let (request, answer) = line.split_once('=').ok_or(REQUESTS)?;
    let words: Vec<&str> = request.split_ascii_whitespace().collect();
    let request = match words[..] {
        ["m", parent] => Request::Mkdir(number(parent)?),
        ["c", parent] => Request::Create(number(parent)?),
        ["w", inode, size] => Request::Write(number(inode)?, size_of(size)?),
        ["u", inode, parent] => Request::Unlink(number(inode)?, number(parent)?),
        ["d"] => Request::Dump,
        _ => return Err(REQUESTS.into()),
    };
    Ok((request, answer.trim()))
}

/// The sizes in a recording's first line.
pub fn geometry(line: &str) -> Result<Geometry, Expected> {
    const NAMES: [&str; 7] = ["size_frags", "fpg", "ipg", "bsize", "fsize", "minfree", "spc"];
    let form = || format!("`# {}=N`", NAMES.join("=N "));
    let words: Vec<&str> = line.strip_prefix('#').ok_or_else(form)?.split_whitespace().collect();
    if words.len() != NAMES.len() {
        return Err(form());
    }
    let mut values = [0; NAMES.len()];
    for (word, (name, value)) in words.iter().zip(NAMES.iter().zip(&mut values)) {
        let (key, text) = word.split_once('=').filter(|(key, _)| key == name).ok_or_else(form)?;
        *value = number(text).map_err(|expected| format!("{key}: {expected}"))?;
    }
    let [size, fpg, ipg, bsize, fsize, minfree, _] = values;
    let geometry = Geometry { bsize, fsize, minfree, ..Geometry::new(size, fpg, ipg) };
    geometry.check().map_err(|error| error.to_string())?;
    Ok(geometry)
}

/// Whether an answer, though not ours, is one to such a request: of the form of `ours`, in which
/// there may be any number of addresses, all of them of the file system's range.
pub fn answers(request: Request, recorded: &str, ours: &str, geometry: &Geometry) -> bool {
    if recorded == super::recording::FULL {
        return !matches!(request, Request::Unlink(..) | Request::Dump);
    }
    let inode =
        |text: &str| number(text).is_ok_and(|inode| geometry.inode_group(inode) < geometry.ncg());
    let address = |text: &str| {
        let text = text.strip_prefix(['i', 'I', 'T']).unwrap_or(text);
        number(text).is_ok_and(|address| address < geometry.size)
    };
    match request {
        Request::Create(_) => inode(recorded),
        Request::Unlink(..) => false,
        Request::Dump => shape(recorded) == shape(ours),
        Request::Mkdir(_) | Request::Write(..) => recorded
            .split_once(':')
            .is_some_and(|parts| inode(parts.0) && parts.1.split_ascii_whitespace().all(address)),
    }
}

/// A text with every number in it made 0.
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

fn size_of(text: &str) -> Result<u64, Expected> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let value = text.parse().ok().filter(|&value| digits && value <= i64::MAX as u64);
    value.ok_or_else(|| format!("a size from 0 to {}, not `{}`", i64::MAX, short(text)))
}

/// As much of a text as fits into a message.
pub fn short(text: &str) -> String {
    const FIT: usize = 60;
    match text.char_indices().nth(FIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}
