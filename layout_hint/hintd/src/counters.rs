//! The helper's counters, from its start on.

use std::cell::Cell;

/// A counter.
#[derive(Debug, Default)]
pub struct Count(Cell<u64>);

impl Count {
    /// Adds one.
    pub fn add(&self) {
        self.0.set(self.0.get() + 1);
    }

    /// Its value.
    pub fn get(&self) -> u64 {
        self.0.get()
    }
}

/// Declares counters, each with its meaning.
macro_rules! counters {
    ($(#[$of:meta])* $counters:ident: $($(#[$doc:meta])* $name:ident),* $(,)?) => {
        $(#[$of])*
        #[derive(Debug, Default)]
        pub struct $counters { $($(#[$doc])* pub $name: $crate::counters::Count),* }

        impl $counters {
            /// All counters, each with its name.
            pub fn all(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.get())),*]
            }
        }
    };
}
#[cfg(target_os = "linux")]
pub(crate) use counters;

/// The counters, as in the last line of the log.
pub fn listed(counters: &[(&'static str, u64)]) -> String {
    let counts: Vec<_> = counters.iter().map(|(name, n)| format!("{name} {n}")).collect();
    counts.join(", ")
}

counters! {
    /// Counters of a device's keeper.
    Counters:
    /// Sound images that the service gave.
    images_fetched,
    /// Times that the service had no other image.
    images_unchanged,
    /// Bodies that were no sound image.
    images_unsound,
    /// Requests for an image that failed: no connection, no model, cut short.
    fetches_failed,
    /// Images that the device accepted.
    loads,
    /// Images that the device checked and refused.
    loads_refused,
    /// Times that the device could not be reached, or broke its protocol.
    device_failures,
    /// Times that the device had lost its image.
    device_returns,
    /// Questions read from the device.
    questions_taken,
    /// Verdicts that the device accepted.
    questions_answered,
    /// Verdicts that came too late for the device.
    questions_stale,
    /// Questions that the service refused.
    questions_refused,
    /// Questions to repeat because the service gave no answer.
    questions_retried,
    /// Reports that the service accepted.
    reports_sent,
    /// Reports that the service did not accept.
    reports_failed,
}
