//! A device in user space: frames over a Unix socket.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use zerocopy::{FromZeros, IntoBytes};

use super::{within, DeviceError};
use birthmark_hook::wire::{Command, Frame, Question, Wait, VERSION};

#[cfg(target_endian = "big")]
compile_error!("frames are little-endian: this helper is for little-endian hosts");

/// Most questions in a read.
const QUESTIONS: u32 = 64;
/// Time for which the device waits for the first.
const WAIT: Duration = Duration::from_secs(5);
/// Most bytes of an answer.
const LONGEST: usize = QUESTIONS as usize * size_of::<Question>();

/// A connection to it.
pub struct Frames(UnixStream);

impl Frames {
    /// Connects to the socket at `path`.
    pub async fn open(path: &Path) -> Result<Self, DeviceError> {
        Ok(Frames(UnixStream::connect(path).await?))
    }

    /// Sends a command with its structure and payload; returns the answer.
    pub async fn call(
        &mut self,
        command: Command,
        structure: &[u8],
        data: &[u8],
    ) -> Result<Vec<u8>, DeviceError> {
        let length = (structure.len() + data.len()) as u32;
        let frame = Frame { code: command as u32, length };
        let sent = self.send(&[frame.as_bytes(), structure, data]).await;
        match self.reply(command).await {
            // It may have refused, and closed, before it took everything.
            Err(DeviceError::Gone(error)) => Err(sent.err().unwrap_or(error).into()),
            reply => reply,
        }
    }

    /// Reads pending questions, or waits a while for one.
    pub async fn read(&mut self, limit: Duration) -> Result<Vec<u8>, DeviceError> {
        let milliseconds = WAIT.as_millis() as u32;
        let wait = Wait { version: VERSION, count: QUESTIONS, milliseconds, zero: 0 };
        let call = self.call(Command::Read, wait.as_bytes(), &[]);
        within(WAIT + limit, call).await
    }

    async fn send(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        for part in parts {
            self.0.write_all(part).await?;
        }
        Ok(())
    }

    async fn reply(&mut self, command: Command) -> Result<Vec<u8>, DeviceError> {
        let mut frame = Frame::new_zeroed();
        self.0.read_exact(frame.as_mut_bytes()).await?;
        let length = frame.length as usize;
        if length > LONGEST {
            return Err(DeviceError::Malformed(command, LONGEST, length));
        }
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).await?;
        if frame.code != 0 {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            return Err(DeviceError::Refused(command, frame.code, text));
        }
        Ok(bytes)
    }
}
