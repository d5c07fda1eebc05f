//! What is counted of creates, from the start on. Each create that is told of is counted in `births`,
//! and in one of those that follow up to `refused`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;

use crate::counters::counters;
use crate::report::Reported;

counters! {
    /// Of who sets write-life hints.
    Counters:
    /// Creates that the kernel told of.
    births,
    /// Files hinted as of short life.
    hinted_short,
    /// Files hinted as of medium life.
    hinted_medium,
    /// Files hinted as of long life.
    hinted_long,
    /// Files hinted as of extreme life.
    hinted_extreme,
    /// Files of which nothing is predicted that counts.
    unhinted,
    /// What is no regular file, or a further name of one.
    other_kinds,
    /// Files left alone while hints are off.
    withheld,
    /// Files that were gone before the answer.
    gone,
    /// Files that were looked at too late: their data may be on the disk.
    late,
    /// Files that the service gave no answer about.
    unanswered,
    /// Files that had a hint already: who made them knows better.
    hinted_by_others,
    /// Files whose lease or delegation somebody holds, who is not disturbed for a hint.
    leased,
    /// Hints that the file system took, and did not have when it was asked for them.
    ignored,
    /// Hints that the kernel or the file system refused.
    refused,
    /// Times that the kernel had more creates to tell than it keeps, and dropped some.
    overflows,
    /// Events that are not understood.
    events_unknown,
    /// Images that were read.
    images_read,
    /// Images that could not be read, or are none.
    images_unsound,
    /// Rounds of the trial that were compared.
    rounds,
    /// Rounds that could not be: the file system's counters were not there, or began anew.
    rounds_void,
    /// Times that hints were found to do harm, by this helper or one before it.
    harm,
    /// Reports that the service took.
    reports_sent,
    /// Reports that it did not take.
    reports_failed,
}

/// What is reported.
pub struct Told<'a> {
    /// Where the file system is.
    pub mount: &'a Path,
    /// What was counted of it.
    pub counters: &'a Counters,
    /// Whether hints are on.
    pub hints: &'a Cell<bool>,
}

impl Reported for Told<'_> {
    fn device(&self) -> &Path {
        self.mount
    }

    async fn counters(&self) -> BTreeMap<String, u64> {
        let hints = ("hints".into(), u64::from(self.hints.get()));
        let own = self.counters.all().into_iter().map(|(name, n)| (format!("helper_{name}"), n));
        own.chain([hints]).collect()
    }

    fn count(&self, taken: bool) {
        let Counters { reports_sent, reports_failed, .. } = self.counters;
        if taken { reports_sent } else { reports_failed }.add();
    }
}
