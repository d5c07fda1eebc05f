//! Lives as a snapshot, from which they go on as if nothing had happened.

use super::directories::Named;
use super::gaps::Gaps;
use super::inodes::Inodes;
use super::losses::Ended;
use super::{Error, Lives};
use crate::snapshot::{Reader, Writer};
use birthmark_trace::message::Interner;
use std::io::{Read, Write};

/// What a snapshot of lives begins with. It has the version of all that is in it.
const LINE: &str = "birthmark lives 3\n";

impl Lives {
    /// Writes all that is known, rows and events that were not taken yet among it.
    ///
    /// # Errors
    ///
    /// [`Error::Finished`] after the end of the trace, when nothing goes on.
    pub fn save(&self, out: impl Write) -> Result<(), Error> {
        if self.finished {
            return Err(Error::Finished);
        }
        let mut writer = Writer::new(out, LINE)?;
        writer.put(&(self.most, self.servers.names(), self.clients.names()))?;
        writer.put(&(&self.ends, self.told, &self.walk, &self.recent))?;
        writer.put(&(&self.gaps, &self.unanswered))?;
        writer.put(&self.events)?;
        self.files.save(&mut writer)?;
        self.names.save(&mut writer)?;
        self.inodes.save(&mut writer)
    }

    /// What was saved, and nothing behind it. Damage is refused by checksums; what has the right
    /// ones is trusted.
    pub fn load(input: impl Read) -> Result<Lives, Error> {
        let mut reader = Reader::new(input, LINE)?;
        let (most, servers, clients): (usize, Vec<String>, Vec<String>) = reader.get()?;
        let (ends, told, walk, recent) = reader.get()?;
        let (gaps, unanswered): (Gaps, _) = reader.get()?;
        let events = reader.get()?;
        let (files, names) = (Ended::load(&mut reader)?, Ended::load(&mut reader)?);
        let inodes = Inodes::load(&mut reader, most)?;
        let (servers, clients) = (interned(&servers), interned(&clients));
        Ok(Lives {
            most,
            inodes,
            recent,
            walk,
            servers,
            clients,
            ends,
            gaps,
            unanswered,
            told,
            files,
            names,
            events,
            directories: Named::default(),
            finished: false,
        })
    }
}

/// Names with the numbers that they had.
fn interned(names: &[String]) -> Interner {
    let mut interner = Interner::default();
    for name in names {
        interner.intern(name);
    }
    interner
}
