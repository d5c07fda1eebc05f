//! Anonymizes columns of Arrow tables by the treatments that `data/anonymize/columns.py` declares.

use super::text::Rewriter;
use super::{Error, Mapping};
use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    new_null_array, Array, ArrayRef, DictionaryArray, ListArray, RecordBatch, StringArray,
    StructArray, UInt32Array,
};
use arrow_schema::{DataType, FieldRef, Fields};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// The treatment of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Treatment {
    Keep,
    Name,
    User,
    Group,
    /// A user as NFS version 4 names them: `name@domain`, or a number.
    UserName,
    GroupName,
    /// A machine's name, or a comment.
    Label,
    Host,
    /// A file handle.
    Handle,
    /// Opaque bytes chosen by a host: always mapped as handles are.
    Opaque,
    /// A line of nfsdump text, without its newline: null if it cannot be passed on.
    Line,
}

impl Treatment {
    const ALL: [(&'static str, Treatment); 11] = [
        ("keep", Treatment::Keep),
        ("name", Treatment::Name),
        ("user", Treatment::User),
        ("group", Treatment::Group),
        ("user_name", Treatment::UserName),
        ("group_name", Treatment::GroupName),
        ("label", Treatment::Label),
        ("host", Treatment::Host),
        ("handle", Treatment::Handle),
        ("opaque", Treatment::Opaque),
        ("line", Treatment::Line),
    ];

    /// The treatment for a word.
    pub fn of(word: &str) -> Option<Treatment> {
        Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, treatment)| *treatment)
    }

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("", |(word, _)| word)
    }
}

/// The treatment of every column; fields of lists of structures are named `list.field`.
pub type Treatments = HashMap<String, Treatment>;

impl Mapping {
    /// Maps the columns of a batch.
    pub fn batch(
        &mut self,
        batch: &RecordBatch,
        treatments: &Treatments,
    ) -> Result<RecordBatch, Error> {
        let schema = batch.schema();
        let columns = self.fields("", schema.fields(), batch.columns(), treatments)?;
        Ok(RecordBatch::try_new(schema, columns)?)
    }

    /// Maps columns whose paths begin with `above`.
    fn fields(
        &mut self,
        above: &str,
        fields: &Fields,
        columns: &[ArrayRef],
        treatments: &Treatments,
    ) -> Result<Vec<ArrayRef>, Error> {
        let columns = fields.iter().zip(columns);
        let mut mapped = |(field, column): (&FieldRef, &ArrayRef)| {
            self.array(&format!("{above}{}", field.name()), column, treatments)
        };
        columns.map(&mut mapped).collect()
    }

    fn array(
        &mut self,
        path: &str,
        array: &ArrayRef,
        treatments: &Treatments,
    ) -> Result<ArrayRef, Error> {
        match array.data_type() {
            DataType::List(field) => {
                let list = array.as_list::<i32>();
                let values = self.array(path, list.values(), treatments)?;
                let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
                Ok(Arc::new(ListArray::try_new(field.clone(), offsets, values, nulls)?))
            }
            DataType::Struct(fields) => {
                let group = array.as_struct();
                let above = format!("{path}.");
                let columns = self.fields(&above, fields, group.columns(), treatments)?;
                let nulls = group.nulls().cloned();
                Ok(Arc::new(StructArray::try_new(fields.clone(), columns, nulls)?))
            }
            _ => self.leaf(path, array, treatments),
        }
    }

    fn leaf(
        &mut self,
        path: &str,
        array: &ArrayRef,
        treatments: &Treatments,
    ) -> Result<ArrayRef, Error> {
        let column = || Error::Column {
            column: path.to_owned(),
            treatment: treatments.get(path).map_or("anything declared", |t| t.word()),
            found: array.data_type().to_string(),
        };
        let treatment = *treatments.get(path).ok_or_else(column)?;
        if treatment == Treatment::Keep
            || (treatment == Treatment::Handle && !self.settings.handles)
        {
            return Ok(array.clone());
        }
        if self.omits(treatment) {
            return Ok(new_null_array(array.data_type(), array.len()));
        }
        match (treatment, array.data_type()) {
            (Treatment::User | Treatment::Group, DataType::UInt32) => {
                self.ids(treatment, array.as_primitive())
            }
            (Treatment::Host, DataType::Dictionary(..)) => {
                let words = array.as_dictionary_opt::<Int32Type>().ok_or_else(column)?;
                self.hosts(words, column)
            }
            (Treatment::User | Treatment::Group | Treatment::Host, _) => Err(column()),
            (_, DataType::Binary) => self.bytes(treatment, array, column),
            _ => Err(column()),
        }
    }

    fn omits(&self, treatment: Treatment) -> bool {
        let omit = self.settings.omit;
        match treatment {
            Treatment::Name | Treatment::Label => omit.names,
            Treatment::User | Treatment::UserName => omit.users,
            Treatment::Group | Treatment::GroupName => omit.groups,
            _ => false, // hosts cannot be null, as the tables require them
        }
    }

    fn ids(&mut self, treatment: Treatment, ids: &UInt32Array) -> Result<ArrayRef, Error> {
        let mapped: io::Result<UInt32Array> = ids
            .iter()
            .map(|id| match (id, treatment) {
                (None, _) => Ok(None),
                (Some(id), Treatment::User) => self.user(id).map(Some),
                (Some(id), _) => self.group(id).map(Some),
            })
            .collect();
        Ok(Arc::new(mapped?))
    }

    fn hosts(
        &mut self,
        words: &DictionaryArray<Int32Type>,
        column: impl Fn() -> Error,
    ) -> Result<ArrayRef, Error> {
        let values = words.values().as_string_opt::<i32>().ok_or_else(column)?;
        let mut used = vec![false; values.len()];
        for key in words.keys().iter().flatten() {
            used.get_mut(key as usize).into_iter().for_each(|used| *used = true);
        }
        let mapped: io::Result<StringArray> = values
            .iter()
            .zip(used)
            .map(|(value, used)| match value.filter(|_| used) {
                Some(value) => self.host(value.as_bytes()).map(Some),
                None => Ok(Some(String::new())), // unused in the rows, so it must not be passed on
            })
            .collect();
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(
            words.keys().clone(),
            Arc::new(mapped?),
        )?))
    }

    fn bytes(
        &mut self,
        treatment: Treatment,
        array: &ArrayRef,
        column: impl Fn() -> Error,
    ) -> Result<ArrayRef, Error> {
        let values = array.as_binary::<i32>();
        let mut out = BinaryBuilder::with_capacity(values.len(), values.values().len());
        let mut text = Vec::new();
        let mut rewriter = Rewriter::default();
        for value in values {
            let Some(value) = value else {
                out.append_null();
                continue;
            };
            text.clear();
            match treatment {
                Treatment::Line if !rewriter.rewrite(value, self, &mut text)? => {
                    out.append_null();
                    continue;
                }
                Treatment::Line => {}
                Treatment::Name => self.name(value, &mut text)?,
                Treatment::Label => self.label(value, &mut text)?,
                Treatment::UserName => self.principal(value, true, &mut text)?,
                Treatment::GroupName => self.principal(value, false, &mut text)?,
                _ => self.handle(value, &mut text)?,
            }
            if i32::try_from(out.values_slice().len() + text.len()).is_err() {
                return Err(column());
            }
            out.append_value(&text);
        }
        Ok(Arc::new(out.finish()))
    }
}
