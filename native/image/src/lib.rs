//! Compiled images: the models of all predicates as one flat block (`docs/image-format.md`).
//!
//! Reading an image validates it once. After that every lookup stays inside of the block, and takes
//! no more steps than it declares. Large arrays are not copied, so that processes that map one file
//! share its memory.

mod batch;
mod bytes;
mod create;
mod cuts;
mod dictionary;
mod forest;
pub mod regular;
mod rules;
mod scores;
mod steps;
#[cfg(test)]
mod tests;
mod trees;

pub use batch::{in_columns, predict, Creates};
pub use create::{hour, Create, Needs};
pub use cuts::{Change, NEVER};
pub use scores::Scores;
#[cfg(any(test, fuzzing))]
pub use steps::counted;

use arrow_buffer::Buffer;
use birthmark_contract::image as format;
use birthmark_learn::certainty::{Assignments, Rights, ThreeWayAnswer};
use bytes::{Block, Bytes};
use cuts::Meaning;
use forest::Forest;
use rules::Rules;
use scores::{Counted, Masks};
use trees::Trees;

pub use format::{STEPS_MAX, STEPS_NAME, VERSION};

/// Words of 64 bits for all predicates.
const WORDS: usize = format::WORDS_MAX as usize;
/// The alignment of an image.
const ALIGNED: usize = 8;

/// One bit per predicate: bit `i % 64` of word `i / 64` is the answer of predicate `i`.
pub type Answers = [u64; WORDS];

/// Invalid bytes of an image. The numbers are `enum bm_status` of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", format::STATUS_TEXTS[*self as usize])]
pub enum ImageError {
    /// Fewer bytes than a header, or than the header says.
    Truncated = format::TRUNCATED as isize,
    /// Other magic bytes.
    NoImage = format::NO_IMAGE as isize,
    /// An unknown version.
    #[error("{} ({VERSION})", format::STATUS_TEXTS[format::NEWER])]
    Newer = format::NEWER as isize,
    /// More bytes than the header says.
    Trailing = format::TRAILING as isize,
    /// Not the bytes that were written.
    Checksum = format::CHECKSUM as isize,
    /// The right checksum, but not the format.
    Malformed = format::MALFORMED as isize,
    /// A version that is no longer read.
    #[error("{} ({VERSION})", format::STATUS_TEXTS[format::OLDER])]
    Older = format::OLDER as isize,
    /// More steps than it declares, or than are allowed.
    Costly = format::COSTLY as isize,
}

/// A predicate of an image.
#[derive(Debug)]
pub struct Predicate {
    /// Its key, such as `name:lock`.
    pub key: String,
    /// Whether it always answers no.
    pub abstains: bool,
    is_about_names: bool,
    meaning: Meaning,
}

/// A valid image.
#[derive(Debug)]
pub struct Image {
    predicates: Vec<Predicate>,
    sections: Vec<Scoring>,
    groups: Vec<Assignments>,
    steps: u32,
    point: usize,
}

/// A section, and the predicates for which its scores count.
#[derive(Debug)]
struct Scoring {
    section: Section,
    masks: Masks,
}

#[derive(Debug)]
enum Section {
    Rules(Rules),
    Trees(Trees),
    Forest(Forest),
    /// A forest of predicates about names.
    NameForest(Forest),
}

impl Image {
    /// Reads a copy of an image, validated as by `bm_image_check`.
    pub fn read(bytes: &[u8]) -> Result<Self, ImageError> {
        Self::open(Buffer::from(bytes))
    }

    /// Reads an image in place, validated as by `bm_image_check`. The bytes must not change.
    pub fn open(bytes: Buffer) -> Result<Self, ImageError> {
        let aligned = (bytes.as_ptr() as usize).is_multiple_of(ALIGNED);
        let bytes = if aligned { bytes } else { Buffer::from(bytes.as_slice()) };
        check_header(&bytes)?;
        let image = Self::read_content(&Block::new(&bytes)).ok_or(ImageError::Malformed)?;
        let sections: u64 = image.sections.iter().map(|scoring| 1 + scoring.section.steps()).sum();
        let needed = sections + image.predicates.len() as u64;
        match needed <= u64::from(image.steps) && image.steps <= STEPS_MAX {
            true => Ok(image),
            false => Err(ImageError::Costly),
        }
    }

    fn read_content(block: &Block) -> Option<Self> {
        let header = block.array(0, 1, format::HEADER_SIZE, 8)?;
        let number = |offset: u32| header.u32(offset as usize);
        let point = number(format::AT_POINT) as usize;
        let sections = number(format::AT_SECTIONS);
        if sections > format::SECTIONS_MAX || point >= format::POINTS {
            return None;
        }
        let directory = block.array(format::HEADER_SIZE, sections, format::SECTION_ENTRY, 8)?;
        let count = number(format::AT_PREDICATES);
        let predicates = read_predicates(block, number(format::AT_PREDICATE_ROWS), count, point)?;
        let sections = directory
            .rows(format::SECTION_ENTRY as usize)
            .map(|entry| Scoring::read(block, entry, &predicates));
        let sections = sections.collect::<Option<_>>()?;
        let (groups, rows) = (number(format::AT_GROUPS), number(format::AT_GROUP_ROWS));
        let groups = read_groups(block, rows, groups, predicates.len())?;
        Some(Image { sections, predicates, groups, steps: number(format::AT_STEPS), point })
    }

