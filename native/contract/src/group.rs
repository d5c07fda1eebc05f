//! Named numbers, for C and Python, too.

/// A number.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// Its name here; elsewhere with `BM_` before it.
    pub name: &'static str,
    /// The number.
    pub value: u64,
    /// Whether it is written in hexadecimal digits.
    pub hexadecimal: bool,
    /// The comment beside it.
    pub meaning: &'static str,
}

/// Numbers that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The name of their enumeration in C; none for macros.
    pub tag: Option<&'static str>,
    /// The comment above them.
    pub meaning: &'static str,
    /// The numbers, in order.
    pub constants: &'static [Constant],
}

/// Declares a constant for each number of a group, and one for the group.
macro_rules! group {
    (
        $(#[doc = $what:literal])*
        $group:ident $(= $tag:literal)?: $type:ty {
            $($(#[doc = $meaning:literal])* $name:ident = $value:expr,)*
        }
    ) => {
        $(#[allow(missing_docs)] $(#[doc = $meaning])* pub const $name: $type = $value;)*
        $(#[doc = $what])*
        pub const $group: $crate::Group = $crate::Group {
            tag: [None, $(Some($tag))?][0 $(+ { let _ = $tag; 1 })?],
            meaning: concat!($($what),*).trim_ascii(),
            constants: &[$($crate::Constant {
                name: stringify!($name),
                value: $value as u64,
                hexadecimal: $crate::group::is_hexadecimal(stringify!($value)),
                meaning: concat!($($meaning),*).trim_ascii(),
            }),*],
        };
    };
}
pub(crate) use group;

/// Whether a number is written in hexadecimal digits.
pub(crate) const fn is_hexadecimal(written: &str) -> bool {
    matches!(written.as_bytes(), [b'0', b'x', ..])
}

/// Whether two texts are the same, for constants.
pub(crate) const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut place = 0;
    while place < one.len() && place < other.len() && one[place] == other[place] {
        place += 1;
    }
    place == one.len() && place == other.len()
}
