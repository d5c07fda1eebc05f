//! A compiled image (`docs/image-format.md`), checked by the kernel's code.

use birthmark_contract::hints::REFUSED_TEXTS;
use birthmark_contract::image as format;
use birthmark_hook::device::check_image;

/// The bytes of a sound image.
#[derive(Debug)]
pub struct Image {
    bytes: Vec<u8>,
}

/// The status of bytes that are no image: `enum bm_status` of `birthmark.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", text(*.0))]
pub struct ImageError(pub u32);

impl Image {
    /// The shortest image's length: that of a header.
    const HEADER: usize = format::HEADER_SIZE as usize;

    /// Checks `bytes`.
    pub fn read(bytes: Vec<u8>) -> Result<Self, ImageError> {
        match check_image(&bytes) {
            0 if bytes.len() >= Self::HEADER => Ok(Image { bytes }),
            status => Err(ImageError(status)),
        }
    }

    /// The bytes themselves.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Their number, as the device reports it.
    pub fn size(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// The checksum in its header, which `read` compared.
    pub fn checksum(&self) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|i| self.bytes[format::AT_CHECKSUM as usize + i]))
    }
}

/// The text of an image's status, the device's own included.
pub fn text(status: u32) -> &'static str {
    let mut texts = format::STATUS_TEXTS.into_iter().chain(REFUSED_TEXTS);
    texts.nth(status as usize).unwrap_or("refused for a reason that is not known here")
}
