//! Compiled images: the models of all predicates as one flat block (`docs/image-format.md`).
//!
//! Reading an image validates it once. After that every lookup stays inside of the block, and takes
//! no more steps than it declares. Large arrays are not copied, so that processes that map one file
//! share its memory.

mod batch;
mod bytes;
mod create;
mod dictionary;
mod forest;
pub mod regular;
mod rules;
mod scoped;
mod steps;
mod suppressed;
#[cfg(test)]
mod tests;
mod trees;

pub use batch::{predict, Creates};
pub use create::{hour, Create, Needs};
#[cfg(any(test, fuzzing))]
pub use steps::counted;

use arrow_buffer::Buffer;
use birthmark_contract::image as format;
use bytes::{Block, Bytes};
use forest::Forest;
use rules::Rules;
use scoped::ScopedSection;
use suppressed::SuppressedPredicates;
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
}

impl Predicate {
    /// Whether it is about names, and not about files; images of levels have the level first.
    fn is_about_names(&self) -> bool {
        let key = match self.key.split_once(' ') {
            Some((level, key)) if level.bytes().all(|byte| byte.is_ascii_digit()) => key,
            _ => &self.key,
        };
        key.starts_with("name:")
    }
}

/// A valid image.
#[derive(Debug)]
pub struct Image {
    predicates: Vec<Predicate>,
    sections: Vec<Section>,
    steps: u32,
    suppressed: SuppressedPredicates,
}

#[derive(Debug)]
enum Section {
    Rules(Rules),
    Trees(Trees),
    Forest(Forest),
    /// A forest of predicates about names.
    NameForest(Forest),
    Scoped(Box<ScopedSection>),
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
        let needed: u64 = image.sections.iter().map(Section::steps).sum();
        match needed <= u64::from(image.steps) && image.steps <= STEPS_MAX {
            true => Ok(image),
            false => Err(ImageError::Costly),
        }
    }

    fn read_content(block: &Block) -> Option<Self> {
        let header = block.array(0, 1, format::HEADER_SIZE, 8)?;
        let number = |offset: u32| header.u32(offset as usize);
        let (predicates, names) = (number(format::AT_PREDICATES), number(format::AT_PREDICATE_ROWS));
        let (sections, steps) = (number(format::AT_SECTIONS), number(format::AT_STEPS));
        if sections > format::SECTIONS_MAX || number(format::AT_ZERO) != 0 {
            return None;
        }
        let directory = block.array(format::HEADER_SIZE, sections, format::SECTION_ENTRY, 8)?;
        let predicates = read_predicates(block, names, predicates)?;
        let sections = directory
            .rows(format::SECTION_ENTRY as usize)
            .map(|entry| Section::read(block, entry, &predicates));
        let sections = sections.collect::<Option<_>>()?;
        let suppressed = SuppressedPredicates::none(&predicates);
        Some(Image { sections, predicates, steps, suppressed })
    }

    /// The predicates, in the order of the answers' bits.
    pub fn predicates(&self) -> &[Predicate] {
        &self.predicates
    }

    /// The declared greatest number of steps of a lookup, for names of at most [`STEPS_NAME`] bytes.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The answers of all predicates.
    pub fn lookup(&self, create: &Create) -> Answers {
        let mut answers = Answers::default();
        for section in &self.sections {
            section.lookup(create, &mut answers);
        }
        self.apply_suppression(create, answers)
    }

    /// Suppresses (or re-enables) yes answers of a predicate at one history scope, each by its place.
    pub fn suppress(&self, predicate: usize, scope: usize, suppressed: bool) {
        self.suppressed.set(predicate, scope, suppressed);
    }

    /// The answers about a create without those that are suppressed.
    pub fn apply_suppression(&self, create: &Create, answers: Answers) -> Answers {
        self.suppressed.without(create, answers)
    }

    /// Puts a threshold of scores' sums in force from the next lookup on, for a predicate and a
    /// history scope, each by its place. `None` restores the image's; `u32::MAX` abstains. Without a
    /// forest for the predicate, nothing changes.
    pub fn set_threshold(&self, predicate: usize, scope: usize, threshold: Option<u32>) {
        for section in &self.sections {
            if let Section::Forest(forest) | Section::NameForest(forest) = section {
                forest.set_threshold(predicate, scope, threshold);
            }
        }
    }

    /// The image's thresholds of a predicate, by its place, for each history scope; none if no
    /// forest answers it.
    pub fn calibrated(&self, predicate: usize) -> Option<[u32; format::SCOPES]> {
        self.sections.iter().find_map(|section| match section {
            Section::Forest(forest) | Section::NameForest(forest) => forest.calibrated(predicate),
            _ => None,
        })
    }

    /// The data that lookups use besides the name.
    pub fn needs(&self) -> create::Needs {
        let mut needs = create::Needs {
            history: self.suppressed.depends_on_history_scope(),
            ..Default::default()
        };
        for section in &self.sections {
            section.add_needs(&mut needs);
        }
        needs
    }
}

