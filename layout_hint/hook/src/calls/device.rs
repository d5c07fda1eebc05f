//! The layout hint's device, and the kernel's own check of images.

use std::ffi::c_void;

extern "C" {
    fn bm_device_image_check(bytes: *const c_void, size: usize) -> i32;
}

/// The status of an image (`enum bm_status` of `birthmark.h`), as the kernel's code finds it.
pub fn check_image(bytes: &[u8]) -> u32 {
    // SAFETY: the pointer and the length are those of one slice, which outlives the call; the
    // code reads that, and keeps nothing.
    unsafe { bm_device_image_check(bytes.as_ptr().cast(), bytes.len()) as u32 }
}

#[cfg(target_os = "freebsd")]
pub use freebsd::{call, fsid, load, Request};

#[cfg(target_os = "freebsd")]
mod freebsd {
    use rustix::ioctl::{self, opcode, Ioctl, IoctlOutput, Opcode};
    use std::ffi::{c_char, c_void, CString};
    use std::fs::File;
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    extern "C" {
        fn bm_device_fsid(path: *const c_char, fsid: *mut i32) -> i32;
    }

    /// The number of the file system that holds `path`.
    pub fn fsid(path: &Path) -> io::Result<[i32; 2]> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        let mut fsid = [0; 2];
        // SAFETY: a terminated text, and room for the two numbers that are written.
        match unsafe { bm_device_fsid(path.as_ptr(), fsid.as_mut_ptr()) } {
            0 => Ok(fsid),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The group of the device's requests, `BMIOC_...`.
    const GROUP: u8 = b'B';

    /// A request of the device, and the size of its structure.
    #[derive(Clone, Copy)]
    pub struct Request {
        opcode: Opcode,
        size: usize,
    }

    impl Request {
        /// One whose structure `T` the kernel reads and writes.
        pub const fn read_write<T>(number: u8) -> Request {
            Request { opcode: opcode::read_write::<T>(GROUP, number), size: size_of::<T>() }
        }

        /// One whose structure `T` the kernel reads.
        pub const fn write<T>(number: u8) -> Request {
            Request { opcode: opcode::write::<T>(GROUP, number), size: size_of::<T>() }
        }

        /// One without a structure.
        pub const fn none(number: u8) -> Request {
            Request { opcode: opcode::none(GROUP, number), size: 0 }
        }

        /// Its number in C.
        pub const fn opcode(&self) -> Opcode {
            self.opcode
        }

        /// Bytes of its structure.
        pub const fn size(&self) -> usize {
            self.size
        }
    }

    /// Makes a request of `device` with the structure `bytes`: `InvalidInput` if it has another
    /// size.
    pub fn call(device: &File, request: Request, bytes: &mut [u8]) -> io::Result<()> {
        if bytes.len() != request.size {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: the opcode holds the size of the structure, which `bytes` has, so that the kernel
        // reads and writes within them. The one request whose structure points to more memory,
        // BMIOC_LOAD, only reads that, and fails where there is none.
        unsafe { ioctl::ioctl(device, Call { opcode: request.opcode, bytes }) }.map_err(Into::into)
    }

    /// Makes a request whose structure holds, at byte `at`, the address of `image`.
    pub fn load(
        device: &File,
        request: Request,
        bytes: &mut [u8],
        at: usize,
        image: &[u8],
    ) -> io::Result<()> {
        let address = (image.as_ptr() as u64).to_ne_bytes();
        let place = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut());
        *place.ok_or(io::ErrorKind::InvalidInput)? = address;
        call(device, request, bytes)
    }

    struct Call<'a> {
        opcode: Opcode,
        bytes: &'a mut [u8],
    }

    // SAFETY: see `call`, the only place that makes one.
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
}
