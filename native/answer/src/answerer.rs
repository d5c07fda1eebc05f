//! The answerer: an image with the JSON of its answers.

use super::reader::{Reader, Shape};
use super::tally::{add, Counted};
use super::{Fault, File, Tally, Warnings};
use arrow_array::{BooleanArray, RecordBatch};
use birthmark_columns::ColumnError;
use birthmark_contract::create::{Asked, FILES};
use birthmark_contract::hints::{asked_of, HINTS};
use birthmark_contract::history_scope::HistoryScope;
use birthmark_image::{predict, Answers, Change, Creates, Image};
use birthmark_learn::certainty::{ThreeWayAnswer, STEPS};
use birthmark_live::{Clocks, Facts, Live, Seen, StaleReason};
use serde::Serialize;
use std::mem::take;
use std::sync::Arc;

/// The bytes of the longest value of a predicate, and a comma.
const LONGEST_VALUE: usize = "\"unsure\",".len();

/// The bytes of a file's answer besides its name and its predicates, at most.
const FILE_BYTES: usize = 128;

/// The model that an answer names.
#[derive(Clone, Debug, Serialize)]
pub struct Model {
    /// The version.
    pub model: String,
    /// The kind of models.
    pub kind: String,
    /// The operating point.
    pub point: String,
    /// Whether they use histories, by [`HistoryScope`].
    #[serde(skip)]
    pub knows_history: [bool; HistoryScope::ALL.len()],
}

/// The tallies for answers.
#[derive(Clone, Copy)]
pub struct Tallies<'a> {
    /// By predicate.
    pub answers: &'a Tally,
    /// By the history scope that an answer used.
    pub scopes: &'a Tally,
}

/// The answer to a body.
#[derive(Debug, Default)]
pub struct Answer {
    /// JSON, or an Arrow stream.
    pub content: Vec<u8>,
    /// The number of files.
    pub files: u64,
    /// A byte for each predicate of each file, if they are to be logged: whether it is a yes, and
    /// twice its [`Word`].
    pub logged: Vec<u8>,
}

/// Answers requests from one image.
pub struct Answerer {
    image: Image,
    model: Model,
    /// The JSON of an answer before its predictions.
    head: Vec<u8>,
    /// The bytes of a file's answers in JSON, at most.
    file_bytes: usize,
    predicates: Vec<Predicate>,
    /// Whether there are three-way answers; not for hints.
    three_way: bool,
    /// Counters by [`HistoryScope`].
    scopes: [Counted; HistoryScope::ALL.len()],
    /// Live history used for creates that carry none.
    live: Option<Arc<Live>>,
}

/// A threshold that differs from calibration.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    /// The predicate's index.
    pub place: usize,
    /// The index of its [`HistoryScope`].
    pub scope: usize,
    /// The least score that is a yes; any above 16 bits is above all scores.
    pub sum: u32,
}

struct Predicate {
    /// Its key as JSON.
    member: Vec<u8>,
    /// Its bit in a verdict; 0 if it is not a hint.
    hint: u8,
    counted: Counted,
}

impl Answerer {
    /// An answerer for `image`, with its calibrated thresholds.
    pub fn new(
        image: Image,
        model: &Model,
        tallies: Tallies,
        three_way: bool,
        live: Option<Arc<Live>>,
    ) -> serde_json::Result<Self> {
        let mut head = serde_json::to_vec(model)?;
        head.pop();
        let mut predicates = Vec::new();
        for predicate in image.predicates() {
            let key = &predicate.key;
            let mut member = serde_json::to_vec(key)?;
            member.push(b':');
            let counted = tallies.answers.of(key);
            let hint = HINTS.iter().position(|hint| hint.key == *key).map_or(0, |bit| 1 << bit);
            predicates.push(Predicate { member, hint, counted });
        }
        let scopes = HistoryScope::ALL.map(|scope| tallies.scopes.of(scope.word()));
        let model = model.clone();
        let forms = if three_way { 3 } else { 1 };
        let members = predicates.iter().map(|predicate| predicate.member.len() + LONGEST_VALUE);
        let file_bytes = FILE_BYTES + forms * members.sum::<usize>();
        Ok(Answerer { image, model, head, file_bytes, predicates, three_way, scopes, live })
    }

