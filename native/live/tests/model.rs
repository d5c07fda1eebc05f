//! Readers and writers of a shared history in every order that the memory model allows, tried by
//! `loom`: also with a writer that dies between any two of its stores, and one that replaces it.

use birthmark_learn::history::Record;
use birthmark_live::header::{Clocks, Layout, Report, State, SEQUENCE, SUPERSEDED};
use birthmark_live::words::{Words, WordsMut};
use birthmark_live::{Directory, Reader, StaleReason, Writer};
use loom::sync::atomic::{fence, AtomicU64, AtomicUsize};
use loom::sync::Arc;
use loom::thread;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize as Count, Ordering};
use std::sync::Mutex;

const KEY: u64 = 7;
const ALIAS: u64 = 9;
/// A key, and an alias, that take the places of these two.
const NEXT: u64 = 8;
/// How many stores an update makes of words that it changes.
const STORES: usize = 8;
/// How many one makes that has other keys take places: each is freed first.
const STORES_OF_KEYS: usize = 11;

/// The changes of an update.
#[derive(Clone, Copy)]
enum Change {
    /// The records of the keys.
    Values,
    /// The stored keys: every second version has others.
    Keys,
}

/// Words of a shared history. Those that updates change are in `loom`'s memory, the others in plain
/// memory, where they stay as they are.
struct Model {
    modelled: HashMap<usize, AtomicU64>,
    plain: Mutex<HashMap<usize, u64>>,
    /// How many stores the writer makes before it dies.
    left: Count,
    has_fences: bool,
}

impl Words for Model {
    fn count(&self) -> usize {
        layout().words()
    }

    fn load(&self, at: usize) -> u64 {
        match self.modelled.get(&at) {
            Some(word) => word.load(Ordering::Relaxed),
            None => self.plain.lock().unwrap().get(&at).copied().unwrap_or(0),
        }
    }

    fn fence(&self, order: Ordering) {
        if self.has_fences {
            fence(order);
        }
    }

    fn pause(&self) {}
}

impl WordsMut for Model {
    fn store(&self, at: usize, word: u64) {
        let Some(place) = self.modelled.get(&at) else {
            self.plain.lock().unwrap().insert(at, word);
            return;
        };
        if self.left.load(Ordering::Relaxed) > 0 {
            self.left.fetch_sub(1, Ordering::Relaxed);
            place.store(word, Ordering::Relaxed);
        }
    }
}

fn layout() -> Layout {
    Layout::with_room(1, 1).unwrap()
}

/// The words that differ between two versions: found by writing both into plain memory.
fn changing(change: Change) -> Vec<usize> {
    let words = std::sync::Arc::new(
        std::iter::repeat_with(|| std::sync::atomic::AtomicU64::new(0))
            .take(layout().words())
            .collect::<Vec<_>>(),
    );
    let mut writer = Writer::new(words.clone(), layout(), 0, 0, "");
    let mut after = |version| {
        change.update(&mut writer, version);
        (0..layout().words()).map(|at| words.load(at)).collect::<Vec<_>>()
    };
    let (first, second) = (after(1), after(2));
    (0..layout().words()).filter(|&at| first[at] != second[at] || at == SUPERSEDED).collect()
}

/// A history of version 1, whose writer makes so many stores more.
fn history(changing: &[usize], left: usize) -> (Arc<Model>, Writer<Handle>) {
    history_of(Change::Values, changing, left)
}

fn history_of(change: Change, changing: &[usize], left: usize) -> (Arc<Model>, Writer<Handle>) {
    let modelled = changing.iter().map(|at| (*at, AtomicU64::new(0))).collect();
    let left_now = Count::new(usize::MAX);
    let model = Model { modelled, plain: Mutex::default(), left: left_now, has_fences: true };
    let model = Arc::new(model);
    let mut writer = Writer::new(Handle(model.clone()), layout(), 0, 0, "");
    change.update(&mut writer, 1);
    model.left.store(left, Ordering::Relaxed);
    (model, writer)
}

