//! Any content of a shared history, as it is and behind a header that is made right: no panic, no
//! endless loop, and no answer but from words that are there. And any bytes as a file handle.
#![no_main]

use birthmark_live::header::Layout;
use birthmark_live::words::{Words, WordsMut};
use birthmark_live::{handles, Asked, Limits, Lookup, Place, Reader, Seen, StaleReason};
use libfuzzer_sys::fuzz_target;
use std::sync::atomic::AtomicU64;

type Memory = Vec<AtomicU64>;

/// The word of a header that tells which start of the machine it is of.
const BOOT: usize = 6;
/// What a header has before the sequence number.
const SIZES: usize = 8;

fuzz_target!(|bytes: &[u8]| {
    if let Some(inode) = handles::inode(bytes) {
        assert!(!inode.system.is_empty() || bytes[0] == 0x43);
    }
    let words: Vec<u64> =
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    let as_they_are: Memory = words.iter().map(|word| AtomicU64::new(*word)).collect();
    look(as_they_are, &words);
    look(made_right(&words), &words);
});

fn made_right(words: &[u64]) -> Memory {
    let layout = Layout::with_room(1, 1).expect("one key has room");
    let memory: Memory = (0..layout.words()).map(|_| AtomicU64::new(0)).collect();
    layout.write(&memory, 0, 0, "");
    for (at, word) in words.iter().enumerate().skip(SIZES) {
        memory.store(at, *word);
    }
    memory
}

/// Looks at what the words themselves name as keys, and at a create.
fn look(memory: Memory, words: &[u64]) {
    let boot = memory.load(BOOT);
    let Ok(reader) = Reader::new(memory, boot) else { return };
    let found = reader.look(|view| {
        let keys = words.iter().rev().take(64);
        keys.map(|key| (view.record(*key), view.directory(*key)))
            .filter(|found| found.1.is_some())
            .count()
    });
    assert!(matches!(found, Ok(_) | Err(StaleReason::Busy | StaleReason::Damaged)));
    let mut seen = Seen::default();
    let name = words.first().map(|word| word.to_le_bytes()).unwrap_or_default();
    let asked =
        Asked { name: Some(&name), place: Place::Path(b"/"), uid: Some(0), ..Asked::default() };
    let question = Lookup::default().question(&asked);
    let _ = reader.look(|view| question.answer(view, &mut seen));
    let limits = Limits { age: 1, lag: 1, loss: 1 };
    let _ = reader.read(&[words.first().copied(); 11], &limits, 0);
    let _ = (reader.facts(), reader.updates(), reader.is_superseded(), reader.follower());
}
