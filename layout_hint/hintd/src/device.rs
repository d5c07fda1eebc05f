//! The device that holds the model: the module's, by ioctl, or one in user space, by frames.

mod frames;
#[cfg(target_os = "freebsd")]
mod ioctl;
pub mod report;

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

use crate::image::Image;
use birthmark_hook::wire::{Command, Config, Decision, Flush, Load, Question, State, VERSION};

/// The module's errno for a question that is not pending.
const ENOENT: u32 = 2;

/// Why a device failed a command.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// It is missing, or went away.
    #[error("{0}")]
    Gone(#[from] io::Error),
    /// It refused the command, with an errno and perhaps a text.
    #[error("refused to {0:?}: errno {1} {2}")]
    Refused(Command, u32, String),
    /// Its answer breaks the protocol.
    #[error("expected an answer to {0:?} of {1} bytes, found {2}")]
    Malformed(Command, usize, usize),
    /// No answer in time.
    #[error("no answer within {0:?}")]
    Late(Duration),
    /// The path leads to something else.
    #[error("expected a Unix socket{other}, found something else", other = OTHER)]
    NoDevice,
}

#[cfg(target_os = "freebsd")]
const OTHER: &str = " or the module's character device";
#[cfg(not(target_os = "freebsd"))]
const OTHER: &str = "";

/// Path of a device, and its time limit for anything but a question.
#[derive(Debug)]
pub struct Place {
    /// Its path.
    pub path: PathBuf,
    /// The limit.
    pub limit: Duration,
}

/// An open device.
pub struct Device {
    home: Home,
    limit: Duration,
}

enum Home {
    Frames(frames::Frames),
    #[cfg(target_os = "freebsd")]
    Module(ioctl::Module),
}

impl Place {
    /// Opens the device.
    pub async fn open(&self) -> Result<Device, DeviceError> {
        use std::os::unix::fs::FileTypeExt;
        let Place { path, limit } = self;
        let kind = std::fs::metadata(path)?.file_type();
        #[cfg(target_os = "freebsd")]
        if kind.is_char_device() {
            let home = Home::Module(ioctl::Module::open(path)?);
            return Ok(Device { home, limit: *limit });
        }
        if !kind.is_socket() {
            return Err(DeviceError::NoDevice);
        }
        let home = Home::Frames(within(*limit, frames::Frames::open(path)).await?);
        Ok(Device { home, limit: *limit })
    }
}

impl Device {
    /// Returns its whole state.
    pub async fn state(&mut self) -> Result<State, DeviceError> {
        let mut state = State::new_zeroed();
        state.version = VERSION;
        self.structure(Command::Status, state).await
    }

    /// Loads an image; returns its status, and the generation after that.
    pub async fn load(&mut self, image: &Image) -> Result<(u32, u32), DeviceError> {
        let load = Load { version: VERSION, size: image.size(), data: 0, status: 0, generation: 0 };
        let answer = match &mut self.home {
            Home::Frames(frames) => {
                within(self.limit, frames.call(Command::Load, load.as_bytes(), image.bytes()))
                    .await?
            }
            #[cfg(target_os = "freebsd")]
            Home::Module(module) => module.load(load, image.bytes())?.as_bytes().to_vec(),
        };
        let load: Load = read(Command::Load, &answer)?;
        Ok((load.status, load.generation))
    }

    /// Configures it.
    pub async fn configure(&mut self, config: Config) -> Result<(), DeviceError> {
        self.call(Command::Config, config.as_bytes()).await.map(drop)
    }

    /// Drops all decisions.
    pub async fn flush(&mut self) -> Result<Flush, DeviceError> {
        self.structure(Command::Flush, Flush { version: VERSION, generation: 0 }).await
    }

    /// Answers a question; returns whether it was still pending.
    pub async fn answer(&mut self, id: u64, verdict: u32) -> Result<bool, DeviceError> {
        let decision = Decision { version: VERSION, verdict, id };
        match self.call(Command::Answer, decision.as_bytes()).await {
            Ok(_) => Ok(true),
            Err(DeviceError::Refused(_, ENOENT, _)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits for questions, and reads them; returns none from time to time.
    pub async fn questions(&mut self) -> Result<Vec<Question>, DeviceError> {
        let bytes = match &mut self.home {
            Home::Frames(frames) => frames.read(self.limit).await?,
            #[cfg(target_os = "freebsd")]
            Home::Module(module) => module.read().await?,
        };
        match <[Question]>::ref_from_bytes(&bytes) {
            Ok(questions) => Ok(questions.to_vec()),
            Err(_) => {
                Err(DeviceError::Malformed(Command::Read, size_of::<Question>(), bytes.len()))
            }
        }
    }

    async fn structure<T>(&mut self, command: Command, structure: T) -> Result<T, DeviceError>
    where
        T: FromBytes + IntoBytes + Immutable + KnownLayout,
    {
        read(command, &self.call(command, structure.as_bytes()).await?)
    }

    async fn call(&mut self, command: Command, structure: &[u8]) -> Result<Vec<u8>, DeviceError> {
        match &mut self.home {
            Home::Frames(frames) => within(self.limit, frames.call(command, structure, &[])).await,
            #[cfg(target_os = "freebsd")]
            Home::Module(module) => module.call(command, structure),
        }
    }
}

fn read<T: FromBytes + KnownLayout + Immutable>(
    command: Command,
    bytes: &[u8],
) -> Result<T, DeviceError> {
    T::read_from_bytes(bytes)
        .map_err(|_| DeviceError::Malformed(command, size_of::<T>(), bytes.len()))
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, DeviceError>>,
) -> Result<T, DeviceError> {
    tokio::time::timeout(limit, work).await.unwrap_or(Err(DeviceError::Late(limit)))
}
