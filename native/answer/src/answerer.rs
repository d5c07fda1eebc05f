//! An image, and what its answers look like.

use super::reader::{Reader, Shape};
use super::tally::{add, Counted};
use super::{Fault, File, Levels, Tally};
use arrow_array::{BooleanArray, RecordBatch};
use birthmark_contract::create::Asked;
use birthmark_contract::hints::{asked_of, HINTS};
use birthmark_contract::told::Told;
use birthmark_image::{predict, Create, Creates, Image, Needs};
use birthmark_learn::certainty::{Said, Word, STEPS};
use birthmark_live::{Clocks, Facts, Live, Seen, WhyNot};
use birthmark_trace::columns::ColumnError;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;

/// What an answer says of the model that gives it.
#[derive(Clone, Debug, Serialize)]
pub struct Model {
    /// The version.
    pub model: String,
    /// The kind of models.
    pub kind: String,
    /// The point at which they decide.
    pub point: String,
    /// Whether they know histories where so much is told, by [`Told`].
    #[serde(skip)]
    pub knows_history: [bool; Told::ALL.len()],
}

/// What answers are counted in.
#[derive(Clone, Copy)]
pub struct Tallies<'a> {
    /// By predicate.
    pub answers: &'a Tally,
    /// By what an answer rested on.
    pub told: &'a Tally,
}

/// The answer to a body.
#[derive(Debug, Default)]
pub struct Answered {
    /// In JSON.
    pub json: Vec<u8>,
    /// How many files it is about.
    pub files: u64,
    /// What the live history told of each file, both subjects one after the other: zeros where it
    /// told nothing. Empty if there is no live history.
    pub seen: Vec<u8>,
}

/// Answers files in JSON by one image.
pub struct Answerer {
    image: Image,
    /// All of an answer before its predictions.
    head: Vec<u8>,
    predicates: Vec<Predicate>,
    /// What says how sure it is; none of hints.
    levels: Option<Levels>,
    /// By [`Told`].
    told: [Counted; Told::ALL.len()],
    /// Whether the models know histories where so much is told, by [`Told`].
    knows_history: [bool; Told::ALL.len()],
    /// What tells of a create that does not tell itself what was seen before it.
    live: Option<Arc<Live>>,
    /// Whether thresholds are in force that are not the image's own.
    moved: AtomicBool,
}

/// A threshold that moved.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    /// The predicate's place.
    pub place: usize,
    /// That of what is told, in [`Told`].
    pub told: usize,
    /// The least sum of scores that is a yes ([`Image::set_threshold`]).
    pub sum: u32,
    /// Whether the predicate may be a yes although it abstains.
    pub regained: bool,
}

struct Predicate {
    /// Whether it is never a yes, but where it has regained that.
    abstains: bool,
    /// Its key as JSON.
    member: Vec<u8>,
    /// Its bit in a verdict; none if it does not hint.
    hint: u8,
    counted: Counted,
}

impl Answerer {
    /// Answers as `image` does, but always no where a predicate is among those `abstaining`.
    pub fn new(
        image: Image,
        model: &Model,
        abstaining: &[String],
        tallies: Tallies,
        levels: Option<Levels>,
        live: Option<Arc<Live>>,
    ) -> serde_json::Result<Self> {
        let mut head = serde_json::to_vec(model)?;
        head.pop();
        let mut predicates = Vec::new();
        for (place, predicate) in image.predicates().iter().enumerate() {
            let key = &predicate.key;
            let abstains = abstaining.contains(key);
            (0..Told::ALL.len()).for_each(|told| image.close(place, told, abstains));
            let mut member = serde_json::to_vec(key)?;
            member.push(b':');
            let counted = tallies.answers.of(key);
            let hint = HINTS.iter().position(|hint| hint.key == *key).map_or(0, |bit| 1 << bit);
            predicates.push(Predicate { abstains, member, hint, counted });
        }
        let told = Told::ALL.map(|told| tallies.told.of(told.word()));
        let moved = AtomicBool::new(false);
        let knows_history = model.knows_history;
        Ok(Answerer { image, head, predicates, levels, told, knows_history, live, moved })
    }

    /// Puts thresholds in force from the next create on. Whatever is not among them is as
    /// calibrated.
    pub fn set_thresholds(&self, thresholds: &[Threshold]) {
        for (place, predicate) in self.predicates.iter().enumerate() {
            for told in 0..Told::ALL.len() {
                let own = thresholds.iter().find(|own| (own.place, own.told) == (place, told));
                self.image.set_threshold(place, told, own.map(|own| own.sum));
                let regained = own.is_some_and(|own| own.regained);
                self.image.close(place, told, predicate.abstains && !regained);
            }
        }
        self.moved.store(!thresholds.is_empty(), Relaxed);
    }

