//! Counts of components, for the labels of any number of predicates in one pass over the names.
//!
//! Names are far fewer than files, so each is hashed once per row and split only once. Two threads
//! count half of the rows each; the result does not depend on that.

use super::{split, Component, ComponentError, Role};
use arrow_array::builder::BinaryBuilder;
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, RecordBatch, UInt64Array};
use arrow_buffer::BooleanBuffer;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::Arc;
use std::thread;

/// The number of rows that is worth a thread.
const HALF: usize = 1 << 16;

/// Counts in how many names each component occurs (`n_a`), and in how many of those whose label
/// is true (`n_m`): steps 1a to 1c of Figure 6.3, for each column of `labels`. Rows whose name or
/// label is null are left out.
///
/// The batch has the column `component`, in byte order, and `KEY n_a` and `KEY n_m` for each label
/// column `KEY`. A component has a row if it is in any name.
pub fn count(
    names: &BinaryArray,
    labels: &[(String, BooleanArray)],
    prefix: bool,
) -> Result<RecordBatch, ComponentError> {
    if let Some((key, label)) = labels.iter().find(|(_, label)| label.len() != names.len()) {
        let (key, labels) = (key.clone(), label.len());
        return Err(ComponentError::Labels { names: names.len(), labels, key });
    }
    let columns = columns_of(labels);
    let middle = if names.len() < 2 * HALF { names.len() } else { names.len() / 2 };
    let (mut first, second) = side_by_side(
        || Names::counted(names, &columns, 0..middle),
        || Names::counted(names, &columns, middle..names.len()),
    );
    first.add(&second);
    Components::of(&first.names, prefix)?.to_batch(&first.counts, labels)
}

/// The rows of a name that are counted: those whose bits are set, or every row.
type Counted = Option<BooleanBuffer>;

/// The columns counted: every row; then for each label the rows where it is known, if it has nulls,
/// and those where it is true.
fn columns_of(labels: &[(String, BooleanArray)]) -> Vec<Counted> {
    let mut columns = vec![None];
    for (_, label) in labels {
        match label.nulls().filter(|nulls| nulls.null_count() > 0) {
            Some(nulls) => {
                columns.push(Some(nulls.inner().clone()));
                columns.push(Some(label.values() & nulls.inner()));
            }
            None => columns.push(Some(label.values().clone())),
        }
    }
    columns
}

/// Distinct names, and counts of their rows by column.
struct Names<'a> {
    hasher: DefaultHashBuilder,
    index: HashTable<u32>,
    names: Vec<&'a [u8]>,
    counts: Vec<Vec<u32>>,
}

impl<'a> Names<'a> {
    fn counted(names: &'a BinaryArray, columns: &[Counted], rows: Range<usize>) -> Self {
        let (hasher, index) = (DefaultHashBuilder::default(), HashTable::new());
        let mut distinct = Names { hasher, index, names: Vec::new(), counts: Vec::new() };
        // Rows without a name have a separate place, which is then dropped.
        let mut places = Vec::with_capacity(rows.len());
        for row in rows.clone() {
            places.push(if names.is_null(row) { 0 } else { 1 + distinct.place(names.value(row)) });
        }
        for column in columns {
            let mut counts = vec![0; distinct.names.len() + 1];
            match column {
                None => places.iter().for_each(|place| counts[*place as usize] += 1),
                Some(bits) => tally(bits, rows.start, &places, &mut counts),
            }
            counts.remove(0);
            distinct.counts.push(counts);
        }
        distinct
    }

    fn place(&mut self, name: &'a [u8]) -> u32 {
        let (hasher, names) = (&self.hasher, &mut self.names);
        let hash = hasher.hash_one(name);
        let same = |place: &u32| names[*place as usize] == name;
        match self.index.entry(hash, same, |place| hasher.hash_one(names[*place as usize])) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let place = names.len() as u32;
                entry.insert(place);
                names.push(name);
                place
            }
        }
    }

    fn add(&mut self, other: &Names<'a>) {
        let places: Vec<u32> = other.names.iter().map(|name| self.place(name)).collect();
        for (counts, more) in self.counts.iter_mut().zip(&other.counts) {
            counts.resize(self.names.len(), 0);
            for (place, n) in places.iter().zip(more) {
                counts[*place as usize] += n;
            }
        }
    }
}

