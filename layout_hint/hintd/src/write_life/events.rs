//! Events of fanotify (`fanotify(7)`, `FAN_REPORT_DFID_NAME_TARGET`).

use std::iter::from_fn;

/// `struct fanotify_event_metadata`: length, version, and start of the rest.
const METADATA: usize = 24;
const VERSION: u8 = 3;
/// `struct fanotify_event_info_header`.
const HEADER: usize = 4;
/// A file system's number, and the head of a `struct file_handle`.
const FSID: usize = 8;
const HANDLE: usize = 8;

const FILE: u8 = 1;
const DIRECTORY_AND_NAME: u8 = 2;

const CREATE: u64 = 0x100;
const OVERFLOW: u64 = 0x4000;

/// A handle of a file, as the kernel opens it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle<'a> {
    /// Its type.
    pub kind: i32,
    /// The rest of it.
    pub bytes: &'a [u8],
}

/// A create.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Birth<'a> {
    /// The new file.
    pub file: Handle<'a>,
    /// Its directory.
    pub directory: Handle<'a>,
    /// Its name there.
    pub name: &'a [u8],
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Something was created.
    Birth(Birth<'a>),
    /// An unknown number of creates was missed.
    Overflow,
    /// An event of unknown form.
    Unknown,
}

/// The events in a buffer. A malformed event ends them, as `Unknown`.
pub fn events(mut read: &[u8]) -> impl Iterator<Item = Event<'_>> {
    from_fn(move || {
        if read.is_empty() {
            return None;
        }
        let length = number(read, 0).map_or(0, |length| length as usize);
        let Some((event, rest)) = read.split_at_checked(length).filter(|_| length >= METADATA)
        else {
            read = &[];
            return Some(Event::Unknown);
        };
        read = rest;
        Some(one(event).unwrap_or(Event::Unknown))
    })
}

fn one(event: &[u8]) -> Option<Event<'_>> {
    let mask = u64::from_ne_bytes(*event.get(8..)?.first_chunk()?);
    if event[4] != VERSION {
        return None;
    }
    if mask & OVERFLOW != 0 {
        return Some(Event::Overflow);
    }
    let mut rest = event.get(usize::from(u16::from_ne_bytes([event[6], event[7]]))..)?;
    let (mut file, mut place) = (None, None);
    while let Some((&[kind, _, low, high], _)) = rest.split_first_chunk::<HEADER>() {
        let (info, further) =
            rest.split_at_checked(usize::from(u16::from_ne_bytes([low, high])).max(HEADER))?;
        rest = further;
        match kind {
            FILE => file = Some(handle(&info[HEADER..])?.0),
            DIRECTORY_AND_NAME => place = Some(handle(&info[HEADER..])?),
            _ => {}
        }
    }
    let (directory, name) = place?;
    let name = name.split(|&byte| byte == 0).next().filter(|name| !name.is_empty())?;
    let birth = Birth { file: file?, directory, name };
    (mask & CREATE != 0).then_some(Event::Birth(birth))
}

/// The handle in an event's information, and what follows it.
fn handle(info: &[u8]) -> Option<(Handle<'_>, &[u8])> {
    let (length, kind) = (number(info, FSID)?, number(info, FSID + 4)?);
    let (bytes, rest) = info.get(FSID + HANDLE..)?.split_at_checked(length as usize)?;
    Some((Handle { kind: kind as i32, bytes }, rest))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(kind: u8, handle: &[u8], name: &[u8]) -> Vec<u8> {
        let body = [
            &[0; FSID][..],
            &(handle.len() as u32).to_ne_bytes(),
            &1_i32.to_ne_bytes(),
            handle,
            name,
        ]
        .concat();
        let length = ((HEADER + body.len()) as u16).to_ne_bytes();
        [&[kind, 0, length[0], length[1]][..], &body].concat()
    }

    fn event(mask: u64, infos: &[Vec<u8>]) -> Vec<u8> {
        let infos = infos.concat();
        let length = ((METADATA + infos.len()) as u32).to_ne_bytes();
        let size = (METADATA as u16).to_ne_bytes();
        [&length[..], &[VERSION, 0], &size, &mask.to_ne_bytes(), &[0xff; 4], &[0; 4], &infos]
            .concat()
    }

    fn create(name: &[u8]) -> Vec<u8> {
        let name = [name, b"\0\0\0"].concat();
        event(CREATE, &[info(DIRECTORY_AND_NAME, b"directory", &name), info(FILE, b"file", b"")])
    }

    #[test]
    fn a_create_tells_the_file_its_directory_and_its_name() {
        let read = create(b"inbox.lock");
        let birth = Birth {
            file: Handle { kind: 1, bytes: b"file" },
            directory: Handle { kind: 1, bytes: b"directory" },
            name: b"inbox.lock",
        };
        assert_eq!(events(&read).collect::<Vec<_>>(), [Event::Birth(birth)]);
    }

    #[test]
    fn events_come_in_order_including_an_overflow() {
        let read = [create(b"a"), event(OVERFLOW, &[]), create(b"b")].concat();
        let parsed: Vec<_> = events(&read).collect();
        assert!(matches!(
            parsed[..],
            [
                Event::Birth(Birth { name: b"a", .. }),
                Event::Overflow,
                Event::Birth(Birth { name: b"b", .. })
            ]
        ));
    }

    #[test]
    fn a_create_without_a_name_or_a_handle_is_not_understood() {
        for infos in [
            vec![info(FILE, b"file", b"")],
            vec![info(DIRECTORY_AND_NAME, b"directory", b"a\0")],
            vec![info(DIRECTORY_AND_NAME, b"directory", b"\0"), info(FILE, b"file", b"")],
        ] {
            let read = event(CREATE, &infos);
            assert_eq!(events(&read).collect::<Vec<_>>(), [Event::Unknown]);
        }
    }

    #[test]
    fn no_bytes_make_it_panic_and_each_cut_one_ends_it() {
        let whole = create(b"inbox.lock");
        for end in 1..whole.len() {
            assert_eq!(events(&whole[..end]).collect::<Vec<_>>(), [Event::Unknown], "{end}");
        }
        for at in 0..whole.len() {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut changed = whole.clone();
                changed[at] = byte;
                assert!(events(&changed).count() <= whole.len(), "{at}");
            }
        }
    }
}
