//! The answer to a stream: a column of yes and no for each predicate.

use super::read;
use crate::answerer::Counts;
use crate::{Answer, Answerer, Fault};
use arrow_array::types::UInt8Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, StringArray, UInt8Array};
use arrow_buffer::Buffer;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Field, Schema};
use birthmark_contract::history_scope::HistoryScope;
use birthmark_image::in_columns;
use birthmark_learn::certainty::{Columns, Word};
use std::collections::HashMap;
use std::sync::Arc;

impl Answerer {
    /// The answer to a stream of creates: rows in the same order, and a column for each predicate.
    ///
    /// With `three`, each predicate also has `KEY answer` (yes, no or unsure) and `KEY probability`,
    /// and there is a column `told`, the history scope. `is_logged` is whether the answer has its bytes
    /// for the log.
    ///
    /// # Errors
    ///
    /// If the stream is invalid.
    pub fn arrow(&self, stream: &Buffer, three: bool, is_logged: bool) -> Result<Answer, Fault> {
        let mut counts = Counts::of(self, is_logged);
        let (mut answers, mut scopes) = (Vec::new(), Vec::new());
        let mut three_way = Columns::new(self.image().predicates().len());
        read(stream, |file| {
            let (answer, scope) = self.answer(file, three, &mut counts);
            answers.push(answer);
            if three {
                three_way.push(&counts.three_way);
                scopes.push(scope as u8);
            }
        })?;
        let keys = self.image().predicates().iter().map(|predicate| &predicate.key);
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        for (place, (key, column)) in keys.clone().zip(in_columns(&answers, keys.len())).enumerate()
        {
            counts.yes[place] = column.true_count() as u64;
            columns.push((key.clone(), Arc::new(column)));
        }
        if three {
            let (words, likely) = three_way.finish();
            for ((key, words), likely) in keys.zip(words).zip(likely) {
                columns.push((format!("{key} answer"), named(words, &Word::ALL.map(Word::text))?));
                columns.push((format!("{key} probability"), Arc::new(likely)));
            }
            let scopes = named(scopes.into(), &HistoryScope::ALL.map(HistoryScope::word))?;
            columns.push(("told".to_owned(), scopes));
        }
        let content = self.encode(columns, &counts).map_err(Fault::arrow)?;
        Ok(counts.finish(content))
    }

    fn encode(
        &self,
        columns: Vec<(String, ArrayRef)>,
        counts: &Counts,
    ) -> Result<Vec<u8>, ArrowError> {
        let model = self.model();
        let mut metadata = HashMap::from([
            ("model".to_owned(), model.model.clone()),
            ("kind".to_owned(), model.kind.clone()),
            ("point".to_owned(), model.point.clone()),
        ]);
        metadata.extend(self.live_in_json(counts).map(|live| ("live".to_owned(), live)));
        let field = |(name, column): &(String, ArrayRef)| {
            Field::new(name, column.data_type().clone(), true)
        };
        let fields: Vec<_> = columns.iter().map(field).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
        writer.write(&RecordBatch::try_new(schema, columns)?)?;
        writer.into_inner()
    }
}

/// A column of words, by their indices in `all`.
fn named(places: UInt8Array, all: &[&str]) -> Result<ArrayRef, Fault> {
    let words = Arc::new(StringArray::from_iter_values(all));
    let column = DictionaryArray::<UInt8Type>::try_new(places, words).map_err(Fault::arrow)?;
    Ok(Arc::new(column))
}
