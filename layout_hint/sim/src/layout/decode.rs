//! Decoding batches of a build.

use super::columns::{Columns, Entries};
use super::creates::Create;
use super::operation::{Operation, Procedure, NONE, NO_SIZE};
use super::rows::get;
use super::trace::{fits, Entry, Trace, What};
use super::Error;
use arrow_array::RecordBatch;

impl Trace {
    /// Takes rows of a manifest, directories before their contents.
    pub fn add_manifest(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let columns = Entries::of(batch, self.manifest.len())?;
        for row in 0..batch.num_rows() {
            let entry = self.entry(&columns, row)?;
            self.manifest.push(entry);
        }
        Ok(())
    }

    fn entry(&mut self, columns: &Entries, row: usize) -> Result<Entry, Error> {
        let rows = &columns.rows;
        let id = rows.value(columns.id, row, "id")?;
        let parent = self.known(get(columns.parent, row));
        if parent == NONE {
            return Err(rows.wrong(row, "its directory is not in a row before"));
        }
        let name = rows.name(self, columns.name, row, "name")?;
        let what = columns.what(row)?;
        let size = get(columns.size, row).unwrap_or(0);
        if size == NO_SIZE || !fits(0, size) {
            return Err(rows.wrong(row, format!("size {size}: expected less than 2^63")));
        }
        let (mut object, mut place) = (self.known(Some(id)), NONE);
        if object == NONE {
            object = self.add(id).ok_or_else(|| rows.wrong(row, "too many objects"))?;
            place = self.ask(Create {
                name,
                object,
                directory: what == What::Directory,
                mode: get(columns.mode, row),
                uid: get(columns.owner, row),
                gid: get(columns.group, row),
                hour: None,
            });
        }
        Ok(Entry { object, parent, name, what, size, place })
    }

    /// Takes operations, in order.
    pub fn add_operations(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let columns = Columns::of(batch, self.operations.len())?;
        self.operations.reserve(batch.num_rows());
        for row in 0..batch.num_rows() {
            let operation = self.operation(&columns, row)?;
            self.operations.push(operation);
        }
        Ok(())
    }

    fn operation(&mut self, columns: &Columns, row: usize) -> Result<Operation, Error> {
        let mut made = self.named(columns, row)?;
        self.arguments(columns, row, &mut made)?;
        if made.procedure.makes() && !made.failed {
            self.create(columns, row, &mut made)?;
        }
        let count = match made.procedure {
            Procedure::Read | Procedure::Readdir | Procedure::Readdirplus => return Ok(made),
            Procedure::Write => u64::from(made.other),
            _ => 0,
        };
        match fits(made.offset, count) {
            true => Ok(made),
            false => Err(columns.rows.wrong(row, "it ends beyond 2^63 bytes")),
        }
    }

    /// An operation with only its object and its name.
    fn named(&mut self, columns: &Columns, row: usize) -> Result<Operation, Error> {
        let rows = &columns.rows;
        let word = columns.op.get(row).ok_or_else(|| rows.wrong(row, "no op"))?;
        let procedure = Procedure::of(word)
            .ok_or_else(|| rows.wrong(row, format!("op {word:?}: no procedure of a build")))?;
        let failed = rows.value(columns.status, row, "status")? != 0;
        let time = rows.value(columns.time, row, "time")?;
        let object = self.known(Some(rows.value(columns.id, row, "id")?));
        if object == NONE && !failed {
            return Err(rows.wrong(row, "id: neither in the manifest nor made by a row before"));
        }
        let name = match procedure.is_named() {
            true => rows.name(self, columns.name, row, "name")?,
            false => NONE,
        };
        let (offset, second, other) = (NO_SIZE, NONE, NONE);
        Ok(Operation { time, offset, procedure, failed, object, name, second, other })
    }

    /// The operation's other arguments.
    fn arguments(
        &mut self,
        columns: &Columns,
        row: usize,
        made: &mut Operation,
    ) -> Result<(), Error> {
        let rows = &columns.rows;
        match made.procedure {
            Procedure::Read | Procedure::Write => {
                made.offset = get(columns.offset, row).unwrap_or(0);
                made.other = get(columns.count, row).unwrap_or(0);
            }
            Procedure::Setattr => made.offset = get(columns.size, row).unwrap_or(NO_SIZE),
            Procedure::Readdir | Procedure::Readdirplus => {
                made.offset = get(columns.cookie, row).unwrap_or(0);
            }
            Procedure::Lookup => made.second = self.known(get(columns.new_id, row)),
            Procedure::Rename | Procedure::Link => {
                made.second = self.known(get(columns.id2, row));
                if made.second == NONE && !made.failed {
                    return Err(rows.wrong(row, "id2: no directory that a row before knows"));
                }
                if made.procedure == Procedure::Rename {
                    made.other = rows.name(self, columns.name2, row, "name2")?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The object that is made, unless it was there.
    fn create(&mut self, columns: &Columns, row: usize, made: &mut Operation) -> Result<(), Error> {
        let rows = &columns.rows;
        made.offset = match made.procedure {
            Procedure::Symlink => get(columns.target, row).map_or(7, |t| t.len() as u64),
            _ => get(columns.size, row).unwrap_or(NO_SIZE),
        };
        let id = get(columns.new_id, row);
        made.second = self.known(id);
        if made.second != NONE {
            return Ok(());
        }
        let id = id.ok_or_else(|| rows.wrong(row, "new_id: expected what was made"))?;
        made.second = self.add(id).ok_or_else(|| rows.wrong(row, "too many objects"))?;
        made.other = self.ask(Create {
            name: made.name,
            object: made.second,
            directory: made.procedure == Procedure::Mkdir,
            mode: get(columns.mode, row),
            uid: get(columns.owner, row).or(get(columns.uid, row)),
            gid: get(columns.group, row).or(get(columns.gid, row)),
            hour: Some(birthmark_image::hour(made.time)),
        });
        Ok(())
    }
}
