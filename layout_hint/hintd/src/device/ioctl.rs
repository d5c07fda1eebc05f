//! The module's device: ioctl(2), and read(2) for questions.

use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use rustix::ioctl::{self, opcode, Ioctl, IoctlOutput, Opcode};
use zerocopy::IntoBytes;

use super::DeviceError;
use crate::wire::{Command, Config, Decision, Flush, Load, Question, State};

const GROUP: u8 = b'B';
const QUESTIONS: usize = 64;

/// An open device.
pub struct Module(Arc<File>);

impl Module {
    /// Opens the device at `path`.
    pub fn open(path: &Path) -> Result<Self, DeviceError> {
        Ok(Module(Arc::new(OpenOptions::new().read(true).write(true).open(path)?)))
    }

    /// Makes the call that a command is; returns the structure after it.
    pub fn call(&self, command: Command, structure: &[u8]) -> Result<Vec<u8>, DeviceError> {
        let mut bytes = structure.to_vec();
        self.ioctl(command, &mut bytes)?;
        Ok(bytes)
    }

    /// Gives it an image.
    pub fn load(&self, mut load: Load, image: &[u8]) -> Result<Load, DeviceError> {
        load.data = image.as_ptr() as u64;
        let mut bytes = load.as_bytes().to_vec();
        self.ioctl(Command::Load, &mut bytes)?;
        super::read(Command::Load, &bytes)
    }

    /// Takes the questions there are, or waits for one, however long: the read is a thread's.
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

    // ioctl(2) is nothing that a compiler could check.
    #[allow(unsafe_code)]
    fn ioctl(&self, command: Command, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let (opcode, size) = request(command);
        if bytes.len() != size {
            return Err(DeviceError::Malformed(command, size, bytes.len()));
        }
        // SAFETY: the opcode, which image.c compares with the header, holds the structure's size,
        // which `bytes` has, so that the kernel reads and writes within them. LOAD reads `size`
        // bytes from `data` on besides: those of the image, which `load` borrows.
        let done = unsafe { ioctl::ioctl(&*self.0, Call { opcode, bytes }) };
        done.map_err(|errno| match errno.raw_os_error() {
            number @ (2 | 22 | 25 | 27 | 12) => {
                DeviceError::Refused(command, number as u32, errno.to_string())
            }
            _ => DeviceError::Gone(errno.into()),
        })
    }
}

/// `BMIOC_…`, and the size of its structure.
fn request(command: Command) -> (Opcode, usize) {
    let number = command as u8;
    match command {
        Command::Load => (opcode::read_write::<Load>(GROUP, number), size_of::<Load>()),
        Command::Status => (opcode::read_write::<State>(GROUP, number), size_of::<State>()),
        Command::Config => (opcode::write::<Config>(GROUP, number), size_of::<Config>()),
        Command::Answer => (opcode::write::<Decision>(GROUP, number), size_of::<Decision>()),
        Command::Flush => (opcode::read_write::<Flush>(GROUP, number), size_of::<Flush>()),
        Command::Read => (opcode::none(GROUP, number), 0),
    }
}

const _: () = {
    assert!(opcode::read_write::<Load>(GROUP, 1) == 0xc018_4201);
    assert!(opcode::read_write::<State>(GROUP, 2) == 0xc178_4202);
    assert!(opcode::write::<Config>(GROUP, 3) == 0x8030_4203);
    assert!(opcode::write::<Decision>(GROUP, 4) == 0x8010_4204);
    assert!(opcode::read_write::<Flush>(GROUP, 5) == 0xc008_4205);
};

struct Call<'a> {
    opcode: Opcode,
    bytes: &'a mut [u8],
}

// SAFETY: see `Module::ioctl`, the only place that makes one.
#[allow(unsafe_code)]
unsafe impl Ioctl for Call<'_> {
    type Output = ();
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        self.opcode
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.bytes.as_mut_ptr().cast()
    }

    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut c_void) -> rustix::io::Result<()> {
        Ok(())
    }
}
