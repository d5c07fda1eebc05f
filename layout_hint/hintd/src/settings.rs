//! The options; each can also be an environment variable.

use std::fmt::Display;
use std::fs;
use std::io::{self, ErrorKind::InvalidData};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, ValueEnum};
use hyper::header::HeaderValue;

use crate::address::Address;
use crate::device::Place;
#[cfg(target_os = "linux")]
use crate::write_life::{Rule, WriteLifeSettings};
use birthmark_contract::hints::{HOT_DIR, HOT_NAME, HOT_WRITE};

/// Keeps the layout hint's device informed: fetches the model's image from the service, checks it,
/// and loads it into the device; takes the device's questions to the service, and reports to it. On
/// Linux it can hint a file system's files in place of that (--write-life). Each option may also stand in the environment, as BIRTHMARK_HINTD_ and its name.
#[derive(Debug, Parser)]
#[command(name = "birthmark-hintd", version)]
pub struct Settings {
    /// address of the service: http://HOST:PORT or unix:PATH
    #[arg(long, env = "BIRTHMARK_HINTD_SERVICE", default_value = "http://127.0.0.1:8325")]
    pub service: Address,

    /// file with the access token for the service, if it needs one
    #[arg(long, env = "BIRTHMARK_HINTD_TOKEN_FILE", value_name = "PATH")]
    pub token_file: Option<PathBuf>,

    /// path of the module's device, or socket of one in user space
    #[arg(
        long,
        env = "BIRTHMARK_HINTD_DEVICE",
        value_name = "PATH",
        default_value = "/dev/birthmark"
    )]
    pub device: PathBuf,

    /// fetch and load once: exits with 0 if the device has the image, else with 1
    #[arg(long)]
    pub once: bool,

    /// seconds between polls for another image, if the service does not hold requests, and the
    /// greatest delay between attempts after failures
    #[arg(long, env = "BIRTHMARK_HINTD_POLL_SECONDS", value_name = "S", default_value = "5", value_parser = seconds)]
    pub poll_seconds: Duration,

    /// seconds between checks that the device still has the image
    #[arg(long, env = "BIRTHMARK_HINTD_DEVICE_SECONDS", value_name = "S", default_value = "1", value_parser = seconds)]
    pub device_seconds: Duration,

    /// seconds between reports of the counters to the service
    #[arg(long, env = "BIRTHMARK_HINTD_REPORT_SECONDS", value_name = "S", default_value = "15", value_parser = seconds)]
    pub report_seconds: Duration,

    /// timeout of the service and of the device, in seconds
    #[arg(long, env = "BIRTHMARK_HINTD_TIMEOUT_SECONDS", value_name = "S", default_value = "10", value_parser = seconds)]
    pub timeout_seconds: Duration,

    /// Settings of the device.
    #[command(flatten)]
    pub device_settings: DeviceSettings,

    /// Write-life hints on Linux.
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    pub write_life: WriteLifeSettings,

    /// Predicates of each class.
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    pub rule: Rule,
}

impl Settings {
    /// The `Authorization` field for the service; none without a file.
    pub fn token(&self) -> io::Result<Option<HeaderValue>> {
        let Some(path) = &self.token_file else { return Ok(None) };
        let named = |what: &dyn Display| format!("{}: {what}", path.display());
        let text = fs::read_to_string(path)
            .map_err(|error| io::Error::new(error.kind(), named(&error)))?;
        let mut value = HeaderValue::from_str(&format!("Bearer {}", text.trim()))
            .map_err(|_| io::Error::new(InvalidData, named(&"expected a line with a token")))?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    /// The device.
    pub fn place(&self) -> Place {
        Place { path: self.device.clone(), limit: self.timeout_seconds }
    }
}

/// Settings of the device, restored when it returns without them.
#[derive(Args, Debug)]
#[group(requires = "mode")]
#[command(next_help_heading = "Settings of the device, which keeps those it has without --mode")]
pub struct DeviceSettings {
    /// source of the device's verdicts
    #[arg(long, env = "BIRTHMARK_HINTD_MODE", value_enum)]
    pub mode: Option<Mode>,

    /// verdicts that are followed
    #[arg(
        long,
        env = "BIRTHMARK_HINTD_POLICY",
        value_enum,
        value_delimiter = ',',
        default_value = "name,dir,write"
    )]
    pub policy: Vec<Hint>,

    /// file system of the region: a path in it
    #[arg(long, env = "BIRTHMARK_HINTD_MOUNT", value_name = "PATH")]
    pub mount: Option<PathBuf>,

    /// first byte of the region in its partition
    #[arg(long, env = "BIRTHMARK_HINTD_REGION_START", value_name = "BYTES", default_value_t = 0)]
    pub region_start: u64,

    /// length of the region in bytes; 0: no region
    #[arg(long, env = "BIRTHMARK_HINTD_REGION_LENGTH", value_name = "BYTES", default_value_t = 0)]
    pub region_length: u64,

    /// number of its inodes from the first of its cylinder group on; 0: those in its bytes
    #[arg(long, env = "BIRTHMARK_HINTD_REGION_INODES", value_name = "N", default_value_t = 0)]
    pub region_inodes: u32,

    /// parts of it closed to other files, while there is room elsewhere
    #[arg(long, env = "BIRTHMARK_HINTD_REGION_MODE", value_enum, default_value = "preferred")]
    pub region_mode: RegionMode,

    /// blocks of a file to place in the region; default: the device's
    #[arg(long, env = "BIRTHMARK_HINTD_HOT_BLOCKS", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub hot_blocks: Option<u32>,
}

/// Source of verdicts: `BM_MODE_…`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Mode {
    /// none: every create is cold
    Off = 0,
    /// from the image
    Table = 1,
    /// from the service, through this helper
    Query = 2,
}

/// Parts of the region closed to others: `BM_REGION_…`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RegionMode {
    /// nothing
    Preferred = 1,
    /// its data, not its inodes
    Data = 2,
    /// both
    Reserved = 3,
}

/// A kind of verdict: `BM_HOT_…`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Hint {
    /// HotName
    Name = HOT_NAME as isize,
    /// HotDir
    Dir = HOT_DIR as isize,
    /// HotWrite
    Write = HOT_WRITE as isize,
}

/// A time in seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|s| (0.001..=86400.0).contains(s));
    seconds.map(Duration::from_secs_f64).ok_or("expected 0.001 to 86400 seconds".into())
}
