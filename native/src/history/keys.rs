//! What statistics are kept by: what a create shows, alone and together.

use super::births::Creates;
use super::hash;
use super::shape::shape;

/// How many keys a create has.
pub const KEYS: usize = 10;
/// Which of them is its caller.
pub const CALLER: usize = 8;

/// The keys of a create, none where a part of one is not known.
pub type Keys = [Option<u64>; KEYS];

/// Makes names of creates.
#[derive(Default)]
pub struct Namer {
    folded: Vec<u8>,
}

/// The hashes of what a create shows; none of what is not known.
#[derive(Clone, Copy)]
pub struct Names {
    name: Option<u64>,
    /// Of the name's shape.
    pub shape: Option<u64>,
    suffix: Option<u64>,
    dir: Option<u64>,
    dir_shape: Option<u64>,
    client: Option<u64>,
    uid: Option<u64>,
}

impl Namer {
    /// The names of a row's create.
    #[inline]
    pub fn names(&mut self, creates: &Creates, row: usize) -> Names {
        let dir_shape = self.shape(creates.dir_name(row));
        let name = creates.name(row);
        let shape = self.shape(name);
        Names {
            name: name.map(hash::of),
            shape,
            suffix: shape.map(|_| hash::of(suffix(&self.folded))),
            dir: creates.dir_fh(row).map(hash::of),
            dir_shape,
            client: creates.client(row).map(|client| hash::of(client.as_bytes())),
            uid: creates.uid(row).map(u64::from),
        }
    }

    fn shape(&mut self, name: Option<&[u8]>) -> Option<u64> {
        shape(name?, &mut self.folded);
        Some(hash::of(&self.folded))
    }
}

/// What follows a name's last period; nothing where it has none.
fn suffix(name: &[u8]) -> &[u8] {
    memchr::memrchr(b'.', name).map_or(b"", |period| &name[period + 1..])
}

impl Names {
    /// The key of the caller: a user at a client.
    #[inline]
    pub fn caller(&self) -> Option<u64> {
        key(CALLER, [self.client, self.uid])
    }

    /// All keys, given the shape of what the caller created before (0 for nothing).
    #[inline]
    pub fn keys(&self, caller: Option<u64>, previous: Option<u64>) -> Keys {
        [
            key(0, [self.dir, self.name]),
            key(1, [self.dir, self.shape]),
            key(2, [self.dir, self.suffix]),
            key(3, [self.dir]),
            key(4, [self.name]),
            key(5, [self.shape]),
            key(6, [self.uid, self.suffix]),
            key(7, [self.dir_shape, self.suffix, self.uid]),
            caller,
            key(9, [previous, self.shape]),
        ]
    }
}

#[inline]
fn key<const PARTS: usize>(which: usize, parts: [Option<u64>; PARTS]) -> Option<u64> {
    parts.iter().try_fold(which as u64, |key, part| Some(hash::with(key, (*part)?)))
}
