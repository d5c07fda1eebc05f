//! A shared history as a file: who may write it, who may read it, and what becomes of it.

use birthmark_contract::history_scope::HistoryScope;
use birthmark_learn::history::{hash, Keys, Namer, Record, KEYS};
use birthmark_live::header::{HeaderError, VERSION};
use birthmark_live::lookup::{Asked, Lookup, Place, Seen};
use birthmark_live::{
    alias, file, CreateError, Directory, Limits, OpenError, Publisher, Report, SharedHistory,
    StaleReason, State,
};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const LIMITS: Limits = Limits { age: u64::MAX, lag: 0, loss: 0 };
const FOLLOWING: Report =
    Report { trace_clock: 1_000_000, lag: 0, loss: 0, state: State::Following, operations: 7 };

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    (folder, path)
}

fn published(path: &Path) -> Publisher {
    let mut publisher = Publisher::create(path, 1000, 100, "0.1.0").unwrap();
    publisher.commit(FOLLOWING);
    publisher.publish().unwrap();
    publisher
}

fn births(history: &mut SharedHistory, key: u64) -> Result<u32, StaleReason> {
    history.look(|view| view.record(key).births)
}

fn born(times: usize) -> Record {
    let mut record = Record::default();
    (0..times).for_each(|_| record.bear(1));
    record
}

#[test]
fn readers_find_a_file_once_it_is_published() {
    let (_folder, path) = place();
    let mut publisher = Publisher::create(&path, 1000, 100, "0.1.0").unwrap();
    publisher.writer().put(7, &born(3));
    publisher.commit(FOLLOWING);
    assert_eq!(SharedHistory::new(&path, LIMITS).reader().err(), Some(StaleReason::Absent));
    publisher.publish().unwrap();
    let mut history = SharedHistory::new(&path, LIMITS);
    assert_eq!(births(&mut history, 7), Ok(3));
    assert_eq!(history.reader().unwrap().follower(), "0.1.0");
    publisher.writer().put(7, &born(4));
    publisher.commit(Report { lag: 1, ..FOLLOWING });
    assert_eq!(births(&mut history, 7), Err(StaleReason::Behind));
    publisher.commit(FOLLOWING);
    assert_eq!(births(&mut history, 7), Ok(4));
}

#[test]
fn one_writes_at_a_time() {
    let (_folder, path) = place();
    let first = published(&path);
    let second = Publisher::create(&path, 1000, 100, "0.1.0");
    assert!(matches!(second, Err(CreateError::Locked)));
    drop(first);
    published(&path);
}

#[test]
fn readers_go_over_to_the_next_file_at_their_next_look() {
    let (_folder, path) = place();
    let first = published(&path);
    let mut history = SharedHistory::new(&path, LIMITS);
    assert_eq!(births(&mut history, 7), Ok(0));
    drop(first);
    let mut second = Publisher::create(&path, 2000, 100, "0.2.0").unwrap();
    second.writer().put(7, &born(2));
    second.commit(FOLLOWING);
    assert_eq!(births(&mut history, 7), Ok(0));
    second.publish().unwrap();
    assert_eq!(births(&mut history, 7), Ok(2));
    assert_eq!(history.reader().unwrap().follower(), "0.2.0");
}

#[test]
fn a_draft_that_a_crash_left_is_replaced() {
    let (folder, path) = place();
    drop(Publisher::create(&path, 1000, 100, "0.1.0").unwrap());
    assert!(folder.path().join("history.new").exists());
    published(&path);
    assert!(!folder.path().join("history.new").exists());
}

#[test]
fn files_that_others_can_write_are_not_opened() {
    let (folder, path) = place();
    let publisher = published(&path);
    let refused = || match file::open(&path) {
        Err(OpenError::Untrusted(why)) => why,
        other => panic!("{:?}", other.err()),
    };
    fs::set_permissions(&path, Permissions::from_mode(0o664)).unwrap();
    assert_eq!(refused(), "others than the owner may write it or its directory");
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o1777)).unwrap();
    assert_eq!(refused(), "others than the owner may write it or its directory");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
    assert!(file::open(&path).is_ok());
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    assert!(file::open(&link).is_err_and(|error| matches!(error, OpenError::Io(_))));
    drop(publisher);
}

#[test]
fn no_file_is_made_where_others_could_write_it() {
    let (folder, path) = place();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o770)).unwrap();
    let refused = Publisher::create(&path, 1, 1, "").err();
    assert!(matches!(refused, Some(CreateError::Shared)), "{refused:?}");
}

#[test]
fn a_file_with_holes_or_that_is_no_file_is_not_opened() {
    let (folder, path) = place();
    File::create(&path).unwrap().set_len(1 << 20).unwrap();
    let untrusted = |error| matches!(error, OpenError::Untrusted(_));
    assert!(file::open(&path).is_err_and(untrusted));
    File::create(&path).unwrap();
    assert!(file::open(&path).is_err_and(untrusted));
    assert!(file::open(folder.path()).is_err_and(untrusted));
}

