//! Decision lists over components: rules with a lower and an upper bound, weighed against each other.
//!
//! At a threshold a rule says yes where its lower bound reaches it, no where its upper bound does
//! not, and else nothing. The roles of a name's components are asked in the order of [`Role`]: the
//! first with a verdict decides, and within one role a no beats a yes. A name's score is the highest
//! threshold at which it is a yes: a yes stays one as the threshold falls.

use super::{split, Component, ComponentError, Role};
use arrow_array::{Array, BinaryArray, BooleanArray, Float64Array, Int32Array, UInt32Array};
use hashbrown::HashMap;

/// The component, as a regular expression, that every name has.
pub const ANY: &[u8] = b".*";

/// The rules that a name has, with what they are to it.
type Found = Vec<(Role, u32)>;

/// Where the rules of a component are.
struct Index<'a> {
    rules: HashMap<Component<'a>, u32>,
    any: Option<u32>,
    prefix: bool,
}

impl<'a> Index<'a> {
    fn new(rules: &'a BinaryArray, prefix: bool) -> Result<Self, ComponentError> {
        let mut index = Index { rules: HashMap::with_capacity(rules.len()), any: None, prefix };
        for (place, rule) in (0..).zip(rules.iter()) {
            if rule == Some(ANY) {
                index.any = Some(place);
                continue;
            }
            let component = rule.and_then(Component::parse);
            let component = component.ok_or(ComponentError::Rule(place as usize))?;
            index.rules.insert(component, place);
        }
        Ok(index)
    }

    /// Returns the rules that `name` has, by precedence.
    fn find<'n>(&self, name: &'n [u8], parts: &mut Vec<(Role, Component<'n>)>) -> Found
    where
        'a: 'n,
    {
        split(name, self.prefix, parts);
        let places = parts.iter().filter_map(|(role, part)| Some((*role, *self.rules.get(part)?)));
        let mut found: Found = places.chain(self.any.map(|any| (Role::Any, any))).collect();
        found.sort_unstable();
        found
    }
}

/// The bounds of rules, as numbers or as ranks among thresholds.
struct Bounds<'a, T> {
    lower: &'a [T],
    upper: &'a [T],
    least: T,
    most: T,
}

impl<T: Copy + PartialOrd> Bounds<'_, T> {
    /// The highest threshold at which the rules say yes.
    ///
    /// It is the best lower bound that no upper bound of the same role or an earlier one is below.
    fn score(&self, found: &[(Role, u32)], mut active: impl FnMut(u32) -> bool) -> T {
        let (mut score, mut ceiling) = (self.least, self.most);
        for role in found.chunk_by(|one, other| one.0 == other.0) {
            let mut best = self.least;
            for &(_, rule) in role.iter().filter(|(_, rule)| active(*rule)) {
                best = max(best, self.lower[rule as usize]);
                ceiling = min(ceiling, self.upper[rule as usize]);
            }
            score = max(score, min(best, ceiling));
        }
        score
    }
}

fn min<T: PartialOrd>(one: T, other: T) -> T {
    if other < one {
        other
    } else {
        one
    }
}

fn max<T: PartialOrd>(one: T, other: T) -> T {
    if other > one {
        other
    } else {
        one
    }
}

/// Scores names by rules, from 0 to 1; a null has no component, but may have the rule [`ANY`].
pub fn score(
    names: &BinaryArray,
    rules: &BinaryArray,
    lower: &Float64Array,
    upper: &Float64Array,
    prefix: bool,
) -> Result<Float64Array, ComponentError> {
    same_length(rules, lower, upper)?;
    let index = Index::new(rules, prefix)?;
    let bounds = Bounds { lower: lower.values(), upper: upper.values(), least: 0.0, most: 1.0 };
    let mut parts = Vec::new();
    let none: Found = index.any.map(|any| (Role::Any, any)).into_iter().collect();
    let scores = names.iter().map(|name| match name {
        Some(name) => bounds.score(&index.find(name, &mut parts), |_| true),
        None => bounds.score(&none, |_| true),
    });
    Ok(Float64Array::from_iter_values(scores))
}

/// Finds for each name the rule that decides at `threshold`; null where none has a verdict.
pub fn decide(
    names: &BinaryArray,
    rules: &BinaryArray,
    lower: &Float64Array,
    upper: &Float64Array,
    threshold: f64,
    prefix: bool,
) -> Result<Int32Array, ComponentError> {
    same_length(rules, lower, upper)?;
    let index = Index::new(rules, prefix)?;
    let strength = |rule: &u32| lower.value(*rule as usize);
    let weakness = |rule: &u32| -upper.value(*rule as usize);
    let mut parts = Vec::new();
    let decided = names.iter().map(|name| {
        let found = match name {
            Some(name) => index.find(name, &mut parts),
            None => index.any.map(|any| (Role::Any, any)).into_iter().collect(),
        };
        let mut roles = found.chunk_by(|one, other| one.0 == other.0);
        let verdict = roles.find_map(|role| {
            let rules = || role.iter().map(|(_, rule)| *rule);
            let no = rules().filter(|rule| -weakness(rule) < threshold);
            let yes = rules().filter(|rule| strength(rule) >= threshold);
            let first = |one: &u32, other: &u32| other.cmp(one);
            no.max_by(|a, b| weakness(a).total_cmp(&weakness(b)).then_with(|| first(a, b))).or_else(
                || yes.max_by(|a, b| strength(a).total_cmp(&strength(b)).then_with(|| first(a, b))),
            )
        });
        verdict.map(|rule| rule as i32)
    });
    Ok(decided.collect())
}

