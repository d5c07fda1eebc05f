//! A pipe: read where rows are made, into the decoder's own window. What a pipe is compressed by is
//! undone by a thread of its own.

use super::{Next, Place, Source, PATIENCE};
use crate::input::Input;
use birthmark_source::{decompress, Compression};
use crossbeam_channel::{bounded, unbounded, Receiver, RecvTimeoutError, Sender};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::thread;

/// So many first bytes tell how a pipe is compressed.
const TELLING: u64 = 6;

/// The most bytes decompressed at a time, and how many such chunks may wait.
const CHUNK: usize = 1 << 18;
const WAITING: usize = 32;

/// A pipe: one input.
pub struct Pipe(Option<File>);

impl Pipe {
    /// Opens a pipe; `-` is standard input.
    pub fn open(path: &Path) -> io::Result<Pipe> {
        Ok(Pipe(Some(match path == Path::new("-") {
            true => io::stdin().as_fd().try_clone_to_owned()?.into(),
            false => File::open(path)?,
        })))
    }
}

impl Source for Pipe {
    fn next(&mut self) -> io::Result<Next> {
        let Some(mut pipe) = self.0.take() else {
            return Ok(Next::End);
        };
        let mut first = Vec::new();
        pipe.by_ref().take(TELLING).read_to_end(&mut first)?;
        let compression = Compression::of(&first);
        let first = io::Cursor::new(first);
        let mut input = Input::new(match compression {
            Compression::None => Box::new(first.chain(Patient(pipe))),
            _ => Box::new(Chunks::read(decompress(Box::new(first.chain(pipe)))?.1)),
        });
        input.live = true;
        Ok(Next::Input(input, Place::default()))
    }
}

/// A pipe that is waited for, but not for long.
struct Patient(File);

impl Read for Patient {
    /// Gives what has come, and after [`PATIENCE`] without anything `WouldBlock`.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let patience = Timespec::try_from(PATIENCE).map_err(io::Error::other)?;
        let ready = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&patience))?;
        match ready {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => self.0.read(out),
        }
    }
}

/// What a thread has read, as it comes.
pub struct Chunks {
    chunks: Receiver<io::Result<Chunk>>,
    /// Chunks that were used up, to be filled again.
    used: Sender<Vec<u8>>,
    current: Chunk,
}

/// Bytes of which the first `end` were read, and those before `start` given.
#[derive(Default)]
struct Chunk {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Chunks {
    /// Reads in a thread.
    pub fn read(mut reader: Box<dyn Read + Send>) -> Chunks {
        let (sender, chunks) = bounded(WAITING);
        let (used, free) = unbounded::<Vec<u8>>();
        thread::spawn(move || loop {
            let mut bytes = free.try_recv().unwrap_or_else(|_| vec![0; CHUNK]);
            let read = loop {
                match reader.read(&mut bytes) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read,
                }
            };
            let last = matches!(read, Ok(0) | Err(_));
            let chunk = read.map(|end| Chunk { bytes, start: 0, end });
            if sender.send(chunk).is_err() || last {
                return;
            }
        });
        Chunks { chunks, used, current: Chunk::default() }
    }

    /// Waits for the next chunk.
    fn more(&mut self) -> io::Result<()> {
        let next = match self.chunks.recv_timeout(PATIENCE) {
            Ok(chunk) => chunk?,
            Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::WouldBlock.into()),
            Err(RecvTimeoutError::Disconnected) => Chunk::default(),
        };
        let before = std::mem::replace(&mut self.current, next);
        if !before.bytes.is_empty() {
            let _ = self.used.send(before.bytes); // the thread may have ended
        }
        Ok(())
    }
}

impl Read for Chunks {
    /// Gives what has come, and after [`PATIENCE`] without anything `WouldBlock`.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.current.start == self.current.end {
            self.more()?;
        }
        let Chunk { bytes, start, end } = &mut self.current;
        let n = out.len().min(*end - *start);
        out[..n].copy_from_slice(&bytes[*start..*start + n]);
        *start += n;
        Ok(n)
    }
}
