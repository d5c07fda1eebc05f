//! The options of write-life hints.

use std::path::PathBuf;
use std::time::Duration;

use base64::prelude::{Engine, BASE64_STANDARD};
use clap::Args;

use crate::settings::seconds;

/// Settings of write-life hints.
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

    /// image to evaluate, as `birthmark models image` writes it; default: ask the service
    #[arg(long, env = "BIRTHMARK_HINTD_IMAGE", value_name = "PATH")]
    pub image: Option<PathBuf>,

    /// live history for the image
    #[arg(long, env = "BIRTHMARK_HINTD_HISTORY", value_name = "PATH", requires = "image")]
    pub history: Option<PathBuf>,

    /// identifier of the file system in NFS handles, in base64; default: its UUID
    #[arg(
        long,
        env = "BIRTHMARK_HINTD_DIRECTORY_SYSTEM",
        value_name = "BASE64",
        value_parser = base64
    )]
    pub directory_system: Option<Base64>,

    /// age beyond which a file is not hinted, as its data may be on the disk
    #[arg(long, env = "BIRTHMARK_HINTD_LATE_SECONDS", value_name = "S", default_value = "5", value_parser = seconds)]
    pub late_seconds: Duration,

    /// file with the amount written, in any unit; F2FS has one
    #[arg(long, env = "BIRTHMARK_HINTD_WRITTEN", value_name = "PATH", requires = "moved")]
    pub written: Option<PathBuf>,

    /// files with the amounts moved, which add up; F2FS has them
    #[arg(
        long,
        env = "BIRTHMARK_HINTD_MOVED",
        value_name = "PATHS",
        value_delimiter = ',',
        requires = "written"
    )]
    pub moved: Vec<PathBuf>,

    /// hint a file system without these files, so that harm would go unnoticed
    #[arg(long, env = "BIRTHMARK_HINTD_UNMEASURED", conflicts_with = "written")]
    pub unmeasured: bool,

    /// seconds of a period of the trial; one in ten is without hints
    #[arg(long, env = "BIRTHMARK_HINTD_TRIAL_SECONDS", value_name = "S", default_value = "3600", value_parser = seconds)]
    pub trial_seconds: Duration,

    /// file with the trial's results; without it a restart loses them
    #[arg(long, env = "BIRTHMARK_HINTD_STATE", value_name = "PATH")]
    pub state: Option<PathBuf>,
}

/// Bytes that were written in base64.
#[derive(Clone, Debug)]
pub struct Base64(pub Vec<u8>);

fn base64(text: &str) -> Result<Base64, String> {
    BASE64_STANDARD.decode(text).map(Base64).map_err(|_| "expected base64 (RFC 4648)".into())
}
