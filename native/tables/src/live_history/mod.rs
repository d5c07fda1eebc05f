//! The live history: earlier observations of similar files, given for each birth as it happens.
//!
//! Operations become lives, and lives emit births and outcomes as they become known
//! ([`crate::lives::events`]). From these it maintains a history of files and one of names. Each
//! birth gets the history that `History::follow` gives the same row of the finished tables.

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
    births: Vec<BirthWithHistory>,
    outcomes: Vec<Event>,
}

/// The history of one subject.
struct Followed {
    history: History,
    awaited: Awaited,
}

/// A birth, with its history.
struct BirthWithHistory {
    event: Event,
    history: [u8; BYTES],
}

impl LiveHistory {
    /// Continues from histories of files and of names. Outcomes are awaited for the last `most`
    /// births of each.
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

    /// The lives, to pass losses to and take rows from.
    pub fn lives(&mut self) -> &mut Lives {
        &mut self.lives
    }

    /// Takes a batch of operations.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        if self.births.is_empty() {
            self.lives.forget_hosts(); // births hold numbers of hosts until they are taken
        }
        self.lives.update(batch)?;
        self.learn();
        Ok(())
    }

    /// Processes everything known before a time: nothing older will come any more.
    pub fn advance(&mut self, until: i64) {
        self.lives.advance(until);
        self.learn();
    }

    /// Ends the trace.
    pub fn finish(&mut self) {
        self.lives.finish();
        self.learn();
    }

    /// The history known by now.
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
    pub fn take_directories(&mut self) -> impl Iterator<Item = Directory> + '_ {
        self.lives.take_directories()
    }

    /// The births since the last call, each with its history.
    pub fn take_births(&mut self) -> Result<RecordBatch, Error> {
        let births = std::mem::take(&mut self.births);
        Ok(tables::births(&births, &self.lives)?)
    }

    /// The outcomes that became known since the last call.
    pub fn take_outcomes(&mut self) -> Result<RecordBatch, Error> {
        let outcomes = std::mem::take(&mut self.outcomes);
        Ok(tables::outcomes(&outcomes)?)
    }

    /// Discards births and outcomes that were not taken.
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

    /// Learns from the events of the lives.
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
        let mut found = [0; BYTES];
        let followed = self.of(event.subject);
        followed.history.tell(names, event.at, &mut found);
        followed.history.bear(&mut followed.awaited, names, event.at);
        self.births.push(BirthWithHistory { event, history: found });
    }
}

impl Followed {
    /// Learns an event of a birth. A file's use at its death counts only if it was no longer young,
    /// as in `History::follow`.
    fn learn(&mut self, event: &Event) {
        let mut learn = |fact| {
            let outcome = Outcome { time: event.at, birth: event.birth, fact };
            self.history.learn(&self.awaited, &outcome);
        };
        match &event.what {
            What::Born(_) | What::Used(_) | What::Lost => {}
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
