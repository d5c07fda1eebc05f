//! Little-endian numbers and arrays within a block of bytes.

use std::cell::Cell;

/// The block: every array in it is taken once, and they do not overlap, so that what is read is no
/// larger than the block.
pub struct Block<'a> {
    bytes: &'a [u8],
    left: Cell<u64>,
}

/// A run of bytes whose length was checked when it was taken.
#[derive(Clone, Copy)]
pub struct Bytes<'a>(&'a [u8]);

impl<'a> Block<'a> {
    /// All of an image.
    pub fn new(bytes: &'a [u8]) -> Self {
        Block { bytes, left: Cell::new(bytes.len() as u64) }
    }

    /// `count` elements of `width` bytes at `offset`, which must be a multiple of `align`.
    pub fn array(&self, offset: u32, count: u32, width: u32, align: u32) -> Option<Bytes<'a>> {
        let size = u64::from(count) * u64::from(width);
        self.left.set(self.left.get().checked_sub(size)?);
        let begin = offset as usize;
        let end = begin.checked_add(usize::try_from(size).ok()?)?;
        offset.is_multiple_of(align).then_some(Bytes(self.bytes.get(begin..end)?))
    }

    /// `count` ascending numbers at `offset`.
    pub fn ascending(&self, offset: u32, count: u32) -> Option<Vec<u32>> {
        let numbers = self.array(offset, count, 4, 4)?.u32s();
        numbers.windows(2).all(|pair| pair[0] < pair[1]).then_some(numbers)
    }
}

impl<'a> Bytes<'a> {
    /// The elements of `width` bytes.
    pub fn rows(self, width: usize) -> impl Iterator<Item = Bytes<'a>> {
        self.0.chunks_exact(width).map(Bytes)
    }

    /// As numbers of 4 bytes.
    pub fn u32s(self) -> Vec<u32> {
        self.rows(4).map(|row| row.u32(0)).collect()
    }

    /// As numbers of 8 bytes.
    pub fn u64s(self) -> Vec<u64> {
        self.rows(8).map(|row| u64::from(row.u32(0)) | u64::from(row.u32(4)) << 32).collect()
    }

    /// The bytes themselves.
    pub fn all(self) -> &'a [u8] {
        self.0
    }

    /// The byte at `at`, inside of what was taken.
    pub fn u8(self, at: usize) -> u8 {
        self.0[at]
    }

    /// The number of 2 bytes at `at`, inside of what was taken.
    pub fn u16(self, at: usize) -> u32 {
        u32::from(self.0[at]) | u32::from(self.0[at + 1]) << 8
    }

    /// The number of 4 bytes at `at`, inside of what was taken.
    pub fn u32(self, at: usize) -> u32 {
        self.u16(at) | self.u16(at + 2) << 16
    }
}
