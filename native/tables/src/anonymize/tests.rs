use super::mapping::{Mapping, Settings};
use super::text::{Counts, Rewriter};
use super::Error;
use birthmark_learn::components::split;
use birthmark_trace::input::Input;
use birthmark_trace::{text, trace::Trace};
use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::path::Path;

fn mapping(prefix: bool) -> Mapping {
    let settings = Settings { prefix, handles: true, ..Settings::default() };
    Mapping::new(settings, Some(7)).unwrap()
}

fn name(mapping: &mut Mapping, name: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    mapping.name(name, &mut out).unwrap();
    out
}

/// All names of up to `longest` of the bytes given.
fn names(bytes: &[u8], longest: usize) -> Vec<Vec<u8>> {
    let mut found = vec![Vec::new()];
    let mut last = found.clone();
    for _ in 0..longest {
        let longer = |name: &Vec<u8>| -> Vec<Vec<u8>> {
            bytes.iter().map(|byte| [name.as_slice(), &[*byte]].concat()).collect()
        };
        last = last.iter().flat_map(longer).collect();
        found.extend(last.iter().cloned());
    }
    found
}

/// Records that two values correspond; panics if either corresponds to another already.
fn correspond(
    there: &mut HashMap<Vec<u8>, Vec<u8>>,
    back: &mut HashMap<Vec<u8>, Vec<u8>>,
    one: Vec<u8>,
    other: Vec<u8>,
) {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let known = there.entry(one.clone()).or_insert_with(|| other.clone());
    assert_eq!(text(known), text(&other), "the images of {}", text(&one));
    let known = back.entry(other.clone()).or_insert_with(|| one.clone());
    assert_eq!(text(known), text(&one), "what {} is the image of", text(&other));
}

/// The components of names and those of their images correspond one to one.
fn same_components(names: &[Vec<u8>], mapping: &mut Mapping) {
    let (mut there, mut back) = (HashMap::new(), HashMap::new());
    for original in names {
        let image = name(mapping, original);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        split(original, true, &mut before);
        split(&image, true, &mut after);
        assert_eq!(before.len(), after.len(), "{}", original.escape_ascii());
        let periods = original.iter().filter(|byte| **byte == b'.').count();
        // those between the first and the last piece are in byte order: they cannot be paired
        let ordered = if periods > 1 { 3 } else { before.len() };
        for (one, other) in before.iter().zip(&after).take(ordered) {
            correspond(&mut there, &mut back, one.1.render(), other.1.render());
        }
        if let (Some(one), Some(other)) = (before.get(ordered..), after.get(ordered..)) {
            if one.last().is_some_and(|(_, component)| component.render().starts_with(b"^")) {
                let (one, other) =
                    (one[one.len() - 1].1.render(), other[other.len() - 1].1.render());
                correspond(&mut there, &mut back, one, other);
            }
        }
    }
}

#[test]
fn the_components_of_names_and_of_their_images_correspond() {
    same_components(&names(b"ab.~", 7), &mut mapping(true));
    same_components(&names(b"ab.#", 6), &mut mapping(true));
    same_components(&names(b"av,.", 7), &mut mapping(true));
    same_components(&names(b"a./\0\xff", 5), &mut mapping(true));
}

#[test]
fn they_do_so_beside_names_that_stay() {
    let mut mapping = mapping(true);
    for exempt in [&b"ba"[..], b".abab", b"abbbabb", b"~a"] {
        mapping.keep("name", exempt).unwrap();
        assert_eq!(name(&mut mapping, exempt), exempt);
    }
    same_components(&names(b"ab.~", 7), &mut mapping);
    assert!(matches!(mapping.keep("name", b"aabb"), Err(Error::Mapped(_))));
}

#[test]
fn no_two_names_have_one_image() {
    for prefix in [true, false] {
        let mut mapping = mapping(prefix);
        mapping.keep("name", b"ab").unwrap();
        let names = names(b"ab.#~,v/", 4);
        let images: HashSet<Vec<u8>> = names.iter().map(|each| name(&mut mapping, each)).collect();
        assert_eq!(images.len(), names.len());
    }
}

#[test]
fn more_first_bytes_than_there_are_letters_still_have_images_of_their_own() {
    let mut mapping = mapping(true);
    let names: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
    let images: HashSet<Vec<u8>> = names.iter().map(|each| name(&mut mapping, each)).collect();
    assert_eq!(images.len(), 256);
    same_components(&names, &mut mapping);
}

