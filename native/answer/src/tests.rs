use super::file::find;
use super::{check_object, Fault, Kind, Reader, Value};
use base64::prelude::{Engine, BASE64_STANDARD as BASE64};
use birthmark_contract::create::{Asked, Kind as Of, MEMBERS};

fn read(member: &str, json: &str) -> Option<Value<'static>> {
    let (place, form) = find(member)?;
    Value::read(MEMBERS[place].kind, form, json.to_owned().leak()).ok()
}

#[test]
fn times_are_rfc_3339() {
    let time = |text: &str| match read("time", &format!("{text:?}")) {
        Some(Value::Time(time)) => Some(time),
        _ => None,
    };
    assert_eq!(time("1970-01-01T00:00:00Z"), Some(0));
    assert_eq!(time("2026-11-21T05:44:00+01:00"), Some(1_795_236_240_000_000));
    assert_eq!(time("2026-11-21 05:44:00.000z"), Some(1_795_239_840_000_000));
    assert_eq!(time("2000-02-29T23:59:59.25Z"), Some(951_868_799_250_000));
    assert_eq!(time("1969-12-31T23:59:59.999999Z"), Some(-1));
    assert_eq!(time("0001-01-01T00:00:00Z"), Some(-62_135_596_800_000_000));
    assert_eq!(time("9999-12-31T23:59:59.9999999Z"), Some(253_402_300_799_999_999));
    for text in [
        "",
        "2026-11-21",
        "2026-11-21T05:44:00",
        "2026-02-29T05:44:00Z",
        "2026-13-01T05:44:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T05:44:60Z",
        "2026-11-21T05:44:00.Z",
        "0000-12-31T23:59:59-01:00",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "+026-11-21T05:44:00Z",
    ] {
        assert_eq!(time(text), None, "{text}");
    }
}

