//! The keys of statistics: attributes of a create, and combinations of them.

use super::hash;
use super::shape::shape;

/// The number of keys of a create.
pub const KEYS: usize = 11;
/// The index of the caller's key.
pub const CALLER: usize = 8;

/// The keys of a create, none if a part is unknown.
pub type Keys = [Option<u64>; KEYS];

/// The known attributes of a create, as in `features/creates.py`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Create<'a> {
    /// The name given.
    pub name: Option<&'a [u8]>,
    /// The handle of the directory.
    pub dir_fh: Option<&'a [u8]>,
    /// The directory's own name.
    pub dir_name: Option<&'a [u8]>,
    /// The permission bits that it carries.
    pub mode: Option<u32>,
    /// The caller's user.
    pub uid: Option<u32>,
    /// The caller's host.
    pub client: Option<&'a str>,
}

/// Hashes names, with reused memory.
#[derive(Default)]
pub struct Namer {
    folded: Vec<u8>,
}

/// The hashes of a create's known attributes, and of its caller's previous create.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The name.
    pub name: Option<u64>,
    /// The name's shape.
    pub shape: Option<u64>,
    /// The shape after its last period.
    pub suffix: Option<u64>,
    /// The handle of the directory.
    pub dir: Option<u64>,
    /// The shape of the directory's own name.
    pub dir_shape: Option<u64>,
    /// The shape of the caller's previous create, 0 for none.
    pub previous: Option<u64>,
    /// The client's address.
    pub client: Option<u64>,
    /// The mode itself.
    pub mode: Option<u64>,
    /// The user's number itself.
    pub uid: Option<u64>,
}

impl Namer {
    /// The hashes of a create's attributes.
    #[inline]
    pub fn names(&mut self, create: &Create) -> Names {
        let dir_shape = self.shape(create.dir_name);
        let shape = self.shape(create.name);
        Names {
            name: create.name.map(hash::of),
            shape,
            suffix: shape.map(|_| hash::of(suffix(&self.folded))),
            dir: create.dir_fh.map(hash::of),
            dir_shape,
            previous: None,
            client: create.client.map(|client| hash::of(client.as_bytes())),
            mode: create.mode.map(u64::from),
            uid: create.uid.map(u64::from),
        }
    }

    /// The hash of a name's shape.
    pub fn shape(&mut self, name: Option<&[u8]>) -> Option<u64> {
        shape(name?, &mut self.folded);
        Some(hash::of(&self.folded))
    }
}

/// The text after a name's last period; empty without one.
fn suffix(name: &[u8]) -> &[u8] {
    memchr::memrchr(b'.', name).map_or(b"", |period| &name[period + 1..])
}

impl Names {
    /// The key of the caller: a user at a client.
    #[inline]
    pub fn caller(&self) -> Option<u64> {
        key(CALLER, [self.client, self.uid])
    }

    /// All keys.
    #[inline]
    pub fn keys(&self) -> Keys {
        let caller = self.caller();
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
            key(9, [self.previous, self.shape]),
            key(10, [self.mode, self.suffix, self.uid]),
        ]
    }
}

#[inline]
fn key<const PARTS: usize>(which: usize, parts: [Option<u64>; PARTS]) -> Option<u64> {
    parts.iter().try_fold(which as u64, |key, part| Some(hash::with(key, (*part)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Names = Names {
        name: Some(1),
        shape: Some(1),
        suffix: Some(1),
        dir: Some(1),
        dir_shape: Some(1),
        previous: Some(1),
        client: Some(1),
        mode: Some(1),
        uid: Some(1),
    };

    #[test]
    fn no_two_keys_are_one_though_all_parts_are() {
        let mut keys: Vec<_> = NAMES.keys().into_iter().flatten().collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), KEYS);
    }

    #[test]
    fn a_key_is_unknown_where_a_part_is() {
        let unknown = |names: Names| names.keys().iter().filter(|key| key.is_none()).count();
        assert_eq!(unknown(NAMES), 0);
        assert_eq!(unknown(Names { uid: None, ..NAMES }), 4);
        assert_eq!(unknown(Names { dir: None, ..NAMES }), 4);
        assert_eq!(unknown(Names { shape: None, suffix: None, name: None, ..NAMES }), 9);
    }

    #[test]
    fn a_suffix_follows_the_last_period() {
        assert_eq!([suffix(b"a.b.c"), suffix(b"a."), suffix(b"a")], [&b"c"[..], b"", b""]);
    }
}
