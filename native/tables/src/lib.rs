//! Derives tables from the operations table: lives of files, scans, anonymized traces.

pub mod anonymize;
pub mod live_history;
pub mod lives;
pub mod scan;
pub mod snapshot;
