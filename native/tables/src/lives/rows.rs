//! The files and names tables: ended lives as Arrow record batches.
//!
//! `data/schema.py` documents the columns; a test compares the two.

use super::gaps::Touch;
use super::hosts::Hosts;
use super::life::{
    bytes_memory, Bytes, Death, FileLife, Inode, Kind, NameLife, BIRTHS, ENDS, KINDS,
};
use arrow_array::types::{ArrowPrimitiveType, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, BinaryArray, BooleanArray, PrimitiveArray, RecordBatch};
use arrow_schema::ArrowError;
use birthmark_columns::arrays::{occurring, times, words};
use birthmark_trace::message::Interner;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A row of the files table.
#[derive(Serialize, Deserialize)]
pub struct FileRow {
    server: u32,
    fh: Bytes,
    life: FileLife,
    death: Option<Death>,
    observed_until: i64,
    /// Whether loss may have touched it, if known.
    lost: Option<bool>,
}

impl FileRow {
    /// Returns the row of a life that ended, or was observed until then; none if its handle never
    /// became known.
    pub fn new(inode: Inode, death: Option<Death>, observed_until: i64) -> Option<FileRow> {
        Some(FileRow {
            server: inode.server,
            fh: inode.handle?,
            life: inode.life,
            death,
            observed_until,
            lost: None,
        })
    }
}

impl Row for FileRow {
    fn traces(&self) -> Traces<'_> {
        let name = self.life.origin.as_ref().map(|origin| (&*origin.dir, &*origin.name));
        Traces {
            server: self.server,
            touch: &self.life.touch,
            handle: Some(&self.fh),
            name,
            until: self.observed_until,
        }
    }

    fn judged(self, lost: Option<bool>) -> Self {
        FileRow { lost, ..self }
    }

    fn memory(&self) -> usize {
        size_of::<(i64, FileRow)>() + bytes_memory(&self.fh) + self.life.memory()
    }

    fn hosts(&self, hosts: &mut Hosts) {
        hosts.server(self.server);
        self.life.clients().for_each(|client| hosts.client(client));
    }
}

/// A row of either table.
pub trait Row {
    /// The evidence of loss.
    fn traces(&self) -> Traces<'_>;

    /// Returns the row with the verdict on loss.
    fn judged(self, lost: Option<bool>) -> Self;

    /// The bytes of memory.
    fn memory(&self) -> usize;

    /// Marks its hosts.
    fn hosts(&self, hosts: &mut Hosts);
}

/// Evidence by which loss may have touched a life.
pub struct Traces<'a> {
    /// The server.
    pub server: u32,
    /// The uses of the file.
    pub touch: &'a Touch,
    /// The file's handle.
    pub handle: Option<&'a [u8]>,
    /// The name, with the handle of its directory before it.
    pub name: Option<(&'a [u8], &'a [u8])>,
    /// The end of the observation.
    pub until: i64,
}

/// A row of the names table.
#[derive(Serialize, Deserialize)]
pub struct NameRow {
    server: u32,
    life: NameLife,
    fh: Option<Bytes>,
    kind: Option<Kind>,
    death: Option<Death>,
    observed_until: i64,
    file_writes: Option<u64>,
    file_max_size: Option<u64>,
    touch: Touch,
    /// Whether loss may have touched it, if known.
    lost: Option<bool>,
}

impl NameRow {
    /// Returns the row of a name of a file when the name ends. The file's writes and sizes are
    /// unknown if the trace does not show its birth.
    pub fn new(inode: &Inode, life: NameLife, death: Option<Death>, until: i64) -> NameRow {
        let born = inode.handle.is_some() && inode.life.birth.is_some();
        NameRow {
            server: inode.server,
            life,
            fh: inode.handle.clone(),
            kind: inode.life.kind,
            death,
            observed_until: until,
            file_writes: born.then_some(inode.life.writes),
            file_max_size: inode.life.max_size.filter(|_| born),
            touch: inode.life.touch.clone(),
            lost: None,
        }
    }
}

