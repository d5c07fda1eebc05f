//! A live history as a snapshot.

use super::{BirthWithHistory, Followed, LiveHistory};
use crate::lives::events::Event;
use crate::lives::{Error, Lives};
use crate::snapshot::{Reader, SnapshotError, Writer};
use birthmark_learn::history::{Awaited, History, Namer, Record, BYTES, KEYS, WORDS};
use birthmark_trace::budget::Budget;
use std::io::{Read, Write};

const LINE: &str = "birthmark live history 1\n";

impl LiveHistory {
    /// Writes the whole state, births and outcomes that were not taken included.
    ///
    /// # Errors
    ///
    /// [`Error::Finished`] after the end of the trace, when nothing can continue.
    pub fn save(&self, mut out: impl Write) -> Result<(), Error> {
        self.lives.save(&mut out)?;
        let mut writer = Writer::new(out, LINE)?;
        for Followed { history, awaited } in [&self.files, &self.names] {
            save(history, awaited, &mut writer)?;
        }
        writer.list(self.births.iter().map(|birth| (&birth.event, &birth.history[..])))?;
        Ok(writer.list(&self.outcomes)?)
    }

    /// Writes only the histories, for another trace to continue from, without lives and pending
    /// births. It may be called after the end of the trace.
    pub fn save_histories(&self, mut out: impl Write) -> Result<(), Error> {
        self.lives.with_same_limits().with_events(self.files.awaited.most()).save(&mut out)?;
        let mut writer = Writer::new(out, LINE)?;
        for Followed { history, awaited } in [&self.files, &self.names] {
            save(history, &Awaited::new(awaited.most()), &mut writer)?;
        }
        writer.list(std::iter::empty::<(&Event, &[u8])>())?;
        Ok(writer.list(std::iter::empty::<&Event>())?)
    }

    /// Reads a saved state. Damage and trailing bytes are refused.
    pub fn load(mut input: impl Read, budget: Budget) -> Result<LiveHistory, Error> {
        let lives = Lives::load(&mut input, budget)?;
        let mut reader = Reader::new(input, LINE)?;
        let (files, names) = (Followed::load(&mut reader)?, Followed::load(&mut reader)?);
        let mut births = Vec::new();
        for (event, history) in reader.all::<(Event, Vec<u8>)>()? {
            let history = <[u8; BYTES]>::try_from(history);
            let history = history.map_err(|_| reader.damaged("a history of another length"))?;
            births.push(BirthWithHistory { event, history });
        }
        let outcomes = reader.all()?;
        reader.end()?;
        Ok(LiveHistory { lives, files, names, namer: Namer::default(), births, outcomes })
    }
}

fn save<W: Write>(
    history: &History,
    awaited: &Awaited,
    writer: &mut Writer<W>,
) -> Result<(), SnapshotError> {
    let (first, keys) = awaited.to_keys(history);
    writer.put(&(history.most(), history.clock()))?;
    writer.list(history.records().iter().map(|(key, record)| (key, record.to_words())))?;
    writer.put(&(awaited.most(), first))?;
    writer.list(keys)
}

impl Followed {
    fn load<R: Read>(reader: &mut Reader<R>) -> Result<Followed, SnapshotError> {
        let (most, clock) = reader.get()?;
        let mut records = Vec::new();
        for (key, words) in reader.all::<(u64, [u64; WORDS])>()? {
            let record = Record::from_words(&words);
            records.push((key, record.ok_or_else(|| reader.damaged("a record that cannot be"))?));
        }
        let history = History::from_records(most, clock, records);
        let history = history.ok_or_else(|| reader.damaged("a history that cannot be"))?;
        let (most, first) = reader.get()?;
        let awaited = reader.all::<[u64; KEYS]>()?;
        let awaited = Awaited::from_keys(most, first, awaited, &history);
        Ok(Followed { history, awaited })
    }
}
