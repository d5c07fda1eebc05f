//! Where anonymized text goes: a file, compressed as its name says, in a thread of its own.

use crossbeam_channel::{bounded, Sender};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::thread::{self, JoinHandle};

/// Chunks that may wait to be written.
const WAITING: usize = 4;

/// A file being written.
pub struct Output {
    chunks: Option<Sender<Vec<u8>>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Output {
    /// Opens a file for writing; `suffix` says how it is compressed: `gz`, `bz2`, `xz`, `zst`, or
    /// anything else for not at all.
    pub fn create(path: &Path, suffix: &str) -> io::Result<Output> {
        let file = BufWriter::with_capacity(1 << 16, File::create(path)?);
        let suffix = suffix.to_owned();
        let (sender, chunks) = bounded::<Vec<u8>>(WAITING);
        let thread = thread::spawn(move || -> io::Result<()> {
            let mut writer = Encoder::new(file, &suffix)?;
            for chunk in chunks {
                writer.write_all(&chunk)?;
            }
            writer.finish()
        });
        Ok(Output { chunks: Some(sender), thread: Some(thread) })
    }

    /// Hands bytes to be written. What went wrong before is told here, or at the end.
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

enum Encoder {
    Plain(Target),
    Gzip(flate2::write::GzEncoder<Target>),
    Bzip2(bzip2::write::BzEncoder<Target>),
    Xz(liblzma::write::XzEncoder<Target>),
    Zstd(zstd::Encoder<'static, Target>),
}

impl Encoder {
    fn new(file: Target, suffix: &str) -> io::Result<Encoder> {
        Ok(match suffix {
            "gz" => Encoder::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::fast())),
            "bz2" => Encoder::Bzip2(bzip2::write::BzEncoder::new(file, bzip2::Compression::best())),
            "xz" => Encoder::Xz(liblzma::write::XzEncoder::new(file, 6)),
            "zst" => Encoder::Zstd(zstd::Encoder::new(file, 3)?),
            _ => Encoder::Plain(file),
        })
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Encoder::Plain(file) => file.write_all(bytes),
            Encoder::Gzip(encoder) => encoder.write_all(bytes),
            Encoder::Bzip2(encoder) => encoder.write_all(bytes),
            Encoder::Xz(encoder) => encoder.write_all(bytes),
            Encoder::Zstd(encoder) => encoder.write_all(bytes),
        }
    }

    fn finish(self) -> io::Result<()> {
        let mut file = match self {
            Encoder::Plain(file) => file,
            Encoder::Gzip(encoder) => encoder.finish()?,
            Encoder::Bzip2(encoder) => encoder.finish()?,
            Encoder::Xz(encoder) => encoder.finish()?,
            Encoder::Zstd(encoder) => encoder.finish()?,
        };
        file.flush()
    }
}