impl Row for NameRow {
    fn traces(&self) -> Traces<'_> {
        Traces {
            server: self.server,
            touch: &self.touch,
            handle: self.fh.as_deref(),
            name: Some((&self.life.dir, &self.life.name)),
            until: self.observed_until,
        }
    }

    fn judged(self, lost: Option<bool>) -> Self {
        NameRow { lost, ..self }
    }

    fn memory(&self) -> usize {
        size_of::<(i64, NameRow)>() + self.life.memory() + self.touch.memory()
    }

    fn hosts(&self, hosts: &mut Hosts) {
        hosts.server(self.server);
        let born = self.life.birth.map(|birth| birth.caller.client);
        born.into_iter().chain(self.touch.clients()).for_each(|client| hosts.client(client));
    }
}

/// Rows of the files table.
pub fn files(
    rows: &[FileRow],
    servers: &Interner,
    clients: &Interner,
) -> Result<RecordBatch, ArrowError> {
    let births = || rows.iter().map(|r| r.life.birth);
    let early = || rows.iter().map(|r| r.life.birth.map(|_| r.life.early));
    let origins = || rows.iter().map(|r| r.life.origin.as_ref());
    let dir_names = || origins().map(|o| o?.dir_name.as_ref());
    let lives = || rows.iter().map(|r| &r.life);
    RecordBatch::try_from_iter_with_nullable([
        column("server", occurring(rows.iter().map(|r| Some(r.server)), |id| name(servers, id))),
        column("fh", binary(rows.iter().map(|r| Some(&*r.fh)))),
        nullable("name", binary(origins().map(|o| Some(&*o?.name)))),
        nullable("dir_fh", binary(origins().map(|o| Some(&*o?.dir)))),
        nullable("dir_name", binary(dir_names().map(|d| Some(&*d?.name)))),
        nullable("dir_named", times(dir_names().map(|d| Some(d?.seen)))),
        nullable("kind", kinds(lives().map(|l| l.kind))?),
        nullable("how_born", words(births().map(|b| Some(b?.how as u32)), BIRTHS)?),
        nullable("born", times(births().map(|b| Some(b?.at)))),
        column("birth_seen", flags(births().map(|b| Some(b.is_some())))),
        column("first_seen", times(lives().map(|l| Some(l.first_seen)))),
        column("last_seen", times(lives().map(|l| Some(l.last_seen)))),
        nullable("died", times(rows.iter().map(|r| Some(r.death?.at)))),
        column("death_seen", flags(rows.iter().map(|r| Some(r.death.is_some())))),
        nullable("how_died", words(rows.iter().map(|r| Some(r.death?.how as u32)), ENDS)?),
        column("observed_until", times(rows.iter().map(|r| Some(r.observed_until)))),
        nullable("mode", numbers::<UInt32Type>(births().map(|b| b?.mode))),
        nullable("owner", numbers::<UInt32Type>(lives().map(|l| l.owner))),
        nullable("group", numbers::<UInt32Type>(lives().map(|l| l.group))),
        nullable("uid", numbers::<UInt32Type>(births().map(|b| b?.caller.uid))),
        nullable("gid", numbers::<UInt32Type>(births().map(|b| b?.caller.gid))),
        nullable(
            "client",
            occurring(births().map(|b| Some(b?.caller.client)), |id| name(clients, id)),
        ),
        column("operations", numbers::<UInt64Type>(lives().map(|l| Some(l.operations)))),
        column("reads", numbers::<UInt64Type>(lives().map(|l| Some(l.reads)))),
        column("writes", numbers::<UInt64Type>(lives().map(|l| Some(l.writes)))),
        column("bytes_read", numbers::<UInt64Type>(lives().map(|l| Some(l.bytes_read)))),
        column("bytes_written", numbers::<UInt64Type>(lives().map(|l| Some(l.bytes_written)))),
        nullable("max_size", numbers::<UInt64Type>(lives().map(|l| l.max_size))),
        nullable("last_size", numbers::<UInt64Type>(lives().map(|l| l.last_size))),
        nullable("atime", times(lives().map(|l| l.atime))),
        nullable("mtime", times(lives().map(|l| l.mtime))),
        nullable("last_closed", times(lives().map(|l| l.last_closed))),
        nullable("early_size", numbers::<UInt64Type>(early().map(|e| e?.size))),
        nullable("early_reads", numbers::<UInt32Type>(early().map(|e| Some(e?.reads)))),
        nullable("early_writes", numbers::<UInt32Type>(early().map(|e| Some(e?.writes)))),
        nullable("early_atime", times(early().map(|e| e?.atime))),
        nullable("early_mtime", times(early().map(|e| e?.mtime))),
        nullable("loss_nearby", flags(rows.iter().map(|r| r.lost))),
    ])
}