/// Adds the bits from `start` on to the counts at their rows' places.
fn tally(bits: &BooleanBuffer, start: usize, places: &[u32], counts: &mut [u32]) {
    let chunks = bits.slice(start, places.len());
    let chunks = chunks.inner().bit_chunks(chunks.offset(), places.len());
    for (word, places) in chunks.iter_padded().zip(places.chunks(64)) {
        for (bit, place) in places.iter().enumerate() {
            counts[*place as usize] += (word >> bit & 1) as u32;
        }
    }
}

/// Distinct components in byte order, and for each name the places of its components.
struct Components {
    rendered: BinaryArray,
    /// The places of the components of all names, and where those of each name begin.
    places: Vec<u32>,
    begins: Vec<usize>,
    /// The names in byte order of the whole, for locality in the components.
    order: Vec<u32>,
}

impl Components {
    fn of(names: &[&[u8]], prefix: bool) -> Result<Self, ComponentError> {
        let (mut found, mut index) = (Vec::new(), HashMap::new());
        let (mut places, mut begins, mut parts) = (Vec::new(), vec![0], Vec::new());
        for name in names {
            split(name, prefix, &mut parts);
            for (role, component) in parts.drain(..) {
                let next = found.len() as u32;
                // No other name has the same whole: no lookup is needed.
                let known = if role == Role::Whole { None } else { index.get(&component) };
                places.push(*known.unwrap_or(&next));
                if known.is_none() {
                    if role != Role::Whole {
                        index.insert(component.clone(), next);
                    }
                    found.push(component);
                }
            }
            begins.push(places.len());
        }
        let (rendered, ranks) = sorted(&found)?;
        places.iter_mut().for_each(|place| *place = ranks[*place as usize]);
        let mut order: Vec<u32> = (0..names.len() as u32).collect();
        order.sort_unstable_by_key(|name| places[begins[*name as usize]]);
        Ok(Components { rendered, places, begins, order })
    }

    /// The sums over the names that have each component.
    fn sums(&self, counts: &[u32]) -> ArrayRef {
        let mut sums = vec![0_u64; self.rendered.len()];
        for &name in &self.order {
            let (name, next) = (name as usize, name as usize + 1);
            for place in &self.places[self.begins[name]..self.begins[next]] {
                sums[*place as usize] += u64::from(counts[name]);
            }
        }
        Arc::new(UInt64Array::from(sums))
    }

    fn to_batch(
        &self,
        counts: &[Vec<u32>],
        labels: &[(String, BooleanArray)],
    ) -> Result<RecordBatch, ComponentError> {
        let (some, others) = counts.split_at(counts.len() / 2);
        let sums = |of: &[Vec<u32>]| of.iter().map(|counts| self.sums(counts)).collect::<Vec<_>>();
        let mut columns = both(|| sums(some), || sums(others)).into_iter();
        let every = columns.next();
        let rendered: ArrayRef = Arc::new(self.rendered.clone());
        let mut table = vec![("component".to_owned(), rendered, false)];
        for (key, label) in labels {
            let known = if label.null_count() > 0 { columns.next() } else { every.clone() };
            for (name, array) in [("n_a", known), ("n_m", columns.next())] {
                table.extend(array.map(|array| (format!("{key} {name}"), array, false)));
            }
        }
        Ok(RecordBatch::try_from_iter_with_nullable(table)?)
    }
}