#[test]
fn a_file_that_gets_shorter_ends_neither_readers_nor_its_writer() {
    let (_folder, path) = place();
    let publisher = published(&path);
    let mut history = SharedHistory::new(&path, LIMITS);
    assert_eq!((births(&mut history, 7), publisher.check().is_ok()), (Ok(0), true));
    OpenOptions::new().write(true).open(&path).unwrap().set_len(100).unwrap();
    assert_eq!(births(&mut history, 7), Err(StaleReason::Damaged));
    assert!(publisher.check().is_err_and(|error| error.kind() == ErrorKind::UnexpectedEof));
    drop(publisher);
    published(&path);
    let found = (0..100).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        births(&mut history, 7).ok()
    });
    assert_eq!(found, Some(0), "the next file is read");
}

#[test]
fn a_damaged_header_is_distinguished_from_another_version() {
    let (_folder, path) = place();
    let publisher = published(&path);
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    let mut why = |at: u64, byte: u8| {
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(&[byte]).unwrap();
        SharedHistory::new(&path, LIMITS).reader().err()
    };
    assert_eq!(why(8, VERSION as u8 + 1), Some(StaleReason::OtherVersion));
    assert_eq!(why(8, VERSION as u8), None);
    assert_eq!(why(16, 255), Some(StaleReason::Damaged));
    assert_eq!(why(0, 0), Some(StaleReason::Damaged));
    let error = file::open(&path).err();
    assert!(matches!(error, Some(OpenError::Header(HeaderError::Magic))), "{error:?}");
    drop(publisher);
}

#[test]
fn a_file_that_cannot_be_made_says_why() {
    let missing = PathBuf::from("/nonexistent/history");
    let error = Publisher::create(&missing, 1, 1, "").err().unwrap();
    assert!(matches!(error, CreateError::Io(_)), "{error}");
    let (_folder, path) = place();
    let error = Publisher::create(&path, usize::MAX, 1, "").err().unwrap();
    assert!(matches!(error, CreateError::Room { .. }), "{error}");
}

#[test]
fn an_old_history_is_stale() {
    let (_folder, path) = place();
    let _publisher = published(&path);
    let mut history = SharedHistory::new(&path, Limits { age: 0, ..LIMITS });
    assert_eq!(births(&mut history, 7), Err(StaleReason::Stale));
    assert_eq!(births(&mut SharedHistory::new(&path, LIMITS), 7), Ok(0));
}

#[test]
fn records_of_all_keys_are_read_at_once() {
    let (_folder, path) = place();
    let mut publisher = published(&path);
    publisher.writer().put(7, &born(2));
    publisher.commit(FOLLOWING);
    let reader = file::open(&path).unwrap();
    let mut keys: Keys = [None; KEYS];
    (keys[0], keys[1]) = (Some(7), Some(8));
    let records = reader.read(&keys, &LIMITS, 0).unwrap();
    assert_eq!((records[0], records[1], records[2]), (born(2), born(0), born(0)));
    let old = Limits { age: 0, ..LIMITS };
    assert_eq!(reader.read(&keys, &old, 0), Err(StaleReason::Stale));
}

#[test]
fn a_directory_is_found_by_whatever_it_is_called() {
    let (_folder, path) = place();
    let mut publisher = published(&path);
    let shape = Namer::default().shape(Some(b"Maildir")).unwrap();
    let directory = Directory { dir: hash(b"handle"), shape: Some(shape) };
    let aliases =
        [alias::of_handle(b"handle"), alias::of_inode(b"system", 5), alias::of_path(b"/mail")];
    aliases.iter().for_each(|alias| publisher.writer().directory(*alias, &directory, 1));
    let names = Namer::default();
    let mut names = { names }.names(&birthmark_learn::history::Create {
        name: Some(b"a"),
        dir_fh: Some(b"handle"),
        ..Default::default()
    });
    names.dir_shape = Some(shape);
    names.uid = Some(9);
    for key in names.keys().into_iter().flatten() {
        publisher.writer().put(key, &born(2));
    }
    publisher.commit(FOLLOWING);

    let mut history = SharedHistory::new(&path, LIMITS);
    let mut tell = |place, uid, client| {
        let asked = Asked { name: Some(b"a"), place, uid, client, ..Asked::default() };
        let mut seen = Seen::default();
        let answer = Lookup::default().tell(&mut history, &asked, &mut seen).unwrap();
        assert_eq!(seen.names.iter().filter(|byte| **byte > 1).count(), 0);
        (answer.scope, seen.files)
    };
    let (scope, by_handle) = tell(Place::Handle(b"handle"), Some(9), None);
    assert_eq!(scope, HistoryScope::Directory);
    let births: Vec<u8> = by_handle.chunks(16).map(|bytes| bytes[0]).collect();
    assert_eq!(births, [6, 6, 6, 6, 6, 6, 6, 6, 0, 0, 0]);
    let by_inode = tell(Place::Inode(b"system", 5), Some(9), None);
    assert_eq!(by_inode, (HistoryScope::Directory, by_handle));
    assert_eq!(tell(Place::Path(b"/mail/"), Some(9), None), (HistoryScope::Directory, by_handle));
    assert_eq!(tell(Place::Path(b"/other"), Some(9), Some("host")).0, HistoryScope::Caller);
    assert_eq!(tell(Place::Inode(b"system", 6), Some(9), None).0, HistoryScope::Caller);
    assert_eq!(tell(Place::Unknown, None, Some("host")).0, HistoryScope::Name);
    assert_eq!(tell(Place::Handle(b"new"), Some(9), None).0, HistoryScope::Directory);
}
