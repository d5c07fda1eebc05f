//! Little-endian numbers and arrays within a block of bytes.

use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer};
use std::cell::Cell;

/// The block. Its arrays must not exceed its size in total, so that reading takes bounded memory.
pub struct Block<'a> {
    bytes: &'a Buffer,
    left: Cell<u64>,
}

/// A run of bytes within the block.
#[derive(Clone, Copy)]
pub struct Bytes<'a> {
    of: &'a Buffer,
    begin: usize,
    end: usize,
}

impl<'a> Block<'a> {
    /// All of an image, which must begin at a multiple of 8.
    pub fn new(bytes: &'a Buffer) -> Self {
        Block { bytes, left: Cell::new(bytes.len() as u64) }
    }

    /// `count` elements of `width` bytes at `offset`, which must be a multiple of `align`.
    pub fn array(&self, offset: u32, count: u32, width: u32, align: u32) -> Option<Bytes<'a>> {
        let size = u64::from(count) * u64::from(width);
        self.left.set(self.left.get().checked_sub(size)?);
        let begin = offset as usize;
        let end = begin.checked_add(usize::try_from(size).ok()?)?;
        let fits = offset.is_multiple_of(align) && end <= self.bytes.len();
        fits.then_some(Bytes { of: self.bytes, begin, end })
    }

    /// `count` ascending numbers at `offset`.
    pub fn ascending(&self, offset: u32, count: u32) -> Option<ScalarBuffer<u32>> {
        let numbers = self.array(offset, count, 4, 4)?.u32s();
        numbers.windows(2).all(|pair| pair[0] < pair[1]).then_some(numbers)
    }
}

impl<'a> Bytes<'a> {
    /// The elements of `width` bytes.
    pub fn rows(self, width: usize) -> impl Iterator<Item = Bytes<'a>> {
        let row = move |begin| Bytes { begin, end: begin + width, ..self };
        (self.begin..self.end).step_by(width).map(row)
    }

    /// As numbers of 4 bytes.
    pub fn u32s(self) -> ScalarBuffer<u32> {
        self.numbers(|row| row.u32(0))
    }

    /// As numbers of 8 bytes.
    pub fn u64s(self) -> ScalarBuffer<u64> {
        self.numbers(|row| u64::from(row.u32(0)) | u64::from(row.u32(4)) << 32)
    }

    /// As numbers, without a copy on little-endian machines.
    fn numbers<T: ArrowNativeType>(self, read: impl Fn(Bytes) -> T) -> ScalarBuffer<T> {
        match cfg!(target_endian = "little") {
            true => self.keep().into(),
            false => self.rows(size_of::<T>()).map(read).collect::<Vec<T>>().into(),
        }
    }

    /// The bytes themselves, not copied.
    pub fn keep(self) -> Buffer {
        self.of.slice_with_length(self.begin, self.end - self.begin)
    }

    fn all(self) -> &'a [u8] {
        &self.of[self.begin..self.end]
    }

    /// The byte at `at`, inside of the run.
    pub fn u8(self, at: usize) -> u8 {
        self.all()[at]
    }

    /// The number of 2 bytes at `at`, inside of the run.
    pub fn u16(self, at: usize) -> u32 {
        u32::from(self.u8(at)) | u32::from(self.u8(at + 1)) << 8
    }

    /// The number of 4 bytes at `at`, inside of the run.
    pub fn u32(self, at: usize) -> u32 {
        self.u16(at) | self.u16(at + 2) << 16
    }
}
