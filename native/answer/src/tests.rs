use super::instant;
use super::{base64, objects, Files, Kind};

#[test]
fn times_are_those_of_rfc_3339() {
    assert_eq!(instant::read("1970-01-01T00:00:00Z"), Some(0));
    assert_eq!(instant::read("2026-11-21T05:44:00+01:00"), Some(1_795_236_240_000_000));
    assert_eq!(instant::read("2000-02-29T23:59:59.25Z"), Some(951_868_799_250_000));
    assert_eq!(instant::read("1969-12-31T23:59:59.999999Z"), Some(-1));
    for text in [
        "",
        "2026-11-21",
        "2026-11-21T05:44:00",
        "2026-11-21 05:44:00Z",
        "2026-02-29T05:44:00Z",
        "2026-13-01T05:44:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T05:44:60Z",
        "2026-11-21T05:44:00.Z",
        "2026-11-21T05:44:00.1234567Z",
        "2026-11-21T05:44:00+0100",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "+026-11-21T05:44:00Z",
    ] {
        assert_eq!(instant::read(text), None, "{text}");
    }
}

/// RFC 4648, section 10.
#[test]
fn base64_is_that_of_the_rfc() {
    let texts = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
    for (n, text) in texts.iter().enumerate() {
        assert_eq!(base64::decode(text.as_bytes()).as_deref(), Some(&b"foobar"[..n]));
    }
    for text in ["Zg", "Zg=", "Z===", "====", "Z=g=", "Zm9v\n", "Zm 9"] {
        assert_eq!(base64::decode(text.as_bytes()), None, "{text}");
    }
}

fn files(body: &str) -> Option<usize> {
    let mut count = 0;
    Files::read(body.as_bytes(), |_| {
        count += 1;
        Some(())
    })?;
    Some(count)
}

#[test]
fn a_body_is_a_file_or_a_list_of_files() {
    assert_eq!(files(r#" {"name": "a", "mode": null} "#), Some(1));
    assert_eq!(files(r#"[{"name": "a"}, {"name_base64": "YQ==", "uid": 7}]"#), Some(2));
    assert_eq!(files("[]"), Some(0));
    for body in [
        "",
        "{}",
        "7",
        r#"["a"]"#,
        r#"[["a"]]"#,
        r#"{"name": "a"} {"name": "a"}"#,
        r#"{"name": "a", "name_percent": "a"}"#,
        r#"{"name": "a", "size": 1}"#,
        r#"{"name": "a", "uid": 1, "uid": null}"#,
        r#"{"name": "a", "uid": 4294967296}"#,
        r#"{"name": "a", "mode": "+644"}"#,
    ] {
        assert_eq!(files(body), None, "{body}");
    }
}

fn fault(body: &str) -> Option<(Kind, Option<usize>, Option<String>, String)> {
    let known = ["a", "b"].map(str::to_owned);
    let fault = objects(body.as_bytes(), &known, Some(2)).err()?;
    Some((fault.kind, fault.place, fault.member, fault.found))
}

#[test]
fn objects_are_found_where_they_are() {
    let known = ["a".to_owned()];
    let one = objects(br#" {"a": 1} "#, &known, None).unwrap();
    assert_eq!((one.len(), &one[0]), (1, &(1..9)));
    assert_eq!(objects(br#"[{"a": [7]}, {}]"#, &known, Some(2)), Ok(vec![1..11, 13..15]));
    assert_eq!(objects(b"[]", &known, Some(2)), Ok(vec![]));
    assert_eq!(objects(b"[{}]", &known, None).unwrap_err().kind, Kind::NoObject);
}

#[test]
fn the_first_fault_is_told_and_cut() {
    let at = |member: &str, found: &str| (Some(member.to_owned()), found.to_owned());
    let told = |kind, place, (member, found)| Some((kind, place, member, found));
    assert_eq!(fault(r#"{"a": 1, "b": 2}"#), None);
    assert_eq!(fault(r#"{"a": 1, "c": [2], "d": 3}"#), told(Kind::Unknown, None, at("c", "[2]")));
    let twice = r#"[{"a": 1}, {"a": 1, "\u0061": []}]"#;
    assert_eq!(fault(twice), told(Kind::Repeated, Some(1), at("a", "[]")));
    assert_eq!(fault("[{}, 7]"), told(Kind::NoObject, Some(1), (None, "7".into())));
    assert_eq!(fault("[{}, {}, {}]"), told(Kind::TooMany, None, (None, String::new())));
    let (kind, _, _, found) = fault(&format!(r#"{{"a": "{}"}}"#, "é".repeat(20_000))).unwrap();
    assert_eq!((kind, found.chars().count()), (Kind::TooLong, 201));
    let (kind, _, member, _) = fault(&format!(r#"{{"{}": 1}}"#, "é".repeat(20_000))).unwrap();
    assert_eq!((kind, member.unwrap().chars().count()), (Kind::Unknown, 201));
    for body in ["", "[", "[{}", "{} {}", r#"{"a": NaN}"#, "{\"a\" 1}"] {
        assert_eq!(fault(body).map(|fault| fault.0), Some(Kind::Json), "{body}");
    }
}
