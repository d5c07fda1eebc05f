//! Many creates at once, as Arrow columns.

use super::file::SharedHistory;
use super::freshness::WhyNot;
use super::lookup::{Asked, Lookup, Place};
use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::types::{Int8Type, UInt64Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, LargeBinaryArray, PrimitiveArray, RecordBatch,
    StringArray,
};
use birthmark_contract::told::Told;
use birthmark_learn::history::{Create, Creates, Error, BYTES};
use birthmark_trace::columns::{bytes, get, Source};
use std::sync::Arc;

/// Tells each create what was seen before it: `history` (null where there is nothing to tell from),
/// `told`, the word of its [`Told`], and `why`, that of [`WhyNot`] where that is nothing.
///
/// The columns are those of a history's creates (`features/history.py`). `dir_system` and
/// `dir_fileid`, or `dir_path`, may be there as well: the first of the three ways in which a row
/// tells its directory counts.
pub fn tell(
    history: &mut SharedHistory,
    lookup: &mut Lookup,
    creates: &RecordBatch,
) -> Result<RecordBatch, Error> {
    let (places, creates) = (Places::new(creates)?, Creates::new(creates, "time")?);
    let rows = creates.rows();
    let mut told = [0; BYTES];
    let mut histories = FixedSizeBinaryBuilder::with_capacity(rows, BYTES as i32);
    let (mut levels, mut whys) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    for row in 0..rows {
        let create = creates.row(row);
        let Create { name, dir_name, mode, uid, client, .. } = create;
        let (place, time) = (places.row(&create, row), get(creates.time, row));
        let asked = Asked { name, place, dir_name, mode, uid, client, time };
        match lookup.tell(history, &asked, &mut told) {
            Ok(found) => {
                histories.append_value(told)?;
                levels.push(found.told as i8);
                whys.push(None);
            }
            Err(why) => {
                histories.append_null();
                levels.push(Told::Nothing as i8);
                whys.push(Some(why as i8));
            }
        }
    }
    let columns: [(&str, ArrayRef); 3] = [
        ("history", Arc::new(histories.finish())),
        ("told", words(Int8Array::from(levels), &Told::ALL.map(Told::word))?),
        ("why", words(Int8Array::from(whys), &WhyNot::ALL.map(WhyNot::word))?),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
}

fn words(numbers: Int8Array, words: &[&str]) -> Result<ArrayRef, Error> {
    let words = Arc::new(StringArray::from_iter_values(words));
    Ok(Arc::new(DictionaryArray::<Int8Type>::try_new(numbers, words)?))
}

/// The columns that tell directories otherwise than by handles.
struct Places<'a> {
    inode: Option<(&'a LargeBinaryArray, &'a PrimitiveArray<UInt64Type>)>,
    path: Option<&'a LargeBinaryArray>,
}

impl<'a> Places<'a> {
    fn new(batch: &'a RecordBatch) -> Result<Places<'a>, Error> {
        let source = Source::Table(batch);
        let has = |name| batch.column_by_name(name).is_some();
        let inode = has("dir_system") || has("dir_fileid");
        Ok(Places {
            inode: source.needed(inode, "dir_system")?.zip(source.needed(inode, "dir_fileid")?),
            path: source.needed(has("dir_path"), "dir_path")?,
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