/// `loom`'s pointer to words, as words.
#[derive(Clone)]
struct Handle(Arc<Model>);

impl Words for Handle {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn load(&self, at: usize) -> u64 {
        self.0.load(at)
    }

    fn fence(&self, order: Ordering) {
        self.0.fence(order);
    }

    fn pause(&self) {}
}

impl WordsMut for Handle {
    fn store(&self, at: usize, word: u64) {
        self.0.store(at, word);
    }
}

/// Puts a version of everything, and commits it.
fn update<W: WordsMut>(writer: &mut Writer<W>, version: u32) {
    let known = [version as u8; 8];
    let record = Record { births: version, shape: version.into(), known, ..Record::default() };
    writer.put(KEY, &record);
    let directory = Directory { dir: version.into(), shape: Some(version.into()) };
    writer.directory(ALIAS, &directory, 0);
    let trace_clock = version.into();
    let report = Report { trace_clock, state: State::Following, ..Report::default() };
    writer.commit(report, Clocks::default());
}

impl Change {
    fn update<W: WordsMut>(self, writer: &mut Writer<W>, version: u32) {
        match self {
            Change::Values => update(writer, version),
            Change::Keys => replace(writer, version),
        }
    }
}

/// The key, and the alias, that a version knows, and those that it does not.
fn keys(version: u64) -> [u64; 2] {
    if version % 2 == 1 {
        [KEY, NEXT]
    } else {
        [NEXT, KEY]
    }
}

/// Puts a version with other keys than the one before, and commits it.
fn replace<W: WordsMut>(writer: &mut Writer<W>, version: u32) {
    let [known, unknown] = keys(version.into());
    writer.remove(unknown);
    writer.put(known, &Record { births: version, ..Record::default() });
    writer.remove_directory(unknown);
    writer.directory(known, &Directory { dir: version.into(), shape: None }, 0);
    let trace_clock = version.into();
    let report = Report { trace_clock, state: State::Following, ..Report::default() };
    writer.commit(report, Clocks::default());
}

/// The version whose keys are read; panics if what is read is of two.
fn version_of_keys(reader: &Reader<Handle>) -> Result<u64, StaleReason> {
    let (known, unknown, version) = reader.look(|view| {
        let version = view.facts().report.trace_clock as u64;
        let [known, unknown] = keys(version).map(|key| (view.record(key), view.directory(key)));
        (known, unknown, version)
    })?;
    let record = Record { births: version as u32, ..Record::default() };
    assert_eq!(known, (record, Some(Directory { dir: version, shape: None })), "torn");
    assert_eq!(unknown, (Record::default(), None), "torn");
    Ok(version)
}

/// The version that is read; panics if what is read is of two.
fn version(reader: &Reader<Handle>) -> Result<u64, StaleReason> {
    let read = reader.look(|view| (view.record(KEY), view.directory(ALIAS), view.facts()));
    let (record, directory, facts) = read?;
    let version = facts.report.trace_clock as u64;
    let expected = Directory { dir: version, shape: Some(version) };
    assert_eq!((record.births.into(), record.shape), (version, version), "torn");
    assert_eq!(record.known, [version as u8; 8], "torn");
    assert_eq!(directory, Some(expected), "torn");
    Ok(version)
}

fn reader(model: &Arc<Model>) -> Reader<Handle> {
    Reader::new(Handle(model.clone()), 0).unwrap().with_tries(2)
}

fn explore(preemptions: usize, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(run);
}

/// How many stores an update makes of the words that it changes, into each as often as it does.
fn stores(change: Change) -> usize {
    let counted = std::sync::Arc::new(Count::new(0));
    let stores = counted.clone();
    loom::model(move || {
        let (model, mut writer) = history_of(change, &changing(change), usize::MAX);
        change.update(&mut writer, 2);
        stores.store(usize::MAX - model.left.load(Ordering::Relaxed), Ordering::Relaxed);
    });
    counted.load(Ordering::Relaxed)
}

