//! The components of file names (thesis Figure 6.2), matched over whole columns. `count` counts them,
//! `rules` decides by them.
//!
//! A component is stored as the bytes of its piece and its anchors, and rendered as a regular
//! expression only at the module's boundary.

use arrow_array::{Array, BinaryArray, Int32Array};
use arrow_schema::ArrowError;
use hashbrown::HashMap;
use std::borrow::Cow;

pub mod count;
pub mod rules;

/// Length in bytes of the optional prefix component; only longer names have one.
const PREFIX: usize = 5;

/// An error in counting or matching names.
#[derive(Debug, thiserror::Error)]
pub enum ComponentError {
    /// The rule at this index is not a component.
    #[error("rule {0} is not a name component")]
    Rule(usize),
    /// Rules and their bounds are not of one length.
    #[error("{rules} rules but {lower} lower and {upper} upper bounds")]
    #[allow(missing_docs)]
    Bounds { rules: usize, lower: usize, upper: usize },
    /// Names and their labels are not of one length.
    #[error("{names} names but {labels} labels of {key}")]
    #[allow(missing_docs)]
    Labels { names: usize, labels: usize, key: String },
    /// The components do not fit into one column.
    #[error("components of {0} bytes, expected fewer than 2^31")]
    Long(usize),
    /// The table of counts is invalid, which is a defect.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}

/// One component: a run of bytes, and whether it must begin or end the name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Component<'a> {
    starts: bool,
    ends: bool,
    text: Cow<'a, [u8]>,
}

impl<'a> Component<'a> {
    fn new(text: &'a [u8], starts: bool, ends: bool) -> Self {
        let text = Cow::Borrowed(text);
        Component { starts, ends, text }
    }

    /// The component as a regular expression: `^` and `$` for the anchors, and a backslash before
    /// every byte that is an operator.
    pub fn render(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.text.len() + 2);
        self.write(&mut out);
        out
    }

    /// The length of its rendering in bytes.
    fn written(&self) -> usize {
        let operators = self.text.iter().filter(|&&byte| is_operator(byte)).count();
        usize::from(self.starts) + self.text.len() + operators + usize::from(self.ends)
    }

    /// Appends its rendering ([`Component::render`]) to `out`.
    fn write(&self, out: &mut Vec<u8>) {
        if self.starts {
            out.push(b'^');
        }
        for &byte in self.text.iter() {
            if is_operator(byte) {
                out.push(b'\\');
            }
            out.push(byte);
        }
        if self.ends {
            out.push(b'$');
        }
    }

    /// The component that renders as `regex`; `None` if there is none.
    pub fn parse(regex: &'a [u8]) -> Option<Self> {
        let (starts, mut rest) = match regex.strip_prefix(b"^") {
            Some(rest) => (true, rest),
            None => (false, regex),
        };
        let backslashes =
            |end: usize| rest[..end].iter().rev().take_while(|b| **b == b'\\').count();
        let ends = rest.ends_with(b"$") && backslashes(rest.len() - 1) % 2 == 0;
        if ends {
            rest = &rest[..rest.len() - 1];
        }
        let text = unescape(rest)?;
        Some(Component { starts, ends, text })
    }
}

/// Whether a byte is an operator of regular expressions, `\^$.|?*+()[]{}`.
fn is_operator(byte: u8) -> bool {
    // `()*+`, `[\]^` and `{|}` stand side by side in ASCII
    matches!(byte, b'$' | b'.' | b'?' | b'('..=b'+' | b'['..=b'^' | b'{'..=b'}')
}

fn unescape(escaped: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !escaped.iter().any(|byte| is_operator(*byte)) {
        return Some(Cow::Borrowed(escaped));
    }
    let mut text = Vec::with_capacity(escaped.len());
    let mut bytes = escaped.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\\' => text.push(*bytes.next().filter(|next| is_operator(**next))?),
            _ if is_operator(byte) => return None,
            _ => text.push(byte),
        }
    }
    Some(Cow::Owned(text))
}

/// The role of a component in a name, in the order of precedence of `rules`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The whole name.
    Whole,
    /// A piece between two of its periods.
    Middle,
    /// Its first five bytes.
    Prefix,
    /// The piece after its last period.
    Last,
    /// The piece before its first period.
    First,
    /// No part of it: true of every name ([`rules::ANY`]).
    Any,
}