    /// Applies thresholds from the next create on. All others are as calibrated.
    pub fn set_thresholds(&self, thresholds: &[Threshold]) {
        for place in 0..self.predicates.len() {
            for scope in 0..HistoryScope::ALL.len() {
                let moved =
                    thresholds.iter().find(|each| (each.place, each.scope) == (place, scope));
                let change = moved.map_or(Change::Calibrated, |moved| {
                    moved.sum.try_into().map_or(Change::Suppressed, Change::Moved)
                });
                self.image.change(place, scope, change);
            }
        }
    }

    /// The model that answers name.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// The image.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// The answer to a body of one file or a list; `is_logged` is whether it has its bytes for the log.
    ///
    /// # Errors
    ///
    /// If the body is invalid.
    pub fn json(&self, body: &[u8], is_logged: bool) -> Result<Answer, Fault> {
        let mut counts = Counts::of(self, is_logged);
        let mut json = Vec::with_capacity(self.size(body));
        json.extend(&self.head);
        let list = body.trim_ascii_start().first() == Some(&b'[');
        json.extend(if list { &b",\"predictions\":["[..] } else { b",\"prediction\":" });
        let shape =
            Reader::read(Asked::Files, body, |file| self.write(file, &mut counts, &mut json))?;
        if json.last() == Some(&b',') {
            json.pop();
        }
        if shape == Shape::List {
            json.push(b']');
        }
        self.write_live(&counts, &mut json);
        counts.write_warnings(shape, &mut json);
        json.push(b'}');
        Ok(counts.finish(json))
    }

    /// Bytes that the answer to a body hardly exceeds: growing would copy it.
    fn size(&self, body: &[u8]) -> usize {
        let files = memchr::memchr_iter(b'{', body).count().min(FILES);
        self.head.len() + 256 + body.len() + files * self.file_bytes
    }

    /// Writes the freshness of the live history, or why it was not used.
    fn write_live(&self, counts: &Counts, to: &mut Vec<u8>) {
        if let Some(live) = self.live_in_json(counts) {
            to.extend(b",\"live\":");
            to.extend(live.as_bytes());
        }
    }

    /// The freshness of the live history, or why it was not used; None without one.
    pub(crate) fn live_in_json(&self, counts: &Counts) -> Option<String> {
        let live = self.live.as_ref()?;
        let now = || live.with(|history| history.look(|view| view.facts()));
        Some(in_json(counts.live.unwrap_or_else(now)))
    }

    /// The answers for one file, and the history scope that they use. The three-way answers, if
    /// wanted, are in `counts`.
    pub(crate) fn answer(
        &self,
        file: &File,
        three: bool,
        counts: &mut Counts,
    ) -> (Answers, HistoryScope) {
        let (mut create, mut seen) = (file.create(), Seen::default());
        if let Some(live) = self.live.as_ref().filter(|_| create.history.is_none()) {
            let state = live.tell(&file.asked(), &mut seen).map(|view| view.facts);
            if state.is_ok() {
                create.history = Some(&seen.files);
                create.name_history = Some(&seen.names);
            }
            counts.live = Some(state);
        }
        let scope = create.scope();
        let scope =
            if self.model.knows_history[scope as usize] { scope } else { HistoryScope::Nothing };
        let answers = match three || counts.logged.is_some() {
            true => self.image.answer(&create, &mut counts.three_way),
            false => self.image.lookup(&create),
        };
        counts.scopes[scope as usize] += 1;
        counts.all += 1;
        if let Some(logged) = &mut counts.logged {
            logged.extend(counts.three_way.iter().enumerate().map(|(place, answer)| {
                (answers[place / 64] >> (place % 64) & 1) as u8 | (answer.word as u8) << 1
            }));
        }
        (answers, scope)
    }

