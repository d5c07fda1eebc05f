//! The class of write life of a file, by its predictions.

use std::fmt;

use birthmark_image::{Answers, Image, Predicate};
use clap::Args;

/// Expected life of the data written into a file: `RWH_WRITE_LIFE_…` of `linux/fcntl.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A short time.
    Short = 2,
    /// Longer than that.
    Medium = 3,
    /// Longer than that.
    Long = 4,
    /// The longest.
    Extreme = 5,
}

/// The predicates of each class. The first class with a yes wins, in this order: a short-lived file
/// needs no further classification, and extreme lives are also long. The defaults minimize the data
/// moved by F2FS's cleaner (`docs/linux.md`).
#[derive(Args, Clone, Debug)]
#[group(requires = "write_life")]
#[command(next_help_heading = "Hinted classes: predicates whose yes gives the class")]
pub struct Rule {
    /// SHORT: by default none. F2FS puts such data into the log of all that is written in small
    /// pieces, short-lived or not
    #[arg(long, env = "BIRTHMARK_HINTD_SHORT", value_name = "PREDICATES", value_delimiter = ',')]
    pub short: Vec<String>,

    /// MEDIUM: gone before others that are written now, or written over
    #[arg(
        long,
        env = "BIRTHMARK_HINTD_MEDIUM",
        value_name = "PREDICATES",
        value_delimiter = ',',
        default_value = "lock,HotName,lifespan<=1,lifespan<=5,1<lifespan<=30,lifespan<=30,HotWrite"
    )]
    pub medium: Vec<String>,

    /// EXTREME: still there when what is of short life is gone
    #[arg(
        long,
        env = "BIRTHMARK_HINTD_EXTREME",
        value_name = "PREDICATES",
        value_delimiter = ',',
        default_value = "read-only,lifespan>5"
    )]
    pub extreme: Vec<String>,

    /// LONG: by default none; F2FS makes nothing of it
    #[arg(long, env = "BIRTHMARK_HINTD_LONG", value_name = "PREDICATES", value_delimiter = ',')]
    pub long: Vec<String>,
}

impl Rule {
    /// The class of a file, if any predicate counts.
    pub fn class(&self, is_yes: impl Fn(&str) -> bool) -> Option<Class> {
        let any = |keys: &[String]| keys.iter().any(|key| is_yes(key));
        self.all().into_iter().find_map(|(class, keys)| any(keys).then_some(class))
    }

    fn all(&self) -> [(Class, &[String]); 4] {
        [
            (Class::Short, &self.short),
            (Class::Medium, &self.medium),
            (Class::Extreme, &self.extreme),
            (Class::Long, &self.long),
        ]
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let keys: Vec<_> = self.all().into_iter().flat_map(|(_, keys)| keys).cloned().collect();
        f.write_str(&keys.join(", "))
    }
}

/// A rule, as bits of the answers of one image.
pub struct Bits([(Class, Answers); 4]);

impl Bits {
    /// The rule for `image`; none if it has none of the predicates.
    pub fn of(rule: &Rule, image: &Image) -> Option<Bits> {
        let bits = rule.all().map(|(class, keys)| (class, of_keys(keys, image.predicates())));
        bits.iter().any(|(_, bits)| *bits != Answers::default()).then_some(Bits(bits))
    }

    /// The class of a file by an image's answers.
    pub fn class(&self, answers: &Answers) -> Option<Class> {
        let meet = |bits: &Answers| bits.iter().zip(answers).any(|(one, other)| one & other != 0);
        self.0.iter().find_map(|(class, bits)| meet(bits).then_some(*class))
    }
}

fn of_keys(keys: &[String], predicates: &[Predicate]) -> Answers {
    let mut bits = Answers::default();
    for (place, predicate) in predicates.iter().enumerate() {
        if keys.contains(&predicate.key) {
            bits[place / 64] |= 1 << (place % 64);
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Options {
        #[arg(long)]
        write_life: bool,
        #[command(flatten)]
        rule: Rule,
    }

    fn class(options: &[&str], yes: &[&str]) -> Option<Class> {
        let given = ["test", "--write-life"].iter().chain(options);
        Options::parse_from(given).rule.class(|key| yes.contains(&key))
    }

    #[test]
    fn what_is_gone_soon_or_written_over_is_medium_and_what_stays_is_extreme() {
        let short = ["lock", "HotName", "lifespan<=1", "lifespan<=5", "1<lifespan<=30"];
        for medium in short.iter().chain(&["lifespan<=30", "HotWrite"]) {
            assert_eq!(class(&[], &[medium]), Some(Class::Medium), "{medium}");
        }
        for extreme in ["lifespan>5", "read-only"] {
            assert_eq!(class(&[], &[extreme]), Some(Class::Extreme), "{extreme}");
        }
    }

    #[test]
    fn what_says_nothing_of_a_life_says_no_class() {
        assert_eq!(class(&[], &["size>1M", "lifespan>1", "name:lock"]), None);
    }

    #[test]
    fn of_several_the_shortest_counts_and_extreme_before_long() {
        let own = ["--short=lock", "--long=lifespan>5", "--extreme=read-only"];
        assert_eq!(class(&own, &["lifespan>5", "read-only"]), Some(Class::Extreme));
        assert_eq!(class(&own, &["lifespan>5"]), Some(Class::Long));
        assert_eq!(class(&own, &["lifespan>5", "HotWrite", "read-only"]), Some(Class::Medium));
        assert_eq!(class(&own, &["lifespan>5", "HotWrite", "lock"]), Some(Class::Short));
    }

    #[test]
    fn an_image_without_any_of_them_has_no_bits() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/check/");
        let image = |name| Image::read(&std::fs::read(format!("{corpus}{name}")).unwrap()).unwrap();
        let rule = Options::parse_from(["test"]).rule;
        let hints = Bits::of(&rule, &image("hints")).unwrap();
        assert_eq!(hints.class(&Answers::default()), None);
        let others = Rule { short: vec!["no such".into()], ..rule.clone() };
        let others = Rule { medium: vec![], long: vec![], extreme: vec![], ..others };
        assert!(Bits::of(&others, &image("hints")).is_none());
    }
}
