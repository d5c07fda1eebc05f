//! Births and outcomes as Arrow record batches.

use super::BirthWithHistory;
use crate::lives::events::{Create, Event, Subject, Use, What};
use crate::lives::Lives;
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::types::{Int64Type, UInt32Type, UInt64Type, UInt8Type};
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::ArrowError;
use birthmark_columns::arrays::{times, words};
use birthmark_learn::history::MARKS;
use std::sync::Arc;

const SUBJECTS: [&str; 2] = ["file", "name"];
const FACTS: [&str; 5] = ["mark", "died", "young", "used", "lost"];

/// Births, with the columns of `features.CREATES`.
pub fn births(births: &[BirthWithHistory], lives: &Lives) -> Result<RecordBatch, ArrowError> {
    let events = || births.iter().map(|birth| &birth.event);
    let creates = || events().map(|event| create(event));
    RecordBatch::try_from_iter_with_nullable([
        ("subject", subjects(events())?, false),
        ("id", numbers::<UInt64Type>(events().map(|event| Some(event.birth))), false),
        ("server", texts(creates().map(|c| lives.server(c?.server))), false),
        ("name", binary(creates().map(|c| Some(&*c?.name))), false),
        ("dir_fh", binary(creates().map(|c| Some(&*c?.dir_fh))), false),
        ("dir_name", binary(creates().map(|c| c?.dir_name.as_deref())), true),
        ("mode", numbers::<UInt32Type>(creates().map(|c| c?.mode)), true),
        ("uid", numbers::<UInt32Type>(creates().map(|c| c?.uid)), true),
        ("gid", numbers::<UInt32Type>(creates().map(|c| c?.gid)), true),
        ("group", numbers::<UInt32Type>(creates().map(|c| c?.group)), true),
        ("client", texts(creates().map(|c| lives.client(c?.client))), true),
        ("time", times(events().map(|event| event.at)), false),
        ("history", binary(births.iter().map(|birth| Some(&birth.history[..]))), false),
    ])
}

/// The outcomes of births.
pub fn outcomes(events: &[Event]) -> Result<RecordBatch, ArrowError> {
    let mark = |event: &Event| match event.what {
        What::Mark(mark, yes) => Some((mark, yes)),
        _ => None,
    };
    let seconds = |event| Some((MARKS.get(mark(event)?.0)? / 1_000_000) as u8);
    let life = |event: &Event| match event.what {
        What::Died(life, _) => Some(life),
        _ => None,
    };
    let uses = || events.iter().map(used);
    RecordBatch::try_from_iter_with_nullable([
        ("subject", subjects(events.iter())?, false),
        ("id", numbers::<UInt64Type>(events.iter().map(|event| Some(event.birth))), false),
        ("time", times(events.iter().map(|event| event.at)), false),
        ("fact", words(events.iter().map(fact), FACTS)?, false),
        ("mark", numbers::<UInt8Type>(events.iter().map(seconds)), true),
        ("over", flags(events.iter().map(|event| Some(mark(event)?.1))), true),
        ("life", numbers::<Int64Type>(events.iter().map(life)), true),
        ("size", numbers::<UInt64Type>(uses().map(|u| u?.size)), true),
        ("reads", numbers::<UInt64Type>(uses().map(|u| u?.reads)), true),
        ("writes", numbers::<UInt64Type>(uses().map(|u| u?.writes)), true),
        ("bytes_written", numbers::<UInt64Type>(uses().map(|u| u?.bytes_written)), true),
        ("atime", times(uses().map(|u| u?.atime)), true),
        ("mtime", times(uses().map(|u| u?.mtime)), true),
    ])
}

fn create(event: &Event) -> Option<&Create> {
    match &event.what {
        What::Born(create) => Some(create),
        _ => None,
    }
}

fn used(event: &Event) -> Option<&Use> {
    match &event.what {
        What::Died(_, used) | What::Young(used) | What::Used(used) => Some(used),
        _ => None,
    }
}

/// The index of an outcome in [`FACTS`].
fn fact(event: &Event) -> Option<u32> {
    match event.what {
        What::Born(_) => None,
        What::Mark(..) => Some(0),
        What::Died(..) => Some(1),
        What::Young(_) => Some(2),
        What::Used(_) => Some(3),
        What::Lost => Some(4),
    }
}

fn subjects<'a>(events: impl Iterator<Item = &'a Event>) -> Result<ArrayRef, ArrowError> {
    let place = |event: &Event| match event.subject {
        Subject::File => 0,
        Subject::Name => 1,
    };
    words(events.map(|event| Some(place(event))), SUBJECTS)
}

fn binary<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> ArrayRef {
    Arc::new(values.collect::<BinaryArray>())
}

fn texts<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

fn flags(values: impl Iterator<Item = Option<bool>>) -> ArrayRef {
    Arc::new(values.collect::<BooleanArray>())
}

fn numbers<T: ArrowPrimitiveType>(values: impl Iterator<Item = Option<T::Native>>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter(values))
}
