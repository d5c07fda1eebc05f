//! What the helper counts, from its start on.

use std::cell::Cell;

/// One number that grows.
#[derive(Debug, Default)]
pub struct Count(Cell<u64>);

impl Count {
    /// Adds one.
    pub fn add(&self) {
        self.0.set(self.0.get() + 1);
    }

    /// How many there are.
    pub fn get(&self) -> u64 {
        self.0.get()
    }
}

/// Declares what is counted, each with its meaning.
macro_rules! counters {
    ($(#[$of:meta])* $counters:ident: $($(#[$doc:meta])* $name:ident),* $(,)?) => {
        $(#[$of])*
        #[derive(Debug, Default)]
        pub struct $counters { $($(#[$doc])* pub $name: $crate::counters::Count),* }

        impl $counters {
            /// Each with its name.
            pub fn all(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.get())),*]
            }
        }
    };
}
#[cfg(target_os = "linux")]
pub(crate) use counters;

/// What was counted, as the last line says it.
pub fn listed(counters: &[(&'static str, u64)]) -> String {
    let counts: Vec<_> = counters.iter().map(|(name, n)| format!("{name} {n}")).collect();
    counts.join(", ")
}

counters! {
    /// Of who keeps a device.
    Counters:
    /// Sound images that the service gave.
    images_fetched,
    /// Times that it said it has no other.
    images_unchanged,
    /// Bodies that were no sound image.
    images_unsound,
    /// Requests for an image that were not answered by one: no connection, no model, cut short.
    fetches_failed,
    /// Images that the device took.
    loads,
    /// Images that it looked at and refused.
    loads_refused,
    /// Times that it could not be reached, or did not do as its protocol says.
    device_failures,
    /// Times that it was without the image that it had taken before.
    device_returns,
    /// Questions taken from it.
    questions_taken,
    /// Verdicts that it took.
    questions_answered,
    /// Verdicts that it wanted no more.
    questions_stale,
    /// Questions that the service refused.
    questions_refused,
    /// Times that the service gave no answer, after which the question is asked again.
    questions_retried,
    /// Reports that the service took.
    reports_sent,
    /// Reports that it did not take.
    reports_failed,
}
