//! Many creates at once, as Arrow columns.

use super::freshness::StaleReason;
use super::live::Live;
use super::lookup::{Asked, Place, Seen};
use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::types::{Int8Type, UInt64Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, LargeBinaryArray, PrimitiveArray, RecordBatch,
    StringArray,
};
use birthmark_columns::{bytes, get, Source};
use birthmark_contract::history_scope::HistoryScope;
use birthmark_learn::history::{Create, Creates, Error, BYTES};
use std::sync::Arc;

/// Looks up the history of each create: `history` and `name_history` (null if the live history is
/// stale), `told`, the word of its [`HistoryScope`], and `why`, that of a [`StaleReason`].
///
/// The columns are those of a history's creates (`features/history.py`), optionally with
/// `directory_system` and `directory_inode`, or `directory_path`. The first of the three names of a
/// row's directory counts.
pub fn tell(live: &Live, creates: &RecordBatch) -> Result<RecordBatch, Error> {
    let (places, creates) = (Places::new(creates)?, Creates::new(creates, "time")?);
    let rows = creates.rows();
    let mut seen = Seen::default();
    let [mut histories, mut of_names] =
        [(); 2].map(|()| FixedSizeBinaryBuilder::with_capacity(rows, BYTES as i32));
    let (mut scopes, mut whys) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    for row in 0..rows {
        let create = creates.row(row);
        let Create { name, dir_name, mode, uid, client, .. } = create;
        let (place, time) = (places.row(&create, row), get(creates.time, row));
        let asked = Asked { name, place, dir_name, mode, uid, client, time };
        match live.tell(&asked, &mut seen) {
            Ok(answer) => {
                histories.append_value(seen.files)?;
                of_names.append_value(seen.names)?;
                scopes.push(answer.scope as i8);
                whys.push(None);
            }
            Err(why) => {
                histories.append_null();
                of_names.append_null();
                scopes.push(HistoryScope::Nothing as i8);
                whys.push(Some(why as i8));
            }
        }
    }
    let columns: [(&str, ArrayRef); 4] = [
        ("history", Arc::new(histories.finish())),
        ("name_history", Arc::new(of_names.finish())),
        ("told", words(Int8Array::from(scopes), &HistoryScope::ALL.map(HistoryScope::word))?),
        ("why", words(Int8Array::from(whys), &StaleReason::ALL.map(StaleReason::word))?),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
}

fn words(numbers: Int8Array, words: &[&str]) -> Result<ArrayRef, Error> {
    let words = Arc::new(StringArray::from_iter_values(words));
    Ok(Arc::new(DictionaryArray::<Int8Type>::try_new(numbers, words)?))
}

/// The columns that name directories other than by handles.
struct Places<'a> {
    inode: Option<(&'a LargeBinaryArray, &'a PrimitiveArray<UInt64Type>)>,
    path: Option<&'a LargeBinaryArray>,
}

impl<'a> Places<'a> {
    fn new(batch: &'a RecordBatch) -> Result<Places<'a>, Error> {
        let source = Source::Table(batch);
        let has = |name| batch.column_by_name(name).is_some();
        let [system, inode, path] = ["directory_system", "directory_inode", "directory_path"];
        let by_inode = has(system) || has(inode);
        Ok(Places {
            inode: source.needed(by_inode, system)?.zip(source.needed(by_inode, inode)?),
            path: source.needed(has(path), path)?,
        })
    }

    fn row(&self, create: &Create<'a>, row: usize) -> Place<'a> {
        let inode = || self.inode.and_then(|(system, id)| bytes(system, row).zip(get(id, row)));
        let path = || self.path.and_then(|path| bytes(path, row));
        if let Some(handle) = create.dir_fh {
            Place::Handle(handle)
        } else if let Some((system, fileid)) = inode() {
            Place::Inode(system, fileid)
        } else {
            path().map_or(Place::Unknown, Place::Path)
        }
    }
}
