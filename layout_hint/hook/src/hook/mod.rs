//! The hook, its verdicts and its errors.

mod counters;
mod ffi;
mod outcome;
mod question;
#[cfg(test)]
mod tests;

pub use counters::{Counters, State, SyncCounters};
pub use ffi::SyncSettings;
pub use outcome::Outcome;
pub use question::Question;

use birthmark_contract::hints;
use birthmark_image::{Create, ImageError};
use ffi::{Core, Sync};
use std::time::Instant;

/// Whence verdicts come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// None: every create is cold.
    Off = 0,
    /// From the image.
    Table = 1,
    /// From answers to questions, kept by the kind of create.
    Query = 2,
}

/// What a model says of a create: bits, `BM_HOT_...` of `birthmark_hint.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict(pub u8);

impl Verdict {
    /// It will be neither.
    pub const COLD: Self = Self(0);
    /// `HotName`: a file that will be hot.
    pub const NAME: Self = Self(hints::HOT_NAME);
    /// `HotDir`: a directory that will hold hot files.
    pub const DIR: Self = Self(hints::HOT_DIR);
    /// `HotWrite`: a file that will be written much.
    pub const WRITE: Self = Self(hints::HOT_WRITE);
    /// All of them.
    pub const ALL: Self = Self(hints::ALL);

    /// Whether any bit of `other` is set.
    pub fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Why there is no answer in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Not within the deadline.
    #[error("no answer within the deadline")]
    Late,
    /// No connection, or it ended.
    #[error("no connection to the service")]
    Gone,
    /// An answer that is not as it should be.
    #[error("not an answer: expected a number from 0 to 7")]
    Bad,
}

/// Why an image was refused: the one before stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is not an image.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// It cannot give a hint.
    #[error("none of the predicates HotName, HotDir and HotWrite")]
    NoHint,
    /// It is too large.
    #[error("more than the 16 MB that an image may have")]
    Oversize,
}

/// The way to a service that answers one question.
pub trait Asker: Send {
    /// Returns the verdict; waits until `deadline` at most.
    ///
    /// # Errors
    ///
    /// What kept the answer away.
    fn ask(&mut self, question: &Question, deadline: Instant) -> Result<Verdict, Failure>;
}

/// A hook with its image, decisions and books.
pub struct Hook {
    core: Core,
    service: Option<Service>,
}

struct Service {
    sync: Sync,
    asker: Box<dyn Asker>,
}

impl Hook {
    /// Makes a hook that follows every hint.
    ///
    /// # Errors
    ///
    /// If the image is refused.
    pub fn new(image: Option<&[u8]>, mode: Mode) -> Result<Self, Refused> {
        let mut core = Core::new();
        core.configure(mode, Verdict::ALL);
        if let Some(image) = image {
            core.load(image)?;
        }
        Ok(Self { core, service: None })
    }

    /// From now on creates of which nothing is known wait for `asker`, in query mode.
    pub fn wait_for(&mut self, asker: Box<dyn Asker>, settings: SyncSettings) {
        self.service = Some(Service { sync: Sync::new(settings), asker });
    }

    /// Takes another image, and forgets all decisions.
    ///
    /// # Errors
    ///
    /// If it is refused: the one before stays.
    pub fn load(&mut self, image: &[u8]) -> Result<(), Refused> {
        self.core.load(image)
    }

    /// Sets the hints that are followed.
    pub fn follow(&mut self, policy: Verdict) {
        self.core.configure(self.core.mode(), policy);
    }

    /// The verdict on a create, as far as it is followed.
    pub fn ask(&mut self, create: &Create, directory: bool) -> Verdict {
        match &mut self.service {
            Some(service) if self.core.mode() == Mode::Query => {
                self.core.ask_and_wait(&mut service.sync, &mut *service.asker, create, directory)
            }
            _ => self.core.ask(create, directory),
        }
    }

    /// Takes the oldest question of a create that nothing was known of.
    pub fn next_question(&mut self) -> Option<Question> {
        self.core.next_question()
    }

    /// Takes the answer to question `id`. Returns whether it still waited for one.
    pub fn answer(&mut self, id: u64, verdict: Verdict) -> bool {
        self.core.answer(id, verdict)
    }

    /// Forgets all decisions: another model answers now.
    pub fn flush(&mut self) {
        self.core.flush();
    }

    /// Writes down what became of a hint.
    pub fn outcome(&mut self, outcome: Outcome) {
        self.core.outcome(outcome);
    }

    /// What was counted.
    pub fn counters(&self) -> Counters {
        self.core.state().counters
    }

    /// The image, the queue, the decisions, and what was counted.
    pub fn state(&self) -> State {
        self.core.state()
    }

    /// What was counted of the service, if creates wait for one.
    pub fn sync_counters(&self) -> Option<SyncCounters> {
        self.service.as_ref().map(|service| service.sync.counters())
    }
}