impl Section {
    fn read(block: &Block, entry: Bytes, predicates: &[Predicate]) -> Option<Self> {
        let offset = entry.u32(4);
        match entry.u32(0) as usize {
            format::SECTION_FOREST => {
                Forest::read(block, offset, predicates.len()).map(|own| Self::of(own, predicates))
            }
            format::SECTION_SCOPED => ScopedSection::read(block, offset, predicates)
                .map(|own| Section::Scoped(Box::new(own))),
            _ => Self::read_plain_section(block, entry, predicates.len()),
        }
    }

    /// Reads a section that answers independently of the history scope.
    fn read_plain_section(block: &Block, entry: Bytes, predicates: usize) -> Option<Self> {
        let offset = entry.u32(4);
        match entry.u32(0) as usize {
            format::SECTION_RULES => Rules::read(block, offset, predicates).map(Section::Rules),
            format::SECTION_TREES => Trees::read(block, offset, predicates).map(Section::Trees),
            _ => None,
        }
    }

    /// A forest's section by the subject of its predicates, which all have the same.
    fn of(forest: Forest, predicates: &[Predicate]) -> Self {
        let about_names = forest.predicates().all(|place| predicates[place].is_about_names());
        match about_names {
            true => Section::NameForest(forest),
            false => Section::Forest(forest),
        }
    }

    /// Adds the predicates that are a yes.
    fn lookup(&self, create: &Create, answers: &mut Answers) {
        match self {
            Section::Rules(rules) => rules.lookup(create, answers),
            Section::Trees(trees) => trees.lookup(create, answers),
            Section::Forest(forest) => forest.lookup(create, answers),
            Section::NameForest(forest) => forest.lookup(&create.of_name(), answers),
            Section::Scoped(section) => section.lookup(create, answers),
        }
    }

    fn add_needs(&self, needs: &mut create::Needs) {
        match self {
            Section::Rules(_) => {}
            Section::Trees(_) => needs.owner = true,
            Section::Forest(forest) | Section::NameForest(forest) => forest.add_needs(needs),
            Section::Scoped(section) => section.add_needs(needs),
        }
    }

    /// Greatest number of steps of a lookup in it.
    fn steps(&self) -> u64 {
        match self {
            Section::Rules(rules) => rules.steps(),
            Section::Trees(trees) => trees.steps(),
            Section::Forest(forest) | Section::NameForest(forest) => forest.steps(),
            Section::Scoped(section) => section.steps(),
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

fn read_predicates(block: &Block, offset: u32, count: u32) -> Option<Vec<Predicate>> {
    if count == 0 || count as usize > 64 * WORDS {
        return None;
    }
    let read = |entry: Bytes| {
        let key = block.array(entry.u32(0), entry.u16(4), 1, 1)?.keep();
        let key = String::from_utf8_lossy(&key).into_owned();
        let (flags, reserved) = (entry.u8(6), entry.u8(7));
        (flags <= 1 && reserved == 0).then_some(Predicate { key, abstains: flags == 1 })
    };
    let entries = block.array(offset, count, format::KEY_ENTRY, 4)?;
    entries.rows(format::KEY_ENTRY as usize).map(read).collect()
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