/// Renders components in byte order; also returns each component's rank.
fn sorted(components: &[Component]) -> Result<(BinaryArray, Vec<u32>), ComponentError> {
    // Rendered, each byte may take two, and there are two anchors.
    let most: usize = components.iter().map(|each| 2 * each.text.len() + 2).sum();
    if i32::try_from(most).is_err() {
        let bytes: usize = components.iter().map(Component::written).sum();
        if i32::try_from(bytes).is_err() {
            return Err(ComponentError::Long(bytes));
        }
    }
    let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(components.len()));
    for component in components {
        component.write(&mut bytes);
        ends.push(bytes.len());
    }
    let text = |at: u32| {
        let at = at as usize;
        &bytes[at.checked_sub(1).map_or(0, |before| ends[before])..ends[at]]
    };
    // The first eight bytes decide most comparisons.
    let keyed = |at: u32| {
        let mut key = [0; 8];
        key.iter_mut().zip(text(at)).for_each(|(to, from)| *to = *from);
        (u64::from_be_bytes(key), at)
    };
    let compare = |one: &(u64, u32), other: &(u64, u32)| {
        one.0.cmp(&other.0).then_with(|| text(one.1).cmp(text(other.1)))
    };
    let middle = components.len() as u32 / 2;
    let run = |rows: Range<u32>| {
        let mut run: Vec<(u64, u32)> = rows.map(keyed).collect();
        run.sort_unstable_by(compare);
        run
    };
    let mut order = both(|| run(0..middle), || run(middle..components.len() as u32));
    order.sort_by(compare); // stable: it merges two runs
    let mut ranks = vec![0; components.len()];
    let mut rendered = BinaryBuilder::with_capacity(components.len(), bytes.len());
    for (rank, (_, at)) in (0..).zip(&order) {
        ranks[*at as usize] = rank;
        rendered.append_value(text(*at));
    }
    Ok((rendered.finish(), ranks))
}

/// Runs two functions in parallel, and concatenates their results.
fn both<T: Send>(one: impl FnOnce() -> Vec<T>, other: impl FnOnce() -> Vec<T> + Send) -> Vec<T> {
    let (mut made, more) = side_by_side(one, other);
    made.extend(more);
    made
}

fn side_by_side<T, U: Send>(one: impl FnOnce() -> T, other: impl FnOnce() -> U + Send) -> (T, U) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let one = one();
        match other.join() {
            Ok(other) => (one, other),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(batch: &RecordBatch, name: &str) -> Vec<u64> {
        let column = batch.column_by_name(name).unwrap();
        column.as_any().downcast_ref::<UInt64Array>().unwrap().values().to_vec()
    }

    #[test]
    fn rows_without_a_name_or_a_label_are_left_out() {
        let names = BinaryArray::from(vec![Some(&b"a"[..]), None, Some(b"a"), Some(b"a")]);
        let one = BooleanArray::from(vec![Some(true), Some(true), None, Some(false)]);
        let two = BooleanArray::from(vec![false, true, true, true]);
        let labels = [("one".to_string(), one), ("two".to_string(), two)];
        let batch = count(&names, &labels, true).unwrap();
        assert_eq!(batch.num_rows(), 1);
        assert_eq!([column(&batch, "one n_a"), column(&batch, "one n_m")], [[2], [1]]);
        assert_eq!([column(&batch, "two n_a"), column(&batch, "two n_m")], [[3], [2]]);
    }

    #[test]
    fn two_halves_count_as_one_whole() {
        let rows = 2 * HALF + 77;
        let texts: Vec<String> = (0..rows).map(|i| format!("{}.{}", i % 5, i % 3)).collect();
        let names: BinaryArray = texts.iter().map(|name| Some(name.as_bytes())).collect();
        let label: BooleanArray = (0..rows).map(|i| (i % 11 != 0).then_some(i % 7 == 0)).collect();
        let labels = |from: usize, n: usize| [("k".to_string(), label.slice(from, n))];
        let whole = count(&names, &labels(0, rows), true).unwrap();
        let mut sums = [vec![0; whole.num_rows()], vec![0; whole.num_rows()]];
        for (from, n) in [(0, HALF - 3), (HALF - 3, 5), (HALF + 2, rows - HALF - 2)] {
            let part = count(&names.slice(from, n), &labels(from, n), true).unwrap();
            let of = |batch: &RecordBatch| batch.column(0).clone();
            for (sum, name) in sums.iter_mut().zip(["k n_a", "k n_m"]) {
                let all = of(&whole);
                let all = all.as_any().downcast_ref::<BinaryArray>().unwrap();
                let own = of(&part);
                let own = own.as_any().downcast_ref::<BinaryArray>().unwrap();
                for (component, n) in own.iter().zip(column(&part, name)) {
                    sum[all.iter().position(|each| each == component).unwrap()] += n;
                }
            }
        }
        assert_eq!(sums, [column(&whole, "k n_a"), column(&whole, "k n_m")]);
    }
}
