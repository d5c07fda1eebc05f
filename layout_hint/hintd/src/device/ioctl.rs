//! The module's device: ioctl(2), and read(2) for questions.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::mem::offset_of;
use std::path::Path;
use std::sync::Arc;

use birthmark_hook::device::{self, Request};
use zerocopy::IntoBytes;

use super::DeviceError;
use birthmark_hook::wire::{Command, Config, Decision, Flush, Load, Question, State};

/// Most questions in a read: 19 KB, of the module's queue of BM_QUESTIONS.
const QUESTIONS: usize = 64;

/// An open device.
pub struct Module(Arc<File>);

impl Module {
    /// Opens the device at `path`.
    pub fn open(path: &Path) -> Result<Self, DeviceError> {
        Ok(Module(Arc::new(OpenOptions::new().read(true).write(true).open(path)?)))
    }

    /// Makes the ioctl of a command; returns the structure after it.
    pub fn call(&self, command: Command, structure: &[u8]) -> Result<Vec<u8>, DeviceError> {
        let mut bytes = structure.to_vec();
        self.ioctl(command, &mut bytes)?;
        Ok(bytes)
    }

    /// Loads an image.
    pub fn load(&self, load: Load, image: &[u8]) -> Result<Load, DeviceError> {
        let mut bytes = load.as_bytes().to_vec();
        device::load(&self.0, request(Command::Load), &mut bytes, offset_of!(Load, data), image)
            .map_err(|error| refusal(Command::Load, error))?;
        super::read(Command::Load, &bytes)
    }

    /// Reads pending questions, or waits for one without limit, in another thread.
    pub async fn read(&self) -> Result<Vec<u8>, DeviceError> {
        let file = Arc::clone(&self.0);
        let read = tokio::task::spawn_blocking(move || -> io::Result<Vec<u8>> {
            let mut bytes = vec![0; QUESTIONS * size_of::<Question>()];
            let length = file.as_ref().read(&mut bytes)?;
            bytes.truncate(length);
            Ok(bytes)
        });
        Ok(read.await.map_err(io::Error::other)??)
    }

    fn ioctl(&self, command: Command, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let request = request(command);
        if bytes.len() != request.size() {
            return Err(DeviceError::Malformed(command, request.size(), bytes.len()));
        }
        device::call(&self.0, request, bytes).map_err(|error| refusal(command, error))
    }
}

/// The error of an errno of the module: a refusal, or a missing device.
fn refusal(command: Command, error: io::Error) -> DeviceError {
    match error.raw_os_error() {
        // ENOENT, EINVAL, ENOTTY, EFBIG and ENOMEM are what bm_device.c returns
        Some(number @ (2 | 22 | 25 | 27 | 12)) => {
            DeviceError::Refused(command, number as u32, error.to_string())
        }
        _ => DeviceError::Gone(error),
    }
}

/// `BMIOC_...`.
const fn request(command: Command) -> Request {
    let number = command as u8;
    match command {
        Command::Load => Request::read_write::<Load>(number),
        Command::Status => Request::read_write::<State>(number),
        Command::Config => Request::write::<Config>(number),
        Command::Answer => Request::write::<Decision>(number),
        Command::Flush => Request::read_write::<Flush>(number),
        Command::Read => Request::none(number),
    }
}

const _: () = {
    assert!(request(Command::Load).opcode() == 0xc018_4201);
    assert!(request(Command::Status).opcode() == 0xc178_4202);
    assert!(request(Command::Config).opcode() == 0x8030_4203);
    assert!(request(Command::Answer).opcode() == 0x8010_4204);
    assert!(request(Command::Flush).opcode() == 0xc008_4205);
};