    /// The image.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// The answer to a body of one file or a list.
    ///
    /// # Errors
    ///
    /// If the body is not as it should be.
    pub fn json(&self, body: &[u8]) -> Result<Answered, Fault> {
        let mut counts = Counts::of(self);
        let mut written = Vec::with_capacity(self.head.len() + 1024 + 4 * body.len());
        written.extend(&self.head);
        let list = body.trim_ascii_start().first() == Some(&b'[');
        written.extend(if list { &b",\"predictions\":["[..] } else { b",\"prediction\":" });
        let shape =
            Reader::read(Asked::Files, body, |file| self.write(file, &mut counts, &mut written))?;
        if written.last() == Some(&b',') {
            written.pop();
        }
        if shape == Shape::List {
            written.push(b']');
        }
        self.write_live(&counts, &mut written);
        written.push(b'}');
        counts.add();
        Ok(Answered { json: written, files: counts.all, seen: counts.seen })
    }

    /// Writes how fresh what was told is, or why nothing was.
    fn write_live(&self, counts: &Counts, to: &mut Vec<u8>) {
        let Some(live) = &self.live else { return };
        let state =
            counts.live.unwrap_or_else(|| live.with(|history| history.look(|view| view.facts())));
        to.extend(b",\"live\":");
        to.extend(in_json(state).as_bytes());
    }

    /// Writes the answer to one file, and a comma.
    fn write(&self, file: &File, counts: &mut Counts, to: &mut Vec<u8>) {
        let (mut create, mut seen) = (file.create(), Seen::default());
        if let Some(live) = self.live.as_ref().filter(|_| create.history.is_none()) {
            let state = live.tell(&file.asked(), &mut seen).map(|found| found.facts);
            if state.is_ok() {
                create.history = Some(&seen.files);
                create.name_history = Some(&seen.names);
            }
            counts.live = Some(state);
        }
        let told = self.rests_on(create.told());
        counts.told[told as usize] += 1;
        let answers = match &self.levels {
            Some(levels) => {
                let moved = self.moved.load(Relaxed);
                let ask = |create: &Create| self.image.lookup(create);
                let answers = levels.say(&create, ask, moved, &mut counts.said);
                self.image.opened(&create, answers)
            }
            None => self.image.lookup(&create),
        };
        let (form, name) = file.echo();
        to.extend(b"{\"name");
        to.extend(form.as_bytes());
        to.extend(b"\":");
        to.extend(name.as_bytes());
        self.write_each(to, "predicates", |place, to| {
            let yes = answers[place / 64] >> (place % 64) & 1;
            counts.yes[place] += yes;
            to.extend([&b"\"no\""[..], b"\"yes\""][yes as usize]);
        });
        if self.levels.is_some() {
            let said = &counts.said;
            self.write_each(to, "answers", |place, to| to.extend(word(said[place].word)));
            self.write_each(to, "probabilities", |place, to| {
                write_probability(said[place].probability, to);
            });
        }
        to.extend(b",\"told\":\"");
        to.extend(told.word().as_bytes());
        counts.all += 1;
        if self.live.is_some() {
            counts.seen.extend(seen.files);
            counts.seen.extend(seen.names);
        }
        to.extend(b"\"},");
    }

    /// Writes a member with a value for each predicate, whose place `write` is told.
    fn write_each(
        &self,
        to: &mut Vec<u8>,
        member: &str,
        mut write: impl FnMut(usize, &mut Vec<u8>),
    ) {
        to.extend(b",\"");
        to.extend(member.as_bytes());
        to.extend(b"\":{");
        for (place, predicate) in self.predicates.iter().enumerate() {
            to.extend(&predicate.member);
            write(place, to);
            to.push(b',');
        }
        to.pop();
        to.push(b'}');
    }

    /// The bits of the verdict on a body's one create.
    ///
    /// # Errors
    ///
    /// If the body is not as it should be.
    pub fn hint(&self, body: &[u8]) -> Result<u8, Fault> {
        let mut verdict = 0;
        Reader::read(Asked::Hints, body, |file| verdict = self.verdict(file))?;
        for Predicate { counted, hint, .. } in &self.predicates {
            add(counted, u64::from(verdict & hint != 0), 1);
        }
        Ok(verdict)
    }

