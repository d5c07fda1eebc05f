use super::*;
use birthmark_contract::image as format;

/// An image of one predicate, `a`, which is a no with a probability of 0.25 if there is a level.
fn image(has_level: bool) -> Vec<u8> {
    let rows = 48 + format::PREDICATE_ENTRY;
    let size = rows + 8;
    let header = [1, 48, 0, 1, 1, 0, rows];
    let mut content: Vec<u8> = header.iter().flat_map(|n: &u32| n.to_le_bytes()).collect();
    content.extend((rows + 4).to_le_bytes());
    content.extend([1, 0, 0, 0]);
    let bounded_without_history = format::SCOPE_NOTHING * format::POINTS + format::BOUNDED;
    for place in 0..format::SCOPES * format::POINTS {
        let levels = u32::from(has_level && place == bounded_without_history);
        content.extend([rows, levels].iter().flat_map(|n| n.to_le_bytes()));
        content.extend([u16::MAX, u16::MAX, 1, 0].iter().flat_map(|n| n.to_le_bytes()));
    }
    content.extend([0, 2500_u16].iter().flat_map(|n| n.to_le_bytes()));
    content.extend(b"a\0\0\0");
    let head = [&b"BMIMAGE\n"[..], &format::VERSION.to_le_bytes(), &size.to_le_bytes()].concat();
    let mut crc = flate2::Crc::new();
    crc.update(&head);
    crc.update(&content);
    [&head[..], &crc.sum().to_le_bytes(), &content].concat()
}

fn refused(bytes: &[u8]) -> String {
    Model::read(bytes).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn an_answer_has_its_probability() {
    let model = Model::read(&image(true)).unwrap();
    assert!(model.has_probabilities());
    assert_eq!((model.place("a"), model.place("b")), (Some(0), None));
    let answers = model.answer(&Create::default());
    assert_eq!(answers, [ThreeWayAnswer { word: Word::No, probability: Some(0.25) }]);
    assert_eq!(model.lookup(&Create::default()), Answers::default());
}

#[test]
fn an_image_without_levels_answers_without_probabilities() {
    let model = Model::read(&image(false)).unwrap();
    assert!(!model.has_probabilities());
    assert_eq!(
        model.answer(&Create::default()),
        [ThreeWayAnswer { word: Word::No, probability: None }]
    );
}

#[test]
fn faults_are_distinguished() {
    assert!(refused(b"BMMODEL\n").starts_with("a model file of an earlier release"));
    assert_eq!(refused(b"text"), "truncated: bytes of the image are missing");
    let mut damaged = image(true);
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(refused(&damaged), "damaged: the checksum does not match");
}

#[test]
fn errors_name_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("published.model");
    let of = |found: Result<Model, ModelError>| found.map(|_| ()).unwrap_err().to_string();
    assert!(of(Model::open(&path)).contains("published.model: No such file"));
    std::fs::write(&path, "text").unwrap();
    assert!(of(Model::open(&path)).contains("published.model: truncated"));
    std::fs::write(&path, image(true)).unwrap();
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
