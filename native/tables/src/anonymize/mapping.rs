//! The mapping from originals to images.

use super::names::{self, Names};
use super::pairs::Pairs;
use super::random::Random;
use super::{hosts, Error};
use std::io;

/// What is mapped, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether images of names with the same first five bytes share them, too.
    pub prefix: bool,
    /// Whether handles are mapped.
    pub handles: bool,
    /// Columns to leave out.
    pub omit: Omit,
}

/// Columns to leave out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Omit {
    pub names: bool,
    pub users: bool,
    pub groups: bool,
    pub hosts: bool,
}

/// The mapping: a table for each kind of value.
pub struct Mapping {
    /// What is mapped, and how.
    pub settings: Settings,
    pub(super) users: Pairs,
    pub(super) groups: Pairs,
    pub(super) hosts: Pairs,
    pub(super) names: Names,
    /// Accounts, domains, machines: values that are not file names, so that prefixes need not
    /// correspond.
    pub(super) labels: Names,
    pub(super) handles: Pairs,
    pub(super) seed: Option<u64>,
    pub(super) random: Random,
}

/// The number of kinds of values.
const KINDS: usize = 6;

/// The image of hosts when addresses are left out.
pub const NO_HOST: &str = "0";

impl Mapping {
    /// Returns an empty mapping, with values from the system or, for examples, from a seed.
    pub fn new(settings: Settings, seed: Option<u64>) -> io::Result<Mapping> {
        let random = match seed {
            Some(seed) => Random::seeded(seed, 0),
            None => Random::system(),
        };
        let head = if settings.prefix { names::HEAD } else { 0 };
        let names = Names::new(head);
        let (users, groups, hosts, handles) = Default::default();
        let labels = Names::new(0);
        Ok(Mapping { settings, users, groups, hosts, names, labels, handles, seed, random })
    }

    /// The tables, by their words in the mapping's file.
    pub(super) fn tables(&self) -> [(&'static str, &Pairs); KINDS] {
        [
            ("user", &self.users),
            ("group", &self.groups),
            ("host", &self.hosts),
            ("name", &self.names.pairs),
            ("label", &self.labels.pairs),
            ("handle", &self.handles),
        ]
    }

    pub(super) fn table(&mut self, word: &[u8]) -> Option<&mut Pairs> {
        Some(match word {
            b"user" => &mut self.users,
            b"group" => &mut self.groups,
            b"host" => &mut self.hosts,
            b"name" => &mut self.names.pairs,
            b"label" => &mut self.labels.pairs,
            b"handle" => &mut self.handles,
            _ => return None,
        })
    }

    /// The number of mapped values of each kind.
    pub fn sizes(&self) -> [(&'static str, usize); KINDS] {
        self.tables().map(|(word, pairs)| (word, pairs.len()))
    }

    /// Exempts a value from mapping: a name, label, host, or id in decimal.
    pub fn keep(&mut self, kind: &str, what: &[u8]) -> Result<(), Error> {
        let late = || Error::Mapped(format!("{kind} {}", what.escape_ascii()));
        let is_accepted = match kind {
            "name" => self.names.keep(what),
            "label" => self.labels.keep(what),
            "host" => stay(&mut self.hosts, what),
            kind => {
                let id = std::str::from_utf8(what).ok().and_then(|text| text.parse::<u32>().ok());
                let id = id.ok_or_else(late)?.to_be_bytes();
                stay(if kind == "user" { &mut self.users } else { &mut self.groups }, &id)
            }
        };
        is_accepted.then_some(()).ok_or_else(late)
    }

    /// Returns the image of a user.
    #[inline]
    pub fn user(&mut self, id: u32) -> io::Result<u32> {
        number(&mut self.users, id, &mut self.random)
    }

    /// Returns the image of a group.
    #[inline]
    pub fn group(&mut self, id: u32) -> io::Result<u32> {
        number(&mut self.groups, id, &mut self.random)
    }

    /// Returns the image of a host, written as in the operations table.
    pub fn host(&mut self, host: &[u8]) -> io::Result<String> {
        if self.settings.omit.hosts {
            return Ok(NO_HOST.to_owned());
        }
        hosts::map(&mut self.hosts, host, &mut self.random)
    }

    /// Writes the image of a name or a path to `out`.
    #[inline]
    pub fn name(&mut self, name: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        self.names.map(name, &mut self.random, out)
    }

    /// Writes the image of a user or group of NFS version 4 to `out`. A number is mapped as an id,
    /// other text as a name and a domain.
    pub fn principal(&mut self, text: &[u8], user: bool, out: &mut Vec<u8>) -> io::Result<()> {
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u32>().ok());
        // "01" is not a number, lest two principals share an image
        if let Some(id) = number.filter(|id| id.to_string().as_bytes() == text) {
            let id = if user { self.user(id)? } else { self.group(id)? };
            out.extend_from_slice(id.to_string().as_bytes());
            return Ok(());
        }
        for (index, part) in text.split(|byte| *byte == b'@').enumerate() {
            out.extend((index > 0).then_some(b'@'));
            self.label(part, out)?;
        }
        Ok(())
    }

    /// Writes the image of an account, a domain, a machine or a comment to `out`.
    pub fn label(&mut self, text: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        self.labels.map(text, &mut self.random, out)
    }

    /// Writes the image of a handle, of the same length, to `out`. All zeros stay: they are the
    /// public handle of version 2 (RFC 2054).
    #[inline]
    pub fn handle(&mut self, handle: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        if let Some(value) = self.handles.get(handle) {
            out.extend_from_slice(value);
            return Ok(());
        }
        let start = out.len();
        out.resize(start + handle.len(), 0);
        if handle.iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        let value = &mut out[start..];
        self.random.fill(value)?;
        // short values are few, so try the next free one
        while value.iter().all(|byte| *byte == 0) || !self.handles.add(handle, value) {
            for byte in value.iter_mut() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn stay(pairs: &mut Pairs, what: &[u8]) -> bool {
    match pairs.get(what) {
        Some(value) => value == what,
        None => pairs.add(what, what),
    }
}

#[inline]
fn number(pairs: &mut Pairs, id: u32, random: &mut Random) -> io::Result<u32> {
    let key = id.to_be_bytes();
    if let Some([a, b, c, d]) = pairs.get(&key) {
        return Ok(u32::from_be_bytes([*a, *b, *c, *d]));
    }
    loop {
        let value = random.bits()? as u32;
        if pairs.add(&key, &value.to_be_bytes()) {
            return Ok(value);
        }
    }
}
