use super::*;

/// An image of one predicate, `a`, which is never a yes.
fn image() -> Vec<u8> {
    let head = [&b"BMIMAGE\n"[..], &3_u32.to_le_bytes(), &49_u32.to_le_bytes()].concat();
    let numbers = [1_u32, 40, 0, 0, 0, 48, 0x0001_0001];
    let mut content: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    content.push(b'a');
    let sum = crc(&[&head, &content]);
    [&head[..], &sum.to_le_bytes(), &content].concat()
}

fn crc(parts: &[&[u8]]) -> u32 {
    let mut crc = flate2::Crc::new();
    parts.iter().for_each(|part| crc.update(part));
    crc.sum()
}

fn described(key: &str, probabilities: &str) -> String {
    format!(
        r#"[{{"predicates":[{{"key":"{key}","answers":["no","yes"],
        "probabilities":{probabilities},"follows":false}}],"worlds":[]}}]"#
    )
}

/// A file of these parts.
fn file(parts: &[&[u8]]) -> Vec<u8> {
    let mut at = 24 + 8 * parts.len();
    let mut rest: Vec<u8> = [parts.len() as u32, 0].iter().flat_map(|n| n.to_le_bytes()).collect();
    for part in parts {
        rest.extend((at as u32).to_le_bytes());
        rest.extend((part.len() as u32).to_le_bytes());
        at += part.len();
    }
    parts.iter().for_each(|part| rest.extend(*part));
    sealed(rest)
}

fn sealed(rest: Vec<u8>) -> Vec<u8> {
    [&b"BMMODEL\n"[..], &1_u32.to_le_bytes(), &crc(&[&rest]).to_le_bytes(), &rest].concat()
}

fn whole() -> Vec<u8> {
    file(&[described("a", "[0.25,0.75]").as_bytes(), &image()])
}

fn refused(bytes: &[u8]) -> String {
    Model::read(bytes).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn an_answer_has_its_probability() {
    let model = Model::read(&whole()).unwrap();
    assert!(model.has_probabilities());
    assert_eq!((model.place("a"), model.place("b")), (Some(0), None));
    let answers = model.answer(&Create::default());
    assert_eq!(answers, [ThreeWayAnswer { word: Word::No, probability: Some(0.25) }]);
    assert_eq!(model.lookup(&Create::default()), Answers::default());
}

#[test]
fn an_image_alone_answers_without_probabilities() {
    let model = Model::read(&image()).unwrap();
    assert!(!model.has_probabilities());
    assert_eq!(
        model.answer(&Create::default()),
        [ThreeWayAnswer { word: Word::No, probability: None }]
    );
}

#[test]
fn every_flipped_bit_and_every_other_length_is_refused() {
    let whole = whole();
    for bit in 0..8 * whole.len() {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(Model::read(&bytes).is_err(), "bit {bit}");
    }
    for size in 0..whole.len() {
        assert!(Model::read(&whole[..size]).is_err(), "{size}");
    }
    assert!(Model::read(&[&whole[..], &[0]].concat()).is_err());
}

#[test]
fn faults_are_distinguished() {
    let text = described("a", "[0.25,0.75]");
    let mut newer = whole();
    newer[8] = 2;
    assert_eq!(refused(&newer), "a model file of version 2, expected 1");
    let mut damaged = whole();
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(refused(&damaged), "damaged: the checksum does not match");
    assert_eq!(refused(b"text"), "truncated: bytes of the image are missing");
    for parts in [&[][..], &[text.as_bytes()]] {
        assert!(refused(&file(parts)).starts_with("malformed"));
    }
    for numbers in
        [[2, 0, u32::MAX, u32::MAX, 40, 0], [u32::MAX, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0]]
    {
        let rest = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        assert!(refused(&sealed(rest)).starts_with("malformed"));
    }
    assert!(refused(&file(&[text.as_bytes(), b"text"])).starts_with("truncated"));
    for (wrong, expected) in [
        ("{".to_owned(), "probabilities: "),
        ("[]".to_owned(), "probabilities: expected those of the image's predicates"),
        (described("b", "[0.25,0.75]"), "probabilities: expected those of the image's predicates"),
        (described("a", "[0.25,1.75]"), "probabilities: expected levels"),
    ] {
        let found = refused(&file(&[wrong.as_bytes(), &image()]));
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn the_seeds_of_the_fuzzer_are_models_that_answer() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/model");
    let mut read = 0;
    for seed in std::fs::read_dir(folder).unwrap() {
        let model = Model::open(seed.unwrap().path()).unwrap();
        let answer =
            |name: &[u8]| model.answer(&Create { name: Some(name), ..Create::default() })[0];
        assert_eq!(answer(b"a.lock").word, Word::Yes);
        assert_ne!(answer(b"a.c").word, Word::Yes);
        read += 1;
    }
    assert!(read > 0);
}

#[test]
fn errors_name_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("published.model");
    let of = |found: Result<Model, ModelError>| found.map(|_| ()).unwrap_err().to_string();
    assert!(of(Model::open(&path)).contains("published.model: No such file"));
    std::fs::write(&path, "text").unwrap();
    assert!(of(Model::open(&path)).contains("published.model: truncated"));
    std::fs::write(&path, whole()).unwrap();
    assert!(Model::open(&path).is_ok());
    assert!(of(Model::open("/dev/zero")).ends_with("/dev/zero: expected a regular file"));
    assert!(of(Model::open(folder.path())).ends_with("expected a regular file"));
    let fifo = folder.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert!(of(Model::open(&fifo)).ends_with("fifo: expected a regular file"));
    let long = std::fs::File::create(folder.path().join("long")).unwrap();
    long.set_len(regular::LONGEST + 1).unwrap();
    assert!(of(Model::open(folder.path().join("long"))).contains("at most 1073741824 bytes"));
}
