//! A trace file's bytes, decompressed; the first bytes identify the compression.

use std::io::{self, BufReader, Chain, Cursor, Read};
use std::path::Path;
use std::thread;

use bzip2::read::MultiBzDecoder;
use crossbeam_channel::{bounded, Receiver};
use flate2::read::MultiGzDecoder;
use liblzma::read::XzDecoder;

/// Bytes passed from the decompressing thread at a time, and the most chunks pending.
const CHUNK: usize = 1 << 20;
const WAITING: usize = 4;

/// A file's compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// None.
    None,
    /// gzip, RFC 1952, of one or more members.
    Gzip,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
    /// Zstandard, RFC 8878.
    Zstd,
}

impl Compression {
    /// Recognizes the compression by the first bytes.
    pub fn of(first: &[u8]) -> Compression {
        match first {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Compression::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }

    /// Its usual name.
    pub fn word(self) -> &'static str {
        match self {
            Compression::None => "none",
            Compression::Gzip => "gzip",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
            Compression::Zstd => "zstd",
        }
    }
}

/// Opens a file, or standard input for `-`.
pub fn open(path: &Path) -> io::Result<(Compression, Box<dyn Read + Send>)> {
    if path == Path::new("-") {
        return decompress(Box::new(io::stdin()));
    }
    let file = std::fs::File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory"));
    }
    decompress(Box::new(file))
}

/// Whether a trace comes as it is made, by a pipe or the like, rather than from a file.
pub fn is_live(path: &Path) -> bool {
    let path = if path == Path::new("-") { Path::new("/dev/stdin") } else { path };
    std::fs::metadata(path).map_or(true, |file| !file.is_file())
}

/// Decompresses, in a thread if there is any compression.
pub fn decompress(
    mut raw: Box<dyn Read + Send>,
) -> io::Result<(Compression, Box<dyn Read + Send>)> {
    let mut first = Vec::new();
    raw.by_ref().take(6).read_to_end(&mut first)?;
    let compression = Compression::of(&first);
    let whole: Chain<_, _> = Cursor::new(first).chain(raw);
    let reader: Box<dyn Read + Send> = match compression {
        Compression::None => return Ok((compression, Box::new(whole))),
        Compression::Gzip => Box::new(MultiGzDecoder::new(BufReader::with_capacity(CHUNK, whole))),
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(whole)),
        Compression::Xz => Box::new(XzDecoder::new_multi_decoder(whole)),
        Compression::Zstd => Box::new(zstd::Decoder::new(whole)?),
    };
    Ok((compression, Box::new(Ahead::new(reader))))
}

/// Reads ahead in a thread.
struct Ahead {
    chunks: Receiver<io::Result<Vec<u8>>>,
    current: Cursor<Vec<u8>>,
}

impl Ahead {
    fn new(mut reader: Box<dyn Read + Send>) -> Ahead {
        let (sender, chunks) = bounded(WAITING);
        thread::spawn(move || loop {
            let mut chunk = Vec::with_capacity(CHUNK);
            let read = reader.by_ref().take(CHUNK as u64).read_to_end(&mut chunk);
            let ended = chunk.is_empty() || read.is_err();
            if !chunk.is_empty() && sender.send(Ok(chunk)).is_err() {
                return; // nobody reads on
            }
            if let Err(error) = read {
                let _ = sender.send(Err(error)); // likewise
            }
            if ended {
                return;
            }
        });
        Ahead { chunks, current: Cursor::default() }
    }
}

impl Read for Ahead {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.current.read(out)?;
            if n > 0 || out.is_empty() {
                return Ok(n);
            }
            match self.chunks.recv() {
                Ok(chunk) => self.current = Cursor::new(chunk?),
                Err(_) => return Ok(0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn members_of_a_gzip_file_follow_each_other() {
        let both = [gzip(b"one "), gzip(b"two")].concat();
        let (compression, mut reader) = decompress(Box::new(Cursor::new(both))).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!((compression, text.as_str()), (Compression::Gzip, "one two"));
    }

    #[test]
    fn a_gzip_file_cut_short_gives_what_is_readable_and_then_the_error() {
        let text: Vec<u8> = (0..400_000u32).flat_map(u32::to_le_bytes).collect();
        let mut cut = gzip(&text);
        cut.truncate(cut.len() / 2);
        let (_, mut reader) = decompress(Box::new(Cursor::new(cut))).unwrap();
        let mut read = Vec::new();
        let error = reader.read_to_end(&mut read).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert!(read.len() > text.len() / 4 && text.starts_with(&read));
    }
}
