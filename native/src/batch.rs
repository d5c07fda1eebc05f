//! Rows gathered into Arrow record batches.

/// The rows of the operations table, as they are finished.
#[derive(Default)]
pub struct Batches {}
