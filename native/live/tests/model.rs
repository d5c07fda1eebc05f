//! Readers and writers of a shared history in every order that the memory model allows, tried by
//! `loom`: also with a writer that dies between any two of its stores, and one that replaces it.

use birthmark_learn::history::Record;
use birthmark_live::header::{Clocks, Layout, Report, State, SEQUENCE, SUPERSEDED};
use birthmark_live::words::{Words, WordsMut};
use birthmark_live::{Directory, Reader, WhyNot, Writer};
use loom::sync::atomic::{fence, AtomicU64, AtomicUsize};
use loom::sync::Arc;
use loom::thread;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize as Count, Ordering};
use std::sync::Mutex;

const KEY: u64 = 7;
const ALIAS: u64 = 9;
/// How many stores an update makes of words that it changes.
const STORES: usize = 8;

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
fn changing() -> Vec<usize> {
    let words = std::sync::Arc::new(
        std::iter::repeat_with(|| std::sync::atomic::AtomicU64::new(0))
            .take(layout().words())
            .collect::<Vec<_>>(),
    );
    let mut writer = Writer::new(words.clone(), layout(), 0, 0, "");
    let mut after = |version| {
        update(&mut writer, version);
        (0..layout().words()).map(|at| words.load(at)).collect::<Vec<_>>()
    };
    let (first, second) = (after(1), after(2));
    (0..layout().words()).filter(|&at| first[at] != second[at] || at == SUPERSEDED).collect()
}

/// A history of version 1, whose writer makes so many stores more.
fn history(changing: &[usize], left: usize) -> (Arc<Model>, Writer<Handle>) {
    let modelled = changing.iter().map(|at| (*at, AtomicU64::new(0))).collect();
    let left_now = Count::new(usize::MAX);
    let model = Model { modelled, plain: Mutex::default(), left: left_now, has_fences: true };
    let model = Arc::new(model);
    let mut writer = Writer::new(Handle(model.clone()), layout(), 0, 0, "");
    update(&mut writer, 1);
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

/// The version that is read; panics if what is read is of two.
fn version(reader: &Reader<Handle>) -> Result<u64, WhyNot> {
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

#[test]
fn the_model_has_every_word_that_an_update_changes() {
    // the sequence number twice
    assert_eq!(changing().len() - 1, STORES - 1);
    assert!(changing().contains(&SEQUENCE));
}

#[test]
fn nothing_torn_is_told_wherever_the_writer_dies() {
    let changing = changing();
    for stores in 0..=STORES {
        let changing = changing.clone();
        explore(3, move || {
            let (model, mut writer) = history(&changing, stores);
            let reader = reader(&model);
            let writing = thread::spawn(move || update(&mut writer, 2));
            match version(&reader) {
                Ok(told) => assert!(told == 1 || told == 2 && stores == STORES),
                Err(why) => assert!(why == WhyNot::Busy && stores > 0),
            }
            writing.join().unwrap();
            let expected = match stores {
                0 => Ok(1),
                STORES => Ok(2),
                _ => Err(WhyNot::Busy),
            };
            assert_eq!(version(&reader), expected);
        });
    }
}

#[test]
fn nothing_torn_is_told_while_one_update_follows_another() {
    let changing = changing();
    explore(2, move || {
        let (model, mut writer) = history(&changing, usize::MAX);
        let reader = reader(&model).with_tries(1);
        let writing = thread::spawn(move || {
            update(&mut writer, 2);
            update(&mut writer, 3);
        });
        let told = version(&reader);
        assert!(matches!(told, Ok(1..=3) | Err(WhyNot::Busy)), "{told:?}");
        writing.join().unwrap();
        assert_eq!(version(&reader), Ok(3));
    });
}

#[test]
fn whoever_sees_a_history_superseded_finds_all_of_the_next() {
    let changing = changing();
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
    let changing = changing();
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
