//! The live history: what was seen of files like this one, told to each birth as it happens.
//!
//! Operations become lives, these tell births and outcomes as they come to be known
//! ([`crate::lives::events`]), and of these a history is kept of files and one of names. Each birth
//! is told what `History::follow` tells the same row of the finished tables.

mod saved;
mod tables;

use crate::lives::directories::Directory;
use crate::lives::events::{Event, Subject, What};
use crate::lives::{Error, Lives};
use arrow_array::RecordBatch;
use birthmark_learn::history::{self, Awaited, Changed, Fact, History, Namer, Outcome};
use birthmark_learn::history::{BYTES, YOUNG};

/// Lives, and the histories of files and of names.
pub struct LiveHistory {
    lives: Lives,
    files: Followed,
    names: Followed,
    namer: Namer,
    births: Vec<Told>,
    outcomes: Vec<Event>,
}

/// The history of one subject.
struct Followed {
    history: History,
    awaited: Awaited,
}

/// A birth, with its history.
struct Told {
    event: Event,
    history: [u8; BYTES],
}

impl LiveHistory {
    /// Goes on from histories of files and of names. Of so many births of each the outcomes are
    /// awaited.
    pub fn new(lives: Lives, files: History, names: History, most: usize) -> LiveHistory {
        let followed = |history| Followed { history, awaited: Awaited::new(most) };
        LiveHistory {
            lives: lives.with_events(most),
            files: followed(files),
            names: followed(names),
            namer: Namer::default(),
            births: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// The lives, to be told of losses and to take rows from.
    pub fn lives(&mut self) -> &mut Lives {
        &mut self.lives
    }

    /// Takes a batch of operations.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        self.lives.update(batch)?;
        self.learn();
        Ok(())
    }

    /// Takes in what was known before a time: nothing that is older will come any more.
    pub fn advance(&mut self, until: i64) {
        self.lives.advance(until);
        self.learn();
    }

    /// Ends the trace.
    pub fn finish(&mut self) {
        self.lives.finish();
        self.learn();
    }

    /// What is known by now.
    pub fn history(&self, subject: Subject) -> &History {
        match subject {
            Subject::File => &self.files.history,
            Subject::Name => &self.names.history,
        }
    }

    /// What changed in a history since the last call ([`History::take_changed`]).
    pub fn take_changed(&mut self, subject: Subject) -> Changed {
        self.of(subject).history.take_changed()
    }

    /// The directories that were used or given a name since the last call
    /// ([`Lives::take_directories`]).
    pub fn take_directories(&mut self) -> Vec<Directory> {
        self.lives.take_directories()
    }

    /// The births since the last call, each with its history.
    pub fn take_births(&mut self) -> Result<RecordBatch, Error> {
        let births = std::mem::take(&mut self.births);
        Ok(tables::births(&births, &self.lives)?)
    }

    /// What came to be known of births since the last call.
    pub fn take_outcomes(&mut self) -> Result<RecordBatch, Error> {
        let outcomes = std::mem::take(&mut self.outcomes);
        Ok(tables::outcomes(&outcomes)?)
    }

    /// Lets births and outcomes go that were not taken.
    pub fn discard(&mut self) {
        self.births.clear();
        self.outcomes.clear();
    }

    fn of(&mut self, subject: Subject) -> &mut Followed {
        match subject {
            Subject::File => &mut self.files,
            Subject::Name => &mut self.names,
        }
    }

    /// Learns what the lives tell.
    fn learn(&mut self) {
        for event in self.lives.take_events() {
            self.of(event.subject).history.advance(event.at);
            match &event.what {
                What::Born(_) => self.bear(event),
                _ => {
                    self.of(event.subject).learn(&event);
                    self.outcomes.push(event);
                }
            }
        }
    }

    fn bear(&mut self, event: Event) {
        let What::Born(create) = &event.what else {
            return;
        };
        let names = self.namer.names(&history::Create {
            name: Some(&create.name),
            dir_fh: Some(&create.dir_fh),
            dir_name: create.dir_name.as_deref(),
            mode: create.mode,
            uid: create.uid,
            client: self.lives.client(create.client),
        });
        let mut told = [0; BYTES];
        let followed = self.of(event.subject);
        followed.history.tell(names, event.at, &mut told);
        followed.history.bear(&mut followed.awaited, names, event.at);
        self.births.push(Told { event, history: told });
    }
}

impl Followed {
    /// Takes in what came to be known of a birth. How a file was used when it died counts if it was
    /// not young any more, as it does in `History::follow`.
    fn learn(&mut self, event: &Event) {
        let mut learn = |fact| {
            let outcome = Outcome { time: event.at, birth: event.birth, fact };
            self.history.learn(&self.awaited, &outcome);
        };
        match &event.what {
            What::Born(_) | What::Lost => {}
            What::Mark(mark, yes) => learn(Fact::Mark(*mark, *yes)),
            What::Young(used) => learn(Fact::Used(used.learned())),
            What::Died(life, used) => {
                learn(Fact::Died(*life));
                if event.subject == Subject::Name || *life > YOUNG {
                    learn(Fact::Used(used.learned()));
                }
            }
        }
    }
}