#[test]
fn the_model_has_every_store_of_a_word_that_an_update_changes() {
    assert_eq!(stores(Change::Values), STORES);
    assert_eq!(stores(Change::Keys), STORES_OF_KEYS);
    assert!(changing(Change::Values).contains(&SEQUENCE));
    assert!(changing(Change::Keys).contains(&SEQUENCE));
}

#[test]
fn no_torn_value_is_read_wherever_the_writer_dies() {
    die_anywhere(Change::Values, STORES, 3, version);
}

#[test]
fn no_key_gets_the_value_of_another_wherever_the_writer_dies() {
    die_anywhere(Change::Keys, STORES_OF_KEYS, 2, version_of_keys);
}

/// Lets the writer of the second version die before each of its stores, and after the last.
fn die_anywhere(
    change: Change,
    last: usize,
    preemptions: usize,
    version: fn(&Reader<Handle>) -> Result<u64, StaleReason>,
) {
    let changing = changing(change);
    for stores in 0..=last {
        let changing = changing.clone();
        explore(preemptions, move || {
            let (model, mut writer) = history_of(change, &changing, stores);
            let reader = reader(&model);
            let writing = thread::spawn(move || change.update(&mut writer, 2));
            match version(&reader) {
                Ok(value) => assert!(value == 1 || value == 2 && stores == last),
                Err(why) => assert!(why == StaleReason::Busy && stores > 0),
            }
            writing.join().unwrap();
            let expected = match stores {
                0 => Ok(1),
                stores if stores == last => Ok(2),
                _ => Err(StaleReason::Busy),
            };
            assert_eq!(version(&reader), expected);
        });
    }
}

#[test]
fn no_torn_value_is_read_while_one_update_follows_another() {
    let changing = changing(Change::Values);
    explore(2, move || {
        let (model, mut writer) = history(&changing, usize::MAX);
        let reader = reader(&model).with_tries(1);
        let writing = thread::spawn(move || {
            update(&mut writer, 2);
            update(&mut writer, 3);
        });
        let found = version(&reader);
        assert!(matches!(found, Ok(1..=3) | Err(StaleReason::Busy)), "{found:?}");
        writing.join().unwrap();
        assert_eq!(version(&reader), Ok(3));
    });
}

#[test]
fn whoever_sees_a_history_superseded_finds_all_of_the_next() {
    let changing = changing(Change::Values);
    explore(3, move || {
        let (old, _) = history(&changing, 0);
        let (new, mut writer) = history(&changing, usize::MAX);
        let at_path = Arc::new(AtomicUsize::new(0));
        let readers = [reader(&old), reader(&new)];
        let path = at_path.clone();
        let replacing = thread::spawn(move || {
            update(&mut writer, 2);
            // renaming, and the mark in the old file, are system calls: each is seen after what
            // was done before it
            fence(Ordering::Release);
            path.store(1, Ordering::Relaxed);
            fence(Ordering::Release);
            old.modelled[&SUPERSEDED].store(1, Ordering::Relaxed);
        });
        if readers[0].is_superseded() {
            let found = at_path.load(Ordering::Relaxed);
            assert_eq!((found, version(&readers[found])), (1, Ok(2)));
        } else {
            assert_eq!(version(&readers[0]), Ok(1));
        }
        replacing.join().unwrap();
    });
}

#[test]
#[should_panic(expected = "torn")]
fn the_model_finds_a_lock_without_fences() {
    let changing = changing(Change::Values);
    explore(3, move || {
        let (mut model, writer) = history(&changing, usize::MAX);
        drop(writer);
        Arc::get_mut(&mut model).unwrap().has_fences = false;
        let mut writer = Writer::new(Handle(model.clone()), layout(), 0, 0, "");
        update(&mut writer, 1);
        let reader = reader(&model);
        let writing = thread::spawn(move || update(&mut writer, 2));
        let _ = version(&reader);
        writing.join().unwrap();
    });
}
