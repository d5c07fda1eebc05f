//! Counters of creates, from the start on. Each reported create is counted in `births`, and in one
//! of the following counters up to `refused`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;

use crate::counters::counters;
use crate::report::Reported;

counters! {
    /// Counters of write-life hints.
    Counters:
    /// Creates that the kernel reported.
    births,
    /// Files hinted as of short life.
    hinted_short,
    /// Files hinted as of medium life.
    hinted_medium,
    /// Files hinted as of long life.
    hinted_long,
    /// Files hinted as of extreme life.
    hinted_extreme,
    /// Files without a prediction that counts.
    unhinted,
    /// Objects other than regular files, and further names of files.
    other_kinds,
    /// Files left alone while hints are off.
    withheld,
    /// Files that were gone before the answer.
    gone,
    /// Files examined too late: their data may be on the disk.
    late,
    /// Files without an answer from the service.
    unanswered,
    /// Files that had a hint already, which takes precedence.
    hinted_by_others,
    /// Files with a lease or delegation, which a hint would break.
    leased,
    /// Hints that the file system accepted and then did not have.
    ignored,
    /// Hints that the kernel or the file system refused.
    refused,
    /// Times that the kernel's queue overflowed, so that creates were dropped.
    overflows,
    /// Events of unknown form.
    events_unknown,
    /// Images that were read.
    images_read,
    /// Images that could not be read, or are unsound.
    images_unsound,
    /// Rounds of the trial that were compared.
    rounds,
    /// Rounds without a comparison: the file system's counters were missing or reset.
    rounds_void,
    /// Times that hints were found to do harm, by this helper or an earlier one.
    harm,
    /// Reports that the service accepted.
    reports_sent,
    /// Reports that the service did not accept.
    reports_failed,
}

/// The subject of reports.
pub struct DeviceReport<'a> {
    /// The mount of the file system.
    pub mount: &'a Path,
    /// Its counters.
    pub counters: &'a Counters,
    /// Whether hints are on.
    pub hints: &'a Cell<bool>,
}

impl Reported for DeviceReport<'_> {
    fn device(&self) -> &Path {
        self.mount
    }

    async fn counters(&self) -> BTreeMap<String, u64> {
        let hints = ("hints".into(), u64::from(self.hints.get()));
        let own = self.counters.all().into_iter().map(|(name, n)| (format!("helper_{name}"), n));
        own.chain([hints]).collect()
    }

    fn count(&self, accepted: bool) {
        let Counters { reports_sent, reports_failed, .. } = self.counters;
        if accepted { reports_sent } else { reports_failed }.add();
    }
}