    /// The predicates, in the order of the answers' bits.
    pub fn predicates(&self) -> &[Predicate] {
        &self.predicates
    }

    /// The declared greatest number of steps of a lookup, for names of at most [`STEPS_NAME`] bytes.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Answers at another operating point, by its number, from now on, with its calibrated cuts.
    pub fn set_point(&mut self, point: usize) {
        self.point = point.min(format::POINTS - 1);
        for predicate in &mut self.predicates {
            predicate.abstains = predicate.meaning.abstains(self.point);
            for scope in 0..format::SCOPES {
                predicate.meaning.change(scope, self.point, Change::Calibrated);
            }
        }
    }

    /// The scores of all predicates.
    pub fn scores(&self, create: &Create) -> Scores {
        let scopes = [create.scope() as usize, create.of_name().scope() as usize];
        let mut scores = Scores::default();
        for Scoring { section, masks } in &self.sections {
            steps::step(1);
            if let Some(mut counted) = masks.at(self.point, scopes, &mut scores) {
                section.score(create, &mut counted);
            }
        }
        scores
    }

    /// The answers of all predicates.
    pub fn lookup(&self, create: &Create) -> Answers {
        let (scores, mut answers) = (self.scores(create), Answers::default());
        steps::step(self.predicates.len() as u64);
        let [of_file, of_name] = [create.scope() as usize, create.of_name().scope() as usize];
        for (place, predicate) in self.predicates.iter().enumerate() {
            let scope = if predicate.is_about_names { of_name } else { of_file };
            let is_yes = predicate.meaning.is_yes(scope, scores.of(place));
            answers[place / 64] |= u64::from(is_yes) << (place % 64);
        }
        answers
    }

    /// The answers of all predicates; writes the consistent three-way answers to `to`.
    pub fn answer(&self, create: &Create, to: &mut Vec<ThreeWayAnswer>) -> Answers {
        let (scores, mut answers) = (self.scores(create), Answers::default());
        let [of_file, of_name] = [create.scope() as usize, create.of_name().scope() as usize];
        let mut rights = [Rights::default(); 64 * WORDS];
        to.clear();
        for (place, predicate) in self.predicates.iter().enumerate() {
            let scope = if predicate.is_about_names { of_name } else { of_file };
            let (is_yes, answer, own) =
                predicate.meaning.answer(scope, self.point, scores.of(place));
            answers[place / 64] |= u64::from(is_yes) << (place % 64);
            rights[place] = own;
            to.push(answer);
        }
        for group in &self.groups {
            group.make_consistent(to, &rights);
        }
        answers
    }

    /// Whether answers have probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.predicates.iter().any(|predicate| predicate.meaning.has_probabilities(self.point))
    }

    /// Changes the cuts of a predicate at a history scope, each by its place, from the next lookup on.
    pub fn change(&self, predicate: usize, scope: usize, change: Change) {
        self.predicates[predicate].meaning.change(scope, self.point, change);
    }

    /// The calibrated cuts of a predicate, by its place, for each history scope; none unless a forest
    /// scores it.
    pub fn calibrated(&self, predicate: usize) -> Option<[u16; format::SCOPES]> {
        let by_forest = self.sections.iter().any(|scoring| match &scoring.section {
            Section::Forest(forest) | Section::NameForest(forest) => {
                forest.predicates().any(|place| place == predicate)
            }
            Section::Rules(_) | Section::Trees(_) => false,
        });
        by_forest.then(|| self.predicates[predicate].meaning.calibrated(self.point))
    }

    /// The data that lookups use besides the name.
    pub fn needs(&self) -> Needs {
        let by_scope = self.predicates.iter().any(|own| own.meaning.depends_on_scope(self.point));
        let mut needs = Needs { history: by_scope, ..Needs::default() };
        for Scoring { section, masks } in &self.sections {
            needs.history |= masks.depend_on_scope(self.point);
            section.add_needs(&mut needs);
        }
        needs
    }
}

impl Scoring {
    fn read(block: &Block, entry: Bytes, predicates: &[Predicate]) -> Option<Self> {
        (entry.u32(12) == 0).then_some(())?;
        let section = Section::read(block, entry, predicates)?;
        let about_names = predicates.iter().map(|predicate| predicate.is_about_names);
        Some(Scoring { section, masks: Masks::read(block, entry.u32(8), about_names)? })
    }
}

impl Section {
    fn read(block: &Block, entry: Bytes, predicates: &[Predicate]) -> Option<Self> {
        let (offset, count) = (entry.u32(4), predicates.len());
        match entry.u32(0) as usize {
            format::SECTION_RULES => Rules::read(block, offset, count).map(Section::Rules),
            format::SECTION_TREES => Trees::read(block, offset, count).map(Section::Trees),
            format::SECTION_FOREST => {
                Forest::read(block, offset, count).map(|own| Self::of(own, predicates))
            }
            _ => None,
        }
    }

