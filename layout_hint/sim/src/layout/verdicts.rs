//! A run's source of verdicts: a list, or the hook.

use super::config::Query;
use super::creates::Create;
use super::Error;
use birthmark_hook::wire::Counters;
use birthmark_hook::{Asker, Hook, Mode, Outcome, SyncCounters, SyncSettings, Verdict};
use birthmark_image as image;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Timeout of the helper for an answer that no create waits for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Source of verdicts.
pub enum Verdicts {
    /// One per create, in order; missing ones are cold.
    Given(Vec<u8>),
    /// The hook.
    Asked(Box<Asking>),
}

/// The hook, and the source of its answers.
pub struct Asking {
    hook: Hook,
    helper: Option<Box<dyn Asker>>,
    books: Books,
}

/// The hook's counters, and its time.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Books {
    /// Seconds of creates in the hook.
    pub seconds: f64,
    /// Seconds of the slowest.
    pub longest: f64,
    /// The hook's own counters.
    pub counters: Option<Counters>,
    /// Counters of queries to the service while a create waits.
    pub sync: Option<SyncCounters>,
}

impl Verdicts {
    /// Asks the hook, with an image, or with a service as `query` configures.
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

    /// Counts the outcome of a hint.
    pub fn outcome(&mut self, outcome: Outcome) {
        if let Verdicts::Asked(asking) = self {
            asking.hook.outcome(outcome);
        }
    }

    /// The hook's counters, if there is one.
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

    /// Answers the queued questions, for the next create of their kind.
    fn help(&mut self) {
        let Some(helper) = &mut self.helper else { return };
        while let Some(question) = self.hook.next_question() {
            if let Ok(verdict) = helper.ask(&question, Instant::now() + PATIENCE) {
                self.hook.answer(question.id, verdict);
            }
        }
    }
}