#[test]
fn handles_keep_their_length_and_short_ones_never_meet() {
    let mut mapping = mapping(true);
    let mut images = HashSet::new();
    for byte in 0..=u8::MAX {
        let mut out = Vec::new();
        mapping.handle(&[byte], &mut out).unwrap();
        assert_eq!(out.len(), 1);
        images.insert(out);
    }
    assert_eq!(images.len(), 256);
}

fn rewrite(text: &[u8], mapping: &mut Mapping) -> (Counts, Vec<u8>) {
    let mut input = Input::new(Box::new(Cursor::new(text.to_vec())));
    let (mut rewriter, mut out) = (Rewriter::default(), Vec::new());
    while rewriter.step(&mut input, mapping, &mut out).unwrap() {}
    rewriter.end(&mut input);
    (rewriter.counts, out)
}

/// Seeds of the fuzzer, which hold lines of every kind.
fn lines() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/text");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| std::fs::read(path).unwrap()).collect::<Vec<_>>().concat()
}

#[test]
fn output_is_readable_and_all_input_is_accounted_for() {
    let text = lines();
    let (counts, out) = rewrite(&text, &mut mapping(true));
    let damaged: u64 = counts.damaged.values().sum();
    assert_eq!(counts.lines, counts.written + counts.comments + damaged);
    let decode = |text: Vec<u8>| {
        let mut trace = Trace::decode(&text::FORMAT, Box::new(Cursor::new(text)));
        while trace.next_chunk().unwrap().is_some() {}
        trace.counts()
    };
    let (before, after) = (decode(text), decode(out));
    assert_eq!(before.damaged.values().sum::<u64>(), damaged);
    assert_eq!(after.damaged.values().sum::<u64>(), 0);
    assert_eq!(before.joined.procedures, after.joined.procedures);
    assert!(counts.written > 10);
}

#[test]
fn a_name_is_passed_on_from_no_place_of_a_line() {
    let mut text = Vec::new();
    for line in lines().split(|byte| *byte == b'\n') {
        let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        for place in 0..words.len() {
            for secret in [&b"SECRET"[..], b"\"SECRET\"", b"status=SECRET", b"LONGPKTSECRET"] {
                let mut changed = words.clone();
                changed[place] = secret;
                text.extend(changed.join(&b' '));
                text.push(b'\n');
            }
        }
    }
    let (counts, out) = rewrite(&text, &mut mapping(true));
    assert!(counts.written > 10); // as a name it may stand in some
    let found = out
        .split(|byte| *byte == b'\n')
        .find(|line| line.windows(6).any(|bytes| bytes == b"SECRET"));
    assert_eq!(found.map(|line| line.escape_ascii().to_string()), None);
}

#[test]
fn a_mapping_is_read_as_it_was_written() {
    let mut first = mapping(true);
    first.keep("user", b"0").unwrap();
    let (_, out) = rewrite(&lines(), &mut first);
    name(&mut first, b"\"\\ \n\xff\xfe#");
    let file = tempfile::NamedTempFile::new().unwrap();
    first.write(file.path(), "{}").unwrap();
    let mut second = Mapping::read(file.path(), first.settings.clone()).unwrap();
    assert_eq!(second.sizes(), first.sizes());
    assert_eq!(rewrite(&lines(), &mut second).1, out);
    assert_eq!(second.sizes(), first.sizes());
}

#[test]
fn a_mapping_changed_in_any_byte_is_refused() {
    let mut mapping = mapping(true);
    for each in [&b"a"[..], b"prediction.tex", b"\xff"] {
        name(&mut mapping, each);
    }
    mapping.user(1000).unwrap();
    mapping.handle(b"abc", &mut Vec::new()).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    mapping.write(file.path(), "{}").unwrap();
    let whole = std::fs::read(file.path()).unwrap();
    let read = |bytes: &[u8]| {
        std::fs::write(file.path(), bytes).unwrap();
        Mapping::read(file.path(), mapping.settings.clone())
    };
    assert!(read(&whole).is_ok());
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        assert!(matches!(read(&changed), Err(Error::Damaged { .. })), "byte {at}");
        assert!(matches!(read(&whole[..at]), Err(Error::Damaged { .. })), "cut at {at}");
    }
    let more = [whole, b"x".to_vec()].concat();
    assert!(matches!(read(&more), Err(Error::Damaged { .. })));
}
