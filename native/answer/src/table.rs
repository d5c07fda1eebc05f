//! What bodies ask about, as a table of creates (`features.CREATES`).

use super::{File, Files};
use arrow_array::builder::{
    BinaryBuilder, StringBuilder, TimestampMicrosecondBuilder, UInt32Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;
use std::sync::Arc;

/// The columns that requests tell of.
#[derive(Default)]
pub struct Table {
    name: BinaryBuilder,
    dir_name: BinaryBuilder,
    mode: UInt32Builder,
    uid: UInt32Builder,
    gid: UInt32Builder,
    client: StringBuilder,
    time: TimestampMicrosecondBuilder,
    history: BinaryBuilder,
}

impl Table {
    /// Adds the files of a body, if it can be read; if not the table is not to be used.
    pub fn add(&mut self, body: &[u8]) -> Option<()> {
        Files::read(body, |file| self.add_file(file)).map(drop)
    }

    fn add_file(&mut self, file: &File) -> Option<()> {
        let name = file.name.as_ref()?.bytes()?;
        let directory = match &file.directory {
            Some(directory) => Some(directory.bytes()?),
            None => None,
        };
        self.name.append_value(name);
        self.dir_name.append_option(directory);
        self.mode.append_option(file.mode);
        self.uid.append_option(file.uid);
        self.gid.append_option(file.gid);
        self.client.append_option(file.client.as_ref().map(|client| &client.0));
        self.time.append_option(file.time);
        self.history.append_option(file.history.as_ref());
        Some(())
    }

    /// All of it.
    pub fn finish(mut self) -> Result<RecordBatch, ArrowError> {
        let columns: [(&str, ArrayRef); 8] = [
            ("name", Arc::new(self.name.finish())),
            ("dir_name", Arc::new(self.dir_name.finish())),
            ("mode", Arc::new(self.mode.finish())),
            ("uid", Arc::new(self.uid.finish())),
            ("gid", Arc::new(self.gid.finish())),
            ("client", Arc::new(self.client.finish())),
            ("time", Arc::new(self.time.finish().with_timezone("UTC"))),
            ("history", Arc::new(self.history.finish())),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
    }
}
