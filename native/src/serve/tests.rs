use super::instant;
use super::{base64, repeated, Files};

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

#[test]
fn a_member_that_is_there_twice_is_found() {
    assert_eq!(repeated(br#"{"a": 1, "b": 2}"#), None);
    assert_eq!(repeated(br#"{"a": 1, "b": 2, "\u0061": []}"#), Some((None, "a".to_owned())));
    let list = br#"[{"a": 1}, {"a": 1, "a": 1}]"#;
    assert_eq!(repeated(list), Some((Some(1), "a".to_owned())));
    assert_eq!(repeated(b"["), None);
}