/// RFC 4648, section 10.
#[test]
fn base64_is_rfc_4648() {
    let name = |text: &str| match read("name_base64", &format!("{text:?}")) {
        Some(Value::Name(name, _)) => Some(name.to_vec()),
        _ => None,
    };
    let texts = ["Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
    for (n, text) in texts.iter().enumerate() {
        assert_eq!(name(text).as_deref(), Some(&b"foobar"[..=n]));
    }
    for text in ["", "Zg", "Zg=", "Z===", "====", "Z=g=", "Zm9v\n", "Zm 9", "Zm9v=="] {
        assert_eq!(name(text), None, "{text}");
    }
}

#[test]
fn whole_numbers_are_read_in_every_notation() {
    let number = |member, json| match read(member, json) {
        Some(Value::Number(number)) => Some(number),
        _ => None,
    };
    for json in ["420", "420.0", "4.2e2", "42000E-2", "\"0644\"", "\"644\"", "\"00644\""] {
        assert_eq!(number("mode", json), Some(0o644), "{json}");
    }
    assert_eq!(number("uid", "-0"), Some(0));
    assert_eq!(number("uid", "4294967295.0"), Some(u32::MAX));
    for json in ["4096", "\"888\"", "\"\"", "\"000644\"", "\"17777\"", "\"+644\"", "-1", "1e999"] {
        assert_eq!(number("mode", json), None, "{json}");
    }
    for json in ["4294967296", "1e99", "0.5", "\"7\"", "true", "[7]", "-1", "-1.0"] {
        assert_eq!(number("uid", json), None, "{json}");
    }
}

#[test]
fn inodes_are_whole_numbers_of_64_bits_in_every_notation() {
    let inode = |json| match read("directory_inode", json) {
        Some(Value::Inode(number)) => Some(number),
        _ => None,
    };
    assert_eq!(inode("18446744073709551615"), Some(u64::MAX));
    for json in ["420", "420.0", "4.2e2"] {
        assert_eq!(inode(json), Some(420), "{json}");
    }
    for json in ["18446744073709551616", "1e20", "-1", "0.5", "\"7\"", "null"] {
        assert_eq!(inode(json), None, "{json}");
    }
}

/// Reads a value of each kind at its declared limit, and one beyond.
#[test]
fn values_are_limited_as_declared() {
    for member in MEMBERS {
        let (legal, beyond) = match member.kind {
            Of::Name { most } | Of::Text { most } => {
                (format!("{:?}", "a".repeat(most)), format!("{:?}", "a".repeat(most + 1)))
            }
            Of::Number { most, .. } => (format!("{most}"), format!("{}", u64::from(most) + 1)),
            Of::Flag => ("true".to_owned(), "1".to_owned()),
            Of::Path { most } => {
                (format!("{:?}", "/".repeat(most)), format!("{:?}", "/".repeat(most + 1)))
            }
            Of::Inode => (format!("{}", u64::MAX), format!("{}0", u64::MAX)),
            Of::Opaque { most } => {
                let written = |count| format!("{:?}", BASE64.encode(vec![7; count]));
                (written(most), written(most + 1))
            }
            Of::Time | Of::Bytes { .. } => continue,
        };
        assert!(read(member.name, &legal).is_some(), "{}", member.name);
        assert!(read(member.name, &beyond).is_none(), "{}", member.name);
    }
}

fn files(body: &str) -> Result<usize, Fault> {
    let mut count = 0;
    Reader::read(Asked::Files, body.as_bytes(), |_| count += 1)?;
    Ok(count)
}

#[test]
fn a_body_is_a_file_or_a_list_of_files() {
    assert_eq!(files(r#" {"name": "a", "mode": null} "#), Ok(1));
    assert_eq!(files(r#"[{"name": "a"}, {"name_base64": "YQ==", "uid": 7}]"#), Ok(2));
    assert_eq!(files(r#"{"n\u0061me": "\u0061", "name_percent": null}"#), Ok(1));
    assert_eq!(files("[]"), Ok(0));
}

fn hint(body: &str) -> Result<bool, Fault> {
    let mut directory = None;
    Reader::read(Asked::Hints, body.as_bytes(), |file| directory = Some(file.is_directory()))?;
    Ok(directory.expect("one create"))
}

#[test]
fn a_body_for_hints_is_one_create() {
    assert_eq!(hint(r#"{"name": "a", "is_directory": true}"#), Ok(true));
    assert_eq!(hint(r#"{"name": "a"}"#), Ok(false));
    for body in [r#"[{"name": "a"}]"#, r#"{"name": "a", "is_directory": null}"#] {
        assert!(hint(body).is_err(), "{body}");
    }
    assert_eq!(
        hint(r#"{"name": "a", "history": null}"#).unwrap_err().expected,
        "expected no such member"
    );
}

/// The kind, place, member, what was expected, and what was found.
fn parts(fault: Fault) -> (Kind, String, String, Option<String>) {
    let place = fault.place.map_or(String::new(), |place| format!("[{place}]."));
    let place = place + &fault.member.unwrap_or_default();
    (fault.kind, place, fault.expected, fault.found)
}

#[test]
fn the_first_fault_is_reported_with_its_place() {
    for (body, place, expected, found) in [
        ("7", "", "an object", Some("7")),
        ("{}", "name", "exactly one of name, name_base64, name_percent", None),
        (r#"[{"name": "a"}, 7]"#, "[1].", "an object", Some("7")),
        (r#"[["a"]]"#, "[0].", "an object", Some(r#"["a"]"#)),
        (r#"{"name": "a", "size": [1]}"#, "size", "no such member", Some("[1]")),
        (r#"{"name": "a", "group": 1}"#, "group", "no such member", Some("1")),
        (r#"{"name": "a", "is_directory": true}"#, "is_directory", "no such member", Some("true")),
        (r#"{"name": "a", "uid_base64": 1}"#, "uid_base64", "no such member", Some("1")),
        (r#"{"name": "a", "uid": 1, "uid": null}"#, "uid", "each member once", Some("null")),
        (r#"{"name": "a", "uid": -1}"#, "uid", "a whole number from 0 to 4294967295", Some("-1")),
        (
            r#"{"name": "a/b"}"#,
            "name",
            "a name in its directory, without / and NUL",
            Some("\"a/b\""),
        ),
        (
            r#"[{"name": "a", "directory": "d", "directory_percent": "d"}]"#,
            "[0].directory",
            "at most one of directory, directory_base64, directory_percent",
            None,
        ),
        (r#"{"name": "a", "client": ""}"#, "client", "1 to 255 characters, found 0", Some("\"\"")),
    ] {
        let expected =
            (Kind::Request, place.into(), format!("expected {expected}"), found.map(str::to_owned));
        assert_eq!(parts(files(body).unwrap_err()), expected, "{body}");
    }
}

#[test]
fn invalid_json_is_reported_first() {
    for body in [
        "",
        "{",
        "[{}",
        r#"{"name": "a"} {"name": "a"}"#,
        r#"{"name": "\ud800"}"#,
        r#"{"name": NaN}"#,
        r#"[{"size": 1}, {]"#,
        "{\"name\" \"a\"}",
    ] {
        let fault = files(body).unwrap_err();
        assert_eq!(fault.kind, Kind::Json, "{body}");
        assert!(fault.expected.contains("line 1 column"), "{body}: {}", fault.expected);
    }
}

#[test]
fn faults_quote_only_the_beginning_of_a_body() {
    let long = "é".repeat(20_000);
    let fault = files(&format!(r#"{{"name": "{long}"}}"#)).unwrap_err();
    assert_eq!(fault.expected, "expected a shorter value");
    assert_eq!(fault.found.unwrap().chars().count(), 201);
    let fault = files(&format!(r#"{{"{long}": 1}}"#)).unwrap_err();
    assert_eq!(fault.member.unwrap().chars().count(), 201);
    let many = vec![r#"{"name": "a"}"#; 10_001].join(",");
    assert_eq!(files(&format!("[{many}]")).unwrap_err().expected, "expected at most 10000 files");
}

#[test]
fn an_object_has_known_members_once() {
    let check = |body: &str| {
        let known = ["a", "b"].map(str::to_owned);
        check_object(body.as_bytes(), &known).map_err(parts)
    };
    assert_eq!(check(r#" {"a": 1, "b": [2]} "#), Ok(()));
    for (body, place, expected, found) in [
        ("[{}]", "", "an object", "[{}]"),
        (r#"{"a": 1, "c": [2], "d": 3}"#, "c", "no such member", "[2]"),
        (r#"{"a": 1, "\u0061": []}"#, "a", "each member once", "[]"),
    ] {
        let expected =
            (Kind::Request, place.into(), format!("expected {expected}"), Some(found.into()));
        assert_eq!(check(body), Err(expected), "{body}");
    }
    for body in ["", "{} {}", r#"{"a": NaN}"#, "{\"a\" 1}"] {
        assert_eq!(check(body).unwrap_err().0, Kind::Json, "{body}");
    }
}