    fn verdict(&self, file: &File) -> u8 {
        let answers = self.image.lookup(&file.create());
        let mut verdict = 0;
        for (place, predicate) in self.predicates.iter().enumerate() {
            if answers[place / 64] >> (place % 64) & 1 != 0 {
                verdict |= predicate.hint;
            }
        }
        verdict & asked_of(file.is_directory())
    }

    /// The answers to a table of creates (`features.CREATES`), a column for each predicate, and
    /// `counted` if they are given to somebody.
    ///
    /// # Errors
    ///
    /// If a column that the image uses is missing or of another type.
    pub fn columns(
        &self,
        creates: &RecordBatch,
        counted: bool,
    ) -> Result<Vec<BooleanArray>, ColumnError> {
        let columns = predict(&self.image, creates)?;
        for (place, column) in columns.iter().enumerate() {
            if !counted {
                continue;
            }
            let yes = column.true_count() as u64;
            add(&self.predicates[place].counted, yes, creates.num_rows() as u64);
        }
        if counted {
            self.count_told(self.told(creates)?);
        }
        Ok(columns)
    }

    /// What an answer rests on about a create of which so much is told.
    fn rests_on(&self, told: Told) -> Told {
        match self.knows_history[told as usize] {
            true => told,
            false => Told::Nothing,
        }
    }

    /// How many of a table's creates are answered by what is told, each.
    fn told(&self, creates: &RecordBatch) -> Result<[u64; Told::ALL.len()], ColumnError> {
        let columns = Creates::of(creates, Needs { history: true, ..Needs::default() })?;
        let mut told = [0; Told::ALL.len()];
        for row in 0..creates.num_rows() {
            told[self.rests_on(columns.create(row).told()) as usize] += 1;
        }
        Ok(told)
    }

    fn count_told(&self, told: [u64; Told::ALL.len()]) {
        let all = told.iter().sum();
        self.told.iter().zip(told).for_each(|(counted, this)| add(counted, this, all));
    }

    /// Calls `take` with what is said of each row of a table of creates, predicate by predicate.
    /// None if there is nothing that says how sure it is.
    ///
    /// # Errors
    ///
    /// As of `columns`.
    pub fn said(
        &self,
        creates: &RecordBatch,
        take: impl FnMut(&[Said]),
    ) -> Option<Result<(), ColumnError>> {
        let levels = self.levels.as_ref()?;
        let (needs, moved) = (self.image.needs(), self.moved.load(Relaxed));
        Some(levels.say_all(creates, |create| self.image.lookup(create), needs, moved, take))
    }
}

/// How a follower is doing; times in seconds.
pub fn in_json(state: Result<Facts, WhyNot>) -> String {
    match state {
        Ok(Facts { report, updated, .. }) => {
            let age = Clocks::now().monotonic.saturating_sub(updated.monotonic);
            let [age, lag] = [age as f64, report.lag as f64].map(|micros| micros / 1e6);
            format!(r#"{{"age":{age:.3},"lag":{lag:.3},"why":null}}"#)
        }
        Err(why) => format!(r#"{{"age":null,"lag":null,"why":"{}"}}"#, why.word()),
    }
}

fn word(word: Word) -> &'static [u8] {
    match word {
        Word::No => b"\"no\"",
        Word::Unsure => b"\"unsure\"",
        Word::Yes => b"\"yes\"",
    }
}

/// Writes a share of `STEPS`, or null where none is known: as Python writes it, but sooner.
fn write_probability(probability: u16, to: &mut Vec<u8>) {
    const { assert!(STEPS == 10_000) };
    if probability == 0 {
        to.extend(b"null");
        return;
    }
    to.extend(b"0.");
    let mut rest = probability;
    for unit in [1000, 100, 10, 1] {
        to.push(b'0' + (rest / unit) as u8);
        rest %= unit;
        if rest == 0 {
            return;
        }
    }
}

/// The yes of one request by predicate, and what was said of its last file.
struct Counts<'a> {
    answerer: &'a Answerer,
    yes: Vec<u64>,
    all: u64,
    said: Vec<Said>,
    told: [u64; Told::ALL.len()],
    live: Option<Result<Facts, WhyNot>>,
    seen: Vec<u8>,
}

impl<'a> Counts<'a> {
    fn of(answerer: &'a Answerer) -> Self {
        Counts {
            answerer,
            yes: vec![0; answerer.predicates.len()],
            all: 0,
            said: Vec::new(),
            told: Default::default(),
            live: None,
            seen: Vec::new(),
        }
    }

    fn add(&self) {
        for (predicate, yes) in self.answerer.predicates.iter().zip(&self.yes) {
            add(&predicate.counted, *yes, self.all);
        }
        self.answerer.count_told(self.told);
    }
}
