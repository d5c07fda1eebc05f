//! Decision lists over components: rules with a lower and an upper bound.
//!
//! At a threshold a rule is a yes if its lower bound reaches it, a no if its upper bound does not,
//! and otherwise has no verdict. The roles of a name's components have the precedence of [`Role`]:
//! the first with a verdict decides, and within one role a no beats a yes. A name's score is the
//! highest threshold at which it is a yes: a yes stays one as the threshold falls.

use super::{split, Component, ComponentError, Role};
use arrow_array::{Array, BinaryArray, BooleanArray, Float64Array, Int32Array};
use hashbrown::HashMap;

/// The component, as a regular expression, that every name has.
pub const ANY: &[u8] = b".*";

/// The rules that a name has, with their roles.
type Found = Vec<(Role, u32)>;

/// Rules, and their bounds as numbers or as ranks among thresholds.
pub struct Rules<'a, T> {
    places: HashMap<Component<'a>, u32>,
    any: Option<u32>,
    lower: &'a [T],
    upper: &'a [T],
    prefix: bool,
}

impl<'a, T: Copy + PartialOrd> Rules<'a, T> {
    /// Rules with a lower and an upper bound each: components of names (with `prefix`, also of their
    /// first bytes), or [`ANY`].
    pub fn new(
        rules: &'a BinaryArray,
        lower: &'a [T],
        upper: &'a [T],
        prefix: bool,
    ) -> Result<Self, ComponentError> {
        if [lower.len(), upper.len()] != [rules.len(); 2] {
            let (rules, lower, upper) = (rules.len(), lower.len(), upper.len());
            return Err(ComponentError::Bounds { rules, lower, upper });
        }
        let (mut places, mut any) = (HashMap::with_capacity(rules.len()), None);
        for (place, rule) in (0..).zip(rules.iter()) {
            if rule == Some(ANY) {
                any = Some(place);
                continue;
            }
            let component = rule.and_then(Component::parse);
            let component = component.ok_or(ComponentError::Rule(place as usize))?;
            places.insert(component, place);
        }
        Ok(Rules { places, any, lower, upper, prefix })
    }

    /// The rules that a name has, by precedence; a null has no component, but may have [`ANY`].
    fn find<'n>(&self, name: Option<&'n [u8]>, parts: &mut Vec<(Role, Component<'n>)>) -> Found
    where
        'a: 'n,
    {
        parts.clear();
        if let Some(name) = name {
            split(name, self.prefix, parts);
        }
        let places = parts.iter().filter_map(|(role, part)| Some((*role, *self.places.get(part)?)));
        let mut found: Found = places.chain(self.any.map(|any| (Role::Any, any))).collect();
        found.sort_unstable();
        found
    }

    /// The highest threshold, from `least` to `most`, at which the rules are a yes.
    ///
    /// It is the best lower bound above which no upper bound of the same or an earlier role lies.
    fn highest(&self, found: &Found, least: T, most: T, mut active: impl FnMut(u32) -> bool) -> T {
        let min = |one: T, other: T| if other < one { other } else { one };
        let max = |one: T, other: T| if other > one { other } else { one };
        let (mut score, mut ceiling) = (least, most);
        for role in found.chunk_by(|one, other| one.0 == other.0) {
            let mut best = least;
            for &(_, rule) in role.iter().filter(|(_, rule)| active(*rule)) {
                best = max(best, self.lower[rule as usize]);
                ceiling = min(ceiling, self.upper[rule as usize]);
            }
            score = max(score, min(best, ceiling));
        }
        score
    }
}

impl Rules<'_, f64> {
    /// Scores names, from 0 to 1.
    pub fn score(&self, names: &BinaryArray) -> Float64Array {
        let mut parts = Vec::new();
        let scores = names.iter().map(|name| {
            let found = self.find(name, &mut parts);
            self.highest(&found, 0.0, 1.0, |_| true)
        });
        Float64Array::from_iter_values(scores)
    }

    /// Finds for each name the rule that decides at `threshold`; null without a verdict.
    pub fn decide(&self, names: &BinaryArray, threshold: f64) -> Int32Array {
        let lower = |rule: u32| self.lower[rule as usize];
        let upper = |rule: u32| self.upper[rule as usize];
        let mut parts = Vec::new();
        let decided = names.iter().map(|name| {
            let found = self.find(name, &mut parts);
            let mut roles = found.chunk_by(|one, other| one.0 == other.0);
            let verdict = roles.find_map(|role| {
                let rules = || role.iter().map(|(_, rule)| *rule);
                let no = rules().filter(|rule| upper(*rule) < threshold);
                let yes = rules().filter(|rule| lower(*rule) >= threshold);
                first_best(no, |rule| -upper(rule)).or_else(|| first_best(yes, lower))
            });
            verdict.map(|rule| rule as i32)
        });
        decided.collect()
    }
}