/// Finds rules without which the scores of `names` stay as they are: false for those.
///
/// Bounds are ranks among the thresholds at which decisions must stay, `most` their number. Rules
/// are tried in their order, again and again until none can go: of those that stay, each is needed.
pub fn prune(
    names: &BinaryArray,
    rules: &BinaryArray,
    lower: &UInt32Array,
    upper: &UInt32Array,
    most: u32,
    prefix: bool,
) -> Result<BooleanArray, ComponentError> {
    same_length(rules, lower, upper)?;
    let index = Index::new(rules, prefix)?;
    let mut parts = Vec::new();
    let mut examples: Vec<Found> =
        names.iter().flatten().map(|name| index.find(name, &mut parts)).collect();
    examples.sort_unstable();
    examples.dedup();
    let bounds = Bounds { lower: lower.values(), upper: upper.values(), least: 0, most };
    Ok(Pruning::new(examples, bounds).run().into())
}

/// The rules that are left, and what must stay as it is.
struct Pruning<'a> {
    bounds: Bounds<'a, u32>,
    examples: Vec<Found>,
    scores: Vec<u32>,
    of_rule: Vec<Vec<u32>>,
    active: Vec<bool>,
}

impl<'a> Pruning<'a> {
    fn new(examples: Vec<Found>, bounds: Bounds<'a, u32>) -> Self {
        let scores = examples.iter().map(|found| bounds.score(found, |_| true)).collect();
        let mut of_rule = vec![Vec::new(); bounds.lower.len()];
        for (example, found) in (0..).zip(&examples) {
            found.iter().for_each(|(_, rule)| of_rule[*rule as usize].push(example));
        }
        let active = vec![true; of_rule.len()];
        Pruning { bounds, examples, scores, of_rule, active }
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

    /// Drops a rule if no example needs it. One that does is asked first the next time.
    fn drop(&mut self, rule: usize) -> bool {
        self.active[rule] = false;
        let needs = |example: &u32| {
            let found = &self.examples[*example as usize];
            let score = self.bounds.score(found, |rule| self.active[rule as usize]);
            score != self.scores[*example as usize]
        };
        if let Some(first) = self.of_rule[rule].iter().position(needs) {
            self.of_rule[rule].swap(0, first);
            self.active[rule] = true;
        }
        !self.active[rule]
    }
}

fn same_length(
    rules: &BinaryArray,
    lower: &dyn Array,
    upper: &dyn Array,
) -> Result<(), ComponentError> {
    let (rules, lower, upper) = (rules.len(), lower.len(), upper.len());
    if [lower, upper] != [rules; 2] {
        return Err(ComponentError::Bounds { rules, lower, upper });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: [&[u8]; 4] = [b".*", b"^a", b"c$", br"^a\.c$"];

    fn rules() -> BinaryArray {
        BinaryArray::from(RULES.to_vec())
    }

    #[test]
    fn the_first_role_with_a_verdict_decides_and_a_no_caps_what_comes_after() {
        let lower = Float64Array::from(vec![0.1, 0.9, 0.2, 0.3]);
        let upper = Float64Array::from(vec![1.0, 1.0, 0.5, 0.8]);
        let names = BinaryArray::from(vec![Some(&b"a.c"[..]), Some(b"a.b"), Some(b"x"), None]);
        let scores = score(&names, &rules(), &lower, &upper, true).unwrap();
        // of a.c: ^a is sure to 0.9, but c$ comes before it and rules out more than 0.5
        assert_eq!(scores.values().to_vec(), [0.5, 0.9, 0.1, 0.1]);
        let at = |t| decide(&names, &rules(), &lower, &upper, t, true).unwrap();
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
        let kept = prune(&names, &rules(), &lower, &upper, 1, true).unwrap();
        // c$ says no to a.c, but the whole name outranks it: then neither says anything new
        assert_eq!(kept, BooleanArray::from(vec![true, false, false, false]));
    }

    #[test]
    fn bounds_that_are_too_few_and_what_is_no_component_are_refused() {
        let one = Float64Array::from(vec![0.5]);
        assert!(score(&rules(), &rules(), &one, &one, true).is_err());
        let bad = BinaryArray::from(vec![&b"a*"[..]]);
        assert!(score(&rules(), &bad, &one, &one, true).is_err());
    }
}
