//! The options of write-life hints.

use std::path::PathBuf;
use std::time::Duration;

use base64::prelude::{Engine, BASE64_STANDARD};
use clap::Args;

use crate::settings::seconds;

/// What is hinted, and by what.
#[derive(Args, Debug)]
#[group(requires = "write_life")]
#[command(next_help_heading = "Write-life hints, in place of a device")]
pub struct WriteLifeSettings {
    /// hint each file that is created in the file system that is mounted here
    #[arg(
        long,
        env = "BIRTHMARK_HINTD_WRITE_LIFE",
        value_name = "PATH",
        conflicts_with_all = ["device", "once", "device_seconds", "DeviceSettings"]
    )]
    pub write_life: Option<PathBuf>,

    /// image that is asked, as `birthmark image` writes it; without it the service is
    #[arg(long, env = "BIRTHMARK_HINTD_IMAGE", value_name = "PATH")]
    pub image: Option<PathBuf>,

    /// live history that the image is told of
    #[arg(long, env = "BIRTHMARK_HINTD_HISTORY", value_name = "PATH", requires = "image")]
    pub history: Option<PathBuf>,

    /// how NFS file handles name the file system, in base64; without it by its UUID
    #[arg(
        long,
        env = "BIRTHMARK_HINTD_DIRECTORY_SYSTEM",
        value_name = "BASE64",
        value_parser = base64
    )]
    pub directory_system: Option<Base64>,

    /// age from which a file is left alone, since its data may be on the disk
    #[arg(long, env = "BIRTHMARK_HINTD_LATE_SECONDS", value_name = "S", default_value = "5", value_parser = seconds)]
    pub late_seconds: Duration,

    /// file that says what was written, in any unit; F2FS has one
    #[arg(long, env = "BIRTHMARK_HINTD_WRITTEN", value_name = "PATH", requires = "moved")]
    pub written: Option<PathBuf>,

    /// files that say what of it was moved, which add up; F2FS has them
    #[arg(
        long,
        env = "BIRTHMARK_HINTD_MOVED",
        value_name = "PATHS",
        value_delimiter = ',',
        requires = "written"
    )]
    pub moved: Vec<PathBuf>,

    /// hint a file system that does not say what it moves, so that no harm would be seen
    #[arg(long, env = "BIRTHMARK_HINTD_UNMEASURED", conflicts_with = "written")]
    pub unmeasured: bool,

    /// a period of the trial; one of ten is without hints
    #[arg(long, env = "BIRTHMARK_HINTD_TRIAL_SECONDS", value_name = "S", default_value = "3600", value_parser = seconds)]
    pub trial_seconds: Duration,

    /// file that keeps what the trial has found; without it a restart forgets that
    #[arg(long, env = "BIRTHMARK_HINTD_STATE", value_name = "PATH")]
    pub state: Option<PathBuf>,
}

/// Bytes that were written in base64.
#[derive(Clone, Debug)]
pub struct Base64(pub Vec<u8>);

fn base64(text: &str) -> Result<Base64, String> {
    BASE64_STANDARD.decode(text).map(Base64).map_err(|_| "expected base64 (RFC 4648)".into())
}