    /// Writes the answer to one file, and a comma.
    fn write(&self, file: &File, counts: &mut Counts, to: &mut Vec<u8>) {
        let (answers, scope) = self.answer(file, true, counts);
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
        if self.three_way {
            let three_way = &counts.three_way;
            self.write_each(to, "answers", |place, to| {
                to.push(b'"');
                to.extend(three_way[place].word.text().as_bytes());
                to.push(b'"');
            });
            self.write_each(to, "probabilities", |place, to| {
                write_probability(three_way[place].probability, to);
            });
        }
        to.extend(b",\"told\":\"");
        to.extend(scope.word().as_bytes());
        counts.warnings.add(file);
        to.extend(b"\"},");
    }

    /// Writes a member with a value for each predicate; `write` gets the predicate's index.
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

    /// The bits of the verdict on the create in a body.
    ///
    /// # Errors
    ///
    /// If the body is invalid.
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

    /// The answers for a table of creates (`features.CREATES`), a column for each predicate.
    ///
    /// # Errors
    ///
    /// If a column that the image uses is missing or of another type.
    pub fn columns(&self, creates: &RecordBatch) -> Result<Vec<BooleanArray>, ColumnError> {
        predict(&self.image, creates)
    }

    /// Calls `take` with the three-way answers for each row of a table of creates, by predicate.
    ///
    /// # Errors
    ///
    /// As `columns`.
    pub fn three_way_answers(
        &self,
        creates: &RecordBatch,
        mut take: impl FnMut(&[ThreeWayAnswer]),
    ) -> Result<(), ColumnError> {
        let columns = Creates::of(creates, self.image.needs())?;
        let mut answers = Vec::new();
        for row in 0..creates.num_rows() {
            self.image.answer(&columns.create(row), &mut answers);
            take(&answers);
        }
        Ok(())
    }
}

/// The freshness of a live history as JSON; times in seconds.
pub fn in_json(state: Result<Facts, StaleReason>) -> String {
    match state {
        Ok(Facts { report, updated, .. }) => {
            let age = Clocks::now().monotonic.saturating_sub(updated.monotonic);
            let [age, lag] = [age as f64, report.lag as f64].map(|micros| micros / 1e6);
            format!(r#"{{"age":{age:.3},"lag":{lag:.3},"why":null}}"#)
        }
        Err(why) => format!(r#"{{"age":null,"lag":null,"why":"{}"}}"#, why.word()),
    }
}

/// Writes a share of `STEPS`, or null for 0: as Python formats it, but faster.
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

/// The counts of one request, and the three-way answers for its last file.
pub(crate) struct Counts<'a> {
    answerer: &'a Answerer,
    pub(crate) yes: Vec<u64>,
    pub(crate) all: u64,
    pub(crate) three_way: Vec<ThreeWayAnswer>,
    scopes: [u64; HistoryScope::ALL.len()],
    live: Option<Result<Facts, StaleReason>>,
    logged: Option<Vec<u8>>,
    warnings: Warnings,
}

impl<'a> Counts<'a> {
    pub(crate) fn of(answerer: &'a Answerer, is_logged: bool) -> Self {
        Counts {
            answerer,
            yes: vec![0; answerer.predicates.len()],
            all: 0,
            three_way: Vec::new(),
            scopes: Default::default(),
            live: None,
            logged: is_logged.then(Vec::new),
            warnings: Warnings::default(),
        }
    }

    /// Writes the warnings, if there are any.
    fn write_warnings(&mut self, shape: Shape, to: &mut Vec<u8>) {
        let warnings = take(&mut self.warnings).sentences(shape);
        if !warnings.is_empty() {
            to.extend(b",\"warnings\":");
            to.extend(serde_json::json!(warnings).to_string().as_bytes());
        }
    }

    /// Adds the counts to the tallies; returns the answer with its `content`.
    pub(crate) fn finish(self, content: Vec<u8>) -> Answer {
        for (predicate, yes) in self.answerer.predicates.iter().zip(&self.yes) {
            add(&predicate.counted, *yes, self.all);
        }
        for (counted, count) in self.answerer.scopes.iter().zip(self.scopes) {
            add(counted, count, self.all);
        }
        Answer { content, files: self.all, logged: self.logged.unwrap_or_default() }
    }
}
