//! How a server reads before it is asked: the policies of [`crate::readahead`], before its cache.

use super::parameters::ServerError;
use crate::cluster::{ClusterRules, Version};
use crate::readahead::{Ahead, Choice, Heuristic, Linux, TableRules, Zfetch, ZfetchRules};
use serde::Deserialize;

/// Bytes of a block of FreeBSD's file system.
const FILE_BLOCK: u64 = 16 << 10;
/// Bytes of a cluster at most: `mnt_iosize_max` of ATA drives.
const CLUSTER: u64 = 128 << 10;

/// What is read ahead.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Policy {
    /// Nothing.
    None,
    /// Clusters, as a count of sequential reads tells: FreeBSD's.
    Counted {
        /// How it is counted.
        heuristic: Choice,
        /// Of which files counts are kept; none: of all.
        table: Option<TableRules>,
        /// How much is read for a count.
        version: Version,
    },
    /// Linux's windows of at most so many bytes.
    Linux(u64),
    /// OpenZFS's streams.
    Zfetch(ZfetchRules),
}

/// A policy at work, with what it knows of files.
#[derive(Default)]
pub enum Reader {
    /// Nothing is read ahead.
    #[default]
    Nothing,
    /// By counts.
    Counted(Box<dyn Heuristic>, ClusterRules),
    /// It says itself what to read.
    Own(Box<dyn Ahead>),
}

impl Policy {
    /// Whether it can be.
    pub fn check(&self) -> Result<(), ServerError> {
        match self {
            Self::Counted { table: Some(TableRules { entries: 0, .. }), .. } => {
                Err(ServerError::Least("entries", 1))
            }
            Self::Linux(0) => Err(ServerError::Least("linux", 1)),
            _ => Ok(()),
        }
    }

    /// Put it to work before a cache of so many blocks of a size.
    pub fn reader(&self, room: usize, block: u64) -> Reader {
        match *self {
            Self::None => Reader::Nothing,
            Self::Counted { heuristic, table, version } => {
                let size = (FILE_BLOCK / block).max(1) * block;
                let buffers = room as u64 * block / size;
                let rules = ClusterRules { version, block: size, cluster: CLUSTER / size, buffers };
                let rules = ClusterRules { cluster: rules.cluster.max(1), ..rules };
                Reader::Counted(heuristic.make(table), rules)
            }
            Self::Linux(most) => Reader::Own(Box::new(Linux::new(most))),
            Self::Zfetch(rules) => Reader::Own(Box::new(Zfetch::new(rules))),
        }
    }
}