/// Puts the set of components of `name` into `out`: the whole name, its first and last piece, the
/// pieces between them (in byte order), and with `prefix` its first five bytes.
pub fn split<'a>(name: &'a [u8], prefix: bool, out: &mut Vec<(Role, Component<'a>)>) {
    out.clear();
    out.push((Role::Whole, Component::new(name, true, true)));
    let first = memchr::memchr(b'.', name);
    if let (Some(first), Some(last)) = (first, memchr::memrchr(b'.', name)) {
        out.push((Role::First, Component::new(&name[..first], true, false)));
        out.push((Role::Last, Component::new(&name[last + 1..], false, true)));
        if first < last {
            let between = name[first + 1..last].split(|byte| *byte == b'.');
            out.extend(between.map(|piece| (Role::Middle, Component::new(piece, false, false))));
            out[3..].sort_unstable();
            out.dedup();
        }
    }
    if prefix && name.len() > PREFIX && first != Some(PREFIX) {
        out.push((Role::Prefix, Component::new(&name[..PREFIX], true, false)));
    }
}

/// Returns the names of whole-name `components`; null for the others.
pub fn whole_names(components: &BinaryArray) -> BinaryArray {
    let name = |component| {
        let whole = Component::parse(component).filter(|c| c.starts && c.ends)?;
        Some(whole.text)
    };
    components.iter().map(|component| component.and_then(name)).collect()
}

/// Finds for each name the first of `rules` that is among its components; null without any.
///
/// A rule is a component as [`Component::render`] writes it; anything else is an error.
pub fn first_match(
    names: &BinaryArray,
    rules: &BinaryArray,
    prefix: bool,
) -> Result<Int32Array, ComponentError> {
    let mut ranks: HashMap<Component, i32> = HashMap::with_capacity(rules.len());
    for (rank, rule) in (0..).zip(rules.iter()) {
        let component = rule.and_then(Component::parse);
        let component = component.ok_or(ComponentError::Rule(rank as usize))?;
        ranks.entry(component).or_insert(rank);
    }
    let mut components = Vec::new();
    let best = names.iter().map(|name| {
        split(name?, prefix, &mut components);
        components.iter().filter_map(|(_, component)| ranks.get(component)).min().copied()
    });
    Ok(best.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(name: &[u8], prefix: bool) -> Vec<String> {
        let mut components = Vec::new();
        split(name, prefix, &mut components);
        components.iter().map(|(_, c)| String::from_utf8(c.render()).unwrap()).collect()
    }

    #[test]
    fn the_example_of_section_6_3_1() {
        let expected = [r"^prediction\.tex$", "^prediction", "tex$", "^predi"];
        assert_eq!(rendered(b"prediction.tex", true), expected);
        assert_eq!(rendered(b"prediction.tex", false), expected[..3]);
    }

    #[test]
    fn a_set_holds_each_component_once() {
        assert_eq!(rendered(b"core", true), ["^core$"]);
        assert_eq!(rendered(b"predi.c", true), [r"^predi\.c$", "^predi", "c$"]);
        assert_eq!(rendered(b"a.x.x.b", false), [r"^a\.x\.x\.b$", "^a", "b$", "x"]);
        assert_eq!(rendered(b".", true), [r"^\.$", "^", "$"]);
        assert_eq!(rendered(b"...", true), [r"^\.\.\.$", "^", "$", ""]);
    }

    #[test]
    fn rendered_components_can_be_parsed() {
        for name in [&b"a\\$.b^.$"[..], b"", b".", b"\\", b"x$", b"^x", b"[a]{2}.(b|c)?"] {
            let mut components = Vec::new();
            split(name, true, &mut components);
            for (_, component) in components {
                assert_eq!(Component::parse(&component.render()), Some(component));
            }
        }
    }

    #[test]
    fn other_expressions_are_refused() {
        for regex in [&b"a.b"[..], b"a\\", b"\\a", b"a$b", b"$^", b"a*"] {
            assert_eq!(Component::parse(regex), None, "{regex:?}");
        }
    }
}
