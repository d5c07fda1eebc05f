//! Writes anonymized text to a file in a thread, compressed as its suffix says.

use bzip2::write::BzEncoder;
use crossbeam_channel::{bounded, Receiver, Sender};
use flate2::write::GzEncoder;
use flate2::Compression;
use liblzma::write::XzEncoder;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::thread::{self, JoinHandle};

/// The most chunks pending.
const WAITING: usize = 4;

/// A file being written.
pub struct Output {
    chunks: Option<Sender<Vec<u8>>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Output {
    /// Opens a file for writing; `suffix` selects the compression: `gz`, `bz2`, `xz`, `zst`, or
    /// anything else for none.
    pub fn create(path: &Path, suffix: &str) -> io::Result<Output> {
        let file = BufWriter::with_capacity(1 << 16, File::create(path)?);
        let suffix = suffix.to_owned();
        let (sender, chunks) = bounded::<Vec<u8>>(WAITING);
        let thread = thread::spawn(move || match suffix.as_str() {
            "gz" => write_by(GzEncoder::new(file, Compression::fast()), chunks, GzEncoder::finish),
            "bz2" => write_by(
                BzEncoder::new(file, bzip2::Compression::best()),
                chunks,
                BzEncoder::finish,
            ),
            "xz" => write_by(XzEncoder::new(file, 6), chunks, XzEncoder::finish),
            "zst" => write_by(zstd::Encoder::new(file, 3)?, chunks, zstd::Encoder::finish),
            _ => write_by(file, chunks, Ok),
        });
        Ok(Output { chunks: Some(sender), thread: Some(thread) })
    }

    /// Queues bytes for writing. Reports an earlier error, here or in [`Output::finish`].
    pub fn write(&mut self, chunk: Vec<u8>) -> io::Result<()> {
        let sent = self.chunks.as_ref().map(|chunks| chunks.send(chunk));
        if matches!(sent, Some(Ok(()))) {
            return Ok(());
        }
        self.finish()?;
        Err(io::Error::other("the output was closed before"))
    }

    /// Waits until all is written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.chunks = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(io::Error::other("writing ended unexpectedly")),
            None => Ok(()),
        }
    }
}

type Target = BufWriter<File>;

/// Writes chunks into a file by a writer that may compress.
fn write_by<W: Write>(
    mut writer: W,
    chunks: Receiver<Vec<u8>>,
    finish: impl FnOnce(W) -> io::Result<Target>,
) -> io::Result<()> {
    for chunk in chunks {
        writer.write_all(&chunk)?;
    }
    finish(writer)?.flush()
}
