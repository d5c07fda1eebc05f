//! Layouts of pNFS (RFC 8881 section 12): the handles by which data servers know a file.
//!
//! File layouts and flexible files are read. Block, SCSI and object layouts name no handles of NFS,
//! and are skipped.

use super::super::xdr::{Decoded, Fault, Xdr};
use super::item::HANDLE;
use crate::fields::Fields;
use crate::schema::{Column, EntryColumn};

/// `LAYOUT4_NFSV4_1_FILES` (RFC 8881 section 13).
const FILES: u32 = 1;
/// `LAYOUT4_FLEX_FILES` (RFC 8435).
const FLEXIBLE_FILES: u32 = 4;

/// `deviceid4`, and as long: `stateid4`.
const ID: usize = 16;

/// `layout_content4`. Damage in its body makes its operation short, without effect on later ones.
pub fn content(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    let kind = x.u32()?;
    f.number(Column::LayoutType, kind.into());
    let (mut body, whole) = x.within()?;
    let read = match kind {
        FILES => files(&mut body, f),
        FLEXIBLE_FILES => flexible_files(&mut body, f),
        _ => Ok(()),
    };
    if read.is_err() {
        f.number(Column::Short, 1);
    }
    whole.then_some(()).ok_or(Fault::Short)
}

/// `nfsv4_1_file_layout4`: device, stripe unit with flags, first stripe, offset of the pattern, and
/// handles.
fn files(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    x.fixed(ID)?;
    f.number(Column::StripeUnit, x.u32()?.into());
    x.fixed(12)?;
    handles(0, x, f)
}

/// `ff_layout4`: mirrors, each of them data servers.
fn flexible_files(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    f.number(Column::StripeUnit, x.u64()?);
    f.listing();
    for mirror in 0..x.u32()? {
        for _ in 0..x.u32()? {
            // device, efficiency, state; the handles, and their user and group
            x.fixed(ID + 4 + ID)?;
            handles(mirror, x, f)?;
            x.string()?;
            x.string()?;
        }
    }
    Ok(())
}

/// `nfs_fh4<>`. An empty one names nothing.
fn handles(mirror: u32, x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    f.listing();
    for _ in 0..x.u32()? {
        let handle = x.opaque(HANDLE, "a file handle of at most 128 bytes")?;
        if !handle.is_empty() {
            f.entry();
            f.entry_text(EntryColumn::Fh, handle);
            f.entry_number(EntryColumn::Cookie, mirror.into());
        }
    }
    Ok(())
}
