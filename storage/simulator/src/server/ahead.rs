//! A server's reading ahead: the policies of [`crate::readahead`], in front of its cache.

use super::parameters::ServerError;
use crate::cluster::{ClusterRules, Version};
use crate::readahead::{Ahead, Choice, Heuristic, Linux, TableRules, Zfetch, ZfetchRules};
use serde::Deserialize;

/// Bytes of a block of FreeBSD's file system.
const FILE_BLOCK: u64 = 16 << 10;
/// Bytes of a cluster at most: `mnt_iosize_max` of ATA drives.
const CLUSTER: u64 = 128 << 10;

/// Policy of reading ahead.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Policy {
    /// Nothing.
    None,
    /// Clusters by a count of sequential reads: FreeBSD's.
    Counted {
        /// The heuristic of the count.
        heuristic: Choice,
        /// The table of counts; none: counts of all files.
        table: Option<TableRules>,
        /// Version of the clustering rules.
        version: Version,
    },
    /// Linux's windows, with a limit in bytes.
    Linux(u64),
    /// OpenZFS's streams.
    Zfetch(ZfetchRules),
}

/// A policy at work, with its state.
#[derive(Default)]
pub enum Reader {
    /// Nothing is read ahead.
    #[default]
    Nothing,
    /// By counts.
    Counted(Box<dyn Heuristic>, ClusterRules),
    /// A policy without a count.
    Own(Box<dyn Ahead>),
}

impl Policy {
    /// Check that it is possible.
    pub fn check(&self) -> Result<(), ServerError> {
        match self {
            Self::Counted { table: Some(TableRules { entries: 0, .. }), .. } => {
                Err(ServerError::Least("entries", 1))
            }
            Self::Linux(0) => Err(ServerError::Least("linux", 1)),
            _ => Ok(()),
        }
    }

    /// Set it up for a cache of `room` blocks of a size.
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
