//! Whence a run has its verdicts: from a list, or from the hook.

use super::config::Query;
use super::creates::Create;
use super::Error;
use birthmark_hook::wire::Counters;
use birthmark_hook::{Asker, Hook, Mode, Outcome, SyncCounters, SyncSettings, Verdict};
use birthmark_image as image;
use serde::Serialize;
use std::time::{Duration, Instant};

/// How long the helper waits for an answer, of which no create waits.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whence verdicts come.
pub enum Verdicts {
    /// One per create, in order; nothing is hot where there is none.
    Given(Vec<u8>),
    /// The hook.
    Asked(Box<Asking>),
}

/// The hook, and who answers its questions.
pub struct Asking {
    hook: Hook,
    helper: Option<Box<dyn Asker>>,
    books: Books,
}

/// What the hook counted, and what asking it took.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Books {
    /// Seconds that creates took for asking.
    pub seconds: f64,
    /// The most that one took.
    pub longest: f64,
    /// The hook's own counters.
    pub counters: Option<Counters>,
    /// Those of asking the service while a create waits.
    pub sync: Option<SyncCounters>,
}

impl Verdicts {
    /// Those of the hook, with an image, or asking a service in the way that `query` says.
    pub fn asked(
        image: Option<&[u8]>,
        service: Option<Box<dyn Asker>>,
        query: &Query,
        policy: u8,
    ) -> Result<Verdicts, Error> {
        let mode = if service.is_some() { Mode::Query } else { Mode::Table };
        let mut hook = Hook::new(image, mode)?;
        hook.follow(Verdict(policy));
        let mut helper = None;
        if let Some(service) = service {
            if query.wait {
                let deadline = (query.deadline_ms.clamp(0.0, 1e6) * 1e6) as u64;
                let settings = SyncSettings { deadline, ..SyncSettings::default() };
                hook.wait_for(service, settings);
            } else {
                helper = Some(service);
            }
        }
        Ok(Verdicts::Asked(Box::new(Asking { hook, helper, books: Books::default() })))
    }

    /// The verdict on a create.
    pub fn of(&mut self, place: u32, create: &Create, name: &[u8]) -> Verdict {
        match self {
            Verdicts::Given(given) => Verdict(given.get(place as usize).copied().unwrap_or(0)),
            Verdicts::Asked(asking) => asking.ask(create, name),
        }
    }

    /// Takes note of what became of a hint.
    pub fn outcome(&mut self, outcome: Outcome) {
        if let Verdicts::Asked(asking) = self {
            asking.hook.outcome(outcome);
        }
    }

    /// What the hook counted, if there is one.
    pub fn books(&self) -> Option<Books> {
        match self {
            Verdicts::Given(_) => None,
            Verdicts::Asked(asking) => Some(Books {
                counters: Some(asking.hook.state().counters),
                sync: asking.hook.sync_counters(),
                ..asking.books
            }),
        }
    }
}

impl Asking {
    fn ask(&mut self, create: &Create, name: &[u8]) -> Verdict {
        let known = image::Create {
            name: Some(name),
            history: None,
            name_history: None,
            values: [create.mode, create.uid, create.gid, None],
            hour: create.hour,
        };
        let began = Instant::now();
        let verdict = self.hook.ask(&known, create.directory);
        let took = began.elapsed().as_secs_f64();
        self.books.seconds += took;
        self.books.longest = self.books.longest.max(took);
        self.help();
        verdict
    }

    /// Has the questions that were queued answered, for the next create of their kind.
    fn help(&mut self) {
        let Some(helper) = &mut self.helper else { return };
        while let Some(question) = self.hook.next_question() {
            if let Ok(verdict) = helper.ask(&question, Instant::now() + PATIENCE) {
                self.hook.answer(question.id, verdict);
            }
        }
    }
}
