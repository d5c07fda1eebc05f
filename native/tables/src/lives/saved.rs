//! Snapshots of lives, from which processing continues seamlessly.

use super::directories::Named;
use super::gaps::Gaps;
use super::inodes::Inodes;
use super::losses::Ended;
use super::{Error, Lives};
use crate::snapshot::{Reader, Writer};
use birthmark_trace::budget::{Budget, Part};
use birthmark_trace::message::Interner;
use std::io::{Read, Write};

/// The first line of a snapshot of lives. It has the version of all contents.
const LINE: &str = "birthmark lives 5\n";

impl Lives {
    /// Writes the whole state, rows and events that were not taken included.
    ///
    /// # Errors
    ///
    /// [`Error::Finished`] after the end of the trace, when nothing can continue.
    pub fn save(&self, out: impl Write) -> Result<(), Error> {
        if self.finished {
            return Err(Error::Finished);
        }
        let mut writer = Writer::new(out, LINE)?;
        writer.put(&(self.most, self.servers.names(), self.clients.names()))?;
        writer.put(&(&self.ends, self.gaps_known, &self.walk, &self.recent))?;
        writer.put(&(&self.gaps, &self.unanswered))?;
        writer.put(&self.events)?;
        self.files.save(&mut writer)?;
        self.names.save(&mut writer)?;
        self.inodes.save(&mut writer)
    }

    /// Reads a snapshot. Damage and trailing bytes are refused by checksums; contents with the
    /// right checksums are trusted.
    pub fn load(input: impl Read, budget: Budget) -> Result<Lives, Error> {
        let mut reader = Reader::new(input, LINE)?;
        let (most, servers, clients): (usize, Vec<String>, Vec<String>) = reader.get()?;
        let (ends, gaps_known, walk, recent) = reader.get()?;
        let (gaps, unanswered): (Gaps, _) = reader.get()?;
        let events = reader.get()?;
        let (files, names) = (Ended::load(&mut reader)?, Ended::load(&mut reader)?);
        let inodes = Inodes::load(&mut reader, (most, budget.share(Part::Lives)))?;
        let (servers, clients) = (Interner::with_names(servers), Interner::with_names(clients));
        let lives = Lives {
            most,
            budget,
            inodes,
            recent,
            walk,
            servers,
            clients,
            ends,
            gaps,
            unanswered,
            gaps_known,
            files,
            names,
            lost_names: 0,
            events,
            directories: Named::default(),
            finished: false,
        };
        Ok(lives.with_budget(budget))
    }
}