    /// A forest's section by the subject of its predicates, which all have the same.
    fn of(forest: Forest, predicates: &[Predicate]) -> Self {
        let about_names = forest.predicates().all(|place| predicates[place].is_about_names);
        match about_names {
            true => Section::NameForest(forest),
            false => Section::Forest(forest),
        }
    }

    fn score(&self, create: &Create, scores: &mut Counted) {
        match self {
            Section::Rules(rules) => rules.score(create, scores),
            Section::Trees(trees) => trees.score(create, scores),
            Section::Forest(forest) => forest.score(create, scores),
            Section::NameForest(forest) => forest.score(&create.of_name(), scores),
        }
    }

    fn add_needs(&self, needs: &mut Needs) {
        match self {
            Section::Rules(_) => {}
            Section::Trees(_) => needs.owner = true,
            Section::Forest(forest) | Section::NameForest(forest) => forest.add_needs(needs),
        }
    }

    /// Greatest number of steps of a lookup in it.
    fn steps(&self) -> u64 {
        match self {
            Section::Rules(rules) => rules.steps(),
            Section::Trees(trees) => trees.steps(),
            Section::Forest(forest) | Section::NameForest(forest) => forest.steps(),
        }
    }
}

fn check_header(bytes: &Buffer) -> Result<(), ImageError> {
    let header = Block::new(bytes).array(0, 1, format::HEADER_SIZE, 8);
    let header = header.ok_or(ImageError::Truncated)?;
    let number = |offset: u32| header.u32(offset as usize);
    let (version, size) = (number(format::AT_VERSION), number(format::AT_SIZE));
    let checksum = format::AT_CHECKSUM as usize;
    if !bytes.starts_with(&format::MAGIC) || version == 0 {
        return Err(ImageError::NoImage);
    }
    if version > VERSION {
        return Err(ImageError::Newer);
    }
    if version < VERSION {
        return Err(ImageError::Older);
    }
    match (bytes.len() as u64).cmp(&u64::from(size)) {
        std::cmp::Ordering::Less => return Err(ImageError::Truncated),
        std::cmp::Ordering::Greater => return Err(ImageError::Trailing),
        std::cmp::Ordering::Equal => {}
    }
    let mut crc = flate2::Crc::new();
    crc.update(&bytes[..checksum]);
    crc.update(&bytes[checksum + 4..]);
    if crc.sum() != header.u32(checksum) {
        return Err(ImageError::Checksum);
    }
    Ok(())
}

fn read_predicates(block: &Block, offset: u32, count: u32, point: usize) -> Option<Vec<Predicate>> {
    if count == 0 || count as usize > 64 * WORDS {
        return None;
    }
    let read = |row: Bytes| {
        let key = block.array(row.u32(0), row.u16(4), 1, 1)?.keep();
        let key = String::from_utf8_lossy(&key).into_owned();
        (row.u16(6) == 0).then_some(())?;
        let meaning = Meaning::read(block, row, point)?;
        let is_about_names = key.starts_with("name:");
        Some(Predicate { key, abstains: meaning.abstains(point), is_about_names, meaning })
    };
    let rows = block.array(offset, count, format::PREDICATE_ENTRY, 4)?;
    rows.rows(format::PREDICATE_ENTRY as usize).map(read).collect()
}

/// The groups of related predicates.
fn read_groups(
    block: &Block,
    offset: u32,
    count: u32,
    predicates: usize,
) -> Option<Vec<Assignments>> {
    (count <= format::GROUPS_MAX).then_some(())?;
    let read = |row: Bytes| {
        let (members, assignments) = (row.u32(0), row.u32(8));
        let possible = 1..=format::ASSIGNMENTS_MAX;
        (members > 0 && possible.contains(&assignments)).then_some(())?;
        let places = block.array(row.u32(4), members, 2, 4)?.rows(2);
        let places: Vec<_> = places.map(|row| row.u16(0) as usize).collect();
        let ascend = places.windows(2).all(|pair| pair[0] < pair[1]);
        (ascend && *places.last()? < predicates).then_some(())?;
        let words = assignments.div_ceil(64);
        let masks = block.array(row.u32(12), members, 8 * words, 8)?.u64s();
        let masks = masks.chunks_exact(words as usize).map(<[u64]>::to_vec);
        Assignments::of(places.into_iter().zip(masks).collect(), assignments as usize)
    };
    let rows = block.array(offset, count, format::GROUP_ENTRY, 4)?;
    rows.rows(format::GROUP_ENTRY as usize).map(read).collect()
}

fn set(answers: &mut Answers, predicate: usize) {
    answers[predicate / 64] |= 1 << (predicate % 64);
}

/// Whether all predicates are below `count`, and distinct.
fn are_distinct(predicates: impl IntoIterator<Item = usize>, count: usize) -> bool {
    let mut seen = Answers::default();
    predicates.into_iter().all(|predicate| {
        let is_new = predicate < count && seen[predicate / 64] >> (predicate % 64) & 1 == 0;
        if is_new {
            set(&mut seen, predicate);
        }
        is_new
    })
}