impl Rules<'_, u32> {
    /// Finds the rules that the scores of `names` need: true for those.
    ///
    /// Bounds are ranks among the thresholds at which decisions must stay, `most` their number.
    /// Rules are tried for removal in order, repeatedly, until each of the remaining ones is needed.
    pub fn prune(&self, names: &BinaryArray, most: u32) -> BooleanArray {
        let mut parts = Vec::new();
        let named = names.iter().filter(Option::is_some);
        let mut examples: Vec<Found> = named.map(|name| self.find(name, &mut parts)).collect();
        examples.sort_unstable();
        examples.dedup();
        Pruning::new(self, examples, most).run().into()
    }
}

/// The first of the rules for which `by` is greatest.
fn first_best(rules: impl Iterator<Item = u32>, by: impl Fn(u32) -> f64) -> Option<u32> {
    rules.max_by(|one, other| by(*one).total_cmp(&by(*other)).then_with(|| other.cmp(one)))
}

/// The remaining rules, and the scores that must stay.
struct Pruning<'a> {
    rules: &'a Rules<'a, u32>,
    most: u32,
    examples: Vec<Found>,
    scores: Vec<u32>,
    of_rule: Vec<Vec<u32>>,
    active: Vec<bool>,
}

impl<'a> Pruning<'a> {
    fn new(rules: &'a Rules<u32>, examples: Vec<Found>, most: u32) -> Self {
        let score = |found| rules.highest(found, 0, most, |_| true);
        let scores = examples.iter().map(score).collect();
        let mut of_rule = vec![Vec::new(); rules.lower.len()];
        for (example, found) in (0..).zip(&examples) {
            found.iter().for_each(|(_, rule)| of_rule[*rule as usize].push(example));
        }
        let active = vec![true; of_rule.len()];
        Pruning { rules, most, examples, scores, of_rule, active }
    }

    fn run(mut self) -> Vec<bool> {
        loop {
            let mut dropped = false;
            for rule in 0..self.active.len() {
                dropped |= self.active[rule] && self.drop(rule);
            }
            if !dropped {
                return self.active;
            }
        }
    }

    /// Drops a rule if no example needs it. An example that does is tried first the next time.
    fn drop(&mut self, rule: usize) -> bool {
        self.active[rule] = false;
        let needs = |example: &u32| {
            let found = &self.examples[*example as usize];
            let active = |rule: u32| self.active[rule as usize];
            let score = self.rules.highest(found, 0, self.most, active);
            score != self.scores[*example as usize]
        };
        if let Some(first) = self.of_rule[rule].iter().position(needs) {
            self.of_rule[rule].swap(0, first);
            self.active[rule] = true;
        }
        !self.active[rule]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::UInt32Array;

    const RULES: [&[u8]; 4] = [b".*", b"^a", b"c$", br"^a\.c$"];

    fn rules() -> BinaryArray {
        BinaryArray::from(RULES.to_vec())
    }

    #[test]
    fn the_first_role_with_a_verdict_decides_and_a_no_caps_later_roles() {
        let lower = Float64Array::from(vec![0.1, 0.9, 0.2, 0.3]);
        let upper = Float64Array::from(vec![1.0, 1.0, 0.5, 0.8]);
        let names = BinaryArray::from(vec![Some(&b"a.c"[..]), Some(b"a.b"), Some(b"x"), None]);
        let texts = rules();
        let rules = Rules::new(&texts, lower.values(), upper.values(), true).unwrap();
        let scores = rules.score(&names);
        // of a.c: ^a is sure to 0.9, but c$ comes before it and rules out more than 0.5
        assert_eq!(scores.values().to_vec(), [0.5, 0.9, 0.1, 0.1]);
        let at = |t| rules.decide(&names, t);
        assert_eq!(at(0.6), Int32Array::from(vec![Some(2), Some(1), None, None]));
        assert_eq!(at(0.9), Int32Array::from(vec![Some(3), Some(1), None, None]));
        assert_eq!(at(0.5), Int32Array::from(vec![Some(1), Some(1), None, None]));
        assert_eq!(at(0.1), Int32Array::from(vec![Some(3), Some(1), Some(0), Some(0)]));
    }

    #[test]
    fn rules_that_change_no_score_are_dropped() {
        // at one threshold, ^a and the whole name say yes, and so does every name
        let lower = UInt32Array::from(vec![1, 1, 0, 1]);
        let upper = UInt32Array::from(vec![1, 1, 0, 1]);
        let names = BinaryArray::from(vec![&b"x"[..], b"a.c"]);
        let texts = rules();
        let rules = Rules::new(&texts, lower.values(), upper.values(), true).unwrap();
        let needed = rules.prune(&names, 1);
        // c$ says no to a.c, but the whole name outranks it: then neither says anything new
        assert_eq!(needed, BooleanArray::from(vec![true, false, false, false]));
    }

    #[test]
    fn missing_bounds_and_invalid_components_are_refused() {
        assert!(Rules::new(&rules(), &[0.5], &[0.5], true).is_err());
        let bad = BinaryArray::from(vec![&b"a*"[..]]);
        assert!(Rules::new(&bad, &[0.5], &[0.5], true).is_err());
    }
}