/// Rows of the names table.
pub fn names(
    rows: &[NameRow],
    servers: &Interner,
    clients: &Interner,
) -> Result<RecordBatch, ArrowError> {
    let births = || rows.iter().map(|r| r.life.birth);
    RecordBatch::try_from_iter_with_nullable([
        column("server", occurring(rows.iter().map(|r| Some(r.server)), |id| name(servers, id))),
        column("dir_fh", binary(rows.iter().map(|r| Some(&*r.life.dir)))),
        column("name", binary(rows.iter().map(|r| Some(&*r.life.name)))),
        nullable("fh", binary(rows.iter().map(|r| r.fh.as_deref()))),
        nullable("kind", kinds(rows.iter().map(|r| r.kind))?),
        nullable("how_born", words(births().map(|b| Some(b?.how as u32)), BIRTHS)?),
        nullable("born", times(births().map(|b| Some(b?.at)))),
        column("birth_seen", flags(births().map(|b| Some(b.is_some())))),
        column("first_seen", times(rows.iter().map(|r| Some(r.life.first_seen)))),
        nullable("died", times(rows.iter().map(|r| Some(r.death?.at)))),
        column("death_seen", flags(rows.iter().map(|r| Some(r.death.is_some())))),
        nullable("how_died", words(rows.iter().map(|r| Some(r.death?.how as u32)), ENDS)?),
        column("observed_until", times(rows.iter().map(|r| Some(r.observed_until)))),
        nullable("mode", numbers::<UInt32Type>(births().map(|b| b?.mode))),
        nullable("uid", numbers::<UInt32Type>(births().map(|b| b?.caller.uid))),
        nullable("gid", numbers::<UInt32Type>(births().map(|b| b?.caller.gid))),
        nullable(
            "client",
            occurring(births().map(|b| Some(b?.caller.client)), |id| name(clients, id)),
        ),
        nullable("file_writes", numbers::<UInt64Type>(rows.iter().map(|r| r.file_writes))),
        nullable("file_max_size", numbers::<UInt64Type>(rows.iter().map(|r| r.file_max_size))),
        nullable("loss_nearby", flags(rows.iter().map(|r| r.lost))),
    ])
}

type Column = (&'static str, ArrayRef, bool);

fn name(hosts: &Interner, id: u32) -> &str {
    hosts.names().get(id as usize).map_or("", String::as_str)
}

fn column(name: &'static str, array: ArrayRef) -> Column {
    (name, array, false)
}

fn nullable(name: &'static str, array: ArrayRef) -> Column {
    (name, array, true)
}

fn binary<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> ArrayRef {
    Arc::new(values.collect::<BinaryArray>())
}

fn flags(values: impl Iterator<Item = Option<bool>>) -> ArrayRef {
    Arc::new(values.collect::<BooleanArray>())
}

fn numbers<T: ArrowPrimitiveType>(values: impl Iterator<Item = Option<T::Native>>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::from_iter(values))
}

fn kinds(values: impl Iterator<Item = Option<Kind>>) -> Result<ArrayRef, ArrowError> {
    words(values.map(|kind| Some(kind? as u32 - 1)), KINDS)
}
