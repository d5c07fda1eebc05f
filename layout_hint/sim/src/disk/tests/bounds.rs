//! What is refused, and what no request can do.

use super::*;

#[test]
fn the_same_requests_take_the_same_time() {
    let run = || {
        let parameters = Parameters { segments: 4, overhead_ms: 0.3, ..cheetah() };
        let mut drive = Drive::new(&parameters, 63 * SECTOR).unwrap();
        let mut numbers = Numbers(13);
        let mut now = 0.0;
        for number in 0..20_000 {
            let request = if numbers.below(3) == 0 { read } else { write };
            let ticket = drive.submit(request(numbers.below(1 << 24), 16), now);
            now += numbers.below(5000) as f64 / 1e6;
            if number % 50 == 0 {
                now = drive.wait(ticket);
            }
        }
        (drive.finish().to_bits(), drive.statistics())
    };
    assert_eq!(run(), run());
}

#[test]
fn parameters_are_read_from_json_and_refused_where_no_drive_is_so() {
    let text = r#"{"name": "x", "rpm": 6000, "heads": 2, "cylinders": 10, "seek":
        {"points": [[1, 1.0], [9, 4.0]]}, "head_switch_ms": 1, "write_settle_ms": 0,
        "overhead_ms": 0, "interface_mb_per_s": 100, "segments": 0, "segment_kib": 64,
        "zones": [{"first_cylinder": 0, "sectors": 10, "head_skew": 1, "cylinder_skew": 2}]}"#;
    let good: Parameters = serde_json::from_str(text).unwrap();
    assert_eq!(good.check(), Ok(()));
    assert!(!good.write_cache && !good.assumption);
    assert!(serde_json::from_str::<Parameters>(&text.replace("rpm", "rmp")).is_err());
    let curve = text.replace(
        r#""points": [[1, 1.0], [9, 4.0]]"#,
        r#""curve": {"base": 1,
        "root": 2, "linear": 3}"#,
    );
    assert_eq!(serde_json::from_str::<Parameters>(&curve).unwrap().check(), Ok(()));
    for (from, to, key) in [
        (r#""rpm": 6000"#, r#""rpm": 0"#, "rpm"),
        (r#""heads": 2"#, r#""heads": 0"#, "heads"),
        (r#""cylinders": 10"#, r#""cylinders": 1"#, "cylinders"),
        (r#""first_cylinder": 0"#, r#""first_cylinder": 1"#, "zones.first_cylinder"),
        (r#""sectors": 10"#, r#""sectors": 0"#, "zones.sectors"),
        (r#""cylinder_skew": 2"#, r#""cylinder_skew": 10"#, "zones.*_skew"),
        ("[9, 4.0]", "[10, 4.0]", "seek.points"),
        ("[[1, 1.0], [9, 4.0]]", "[]", "seek.points"),
        (r#""overhead_ms": 0"#, r#""overhead_ms": -1"#, "overhead_ms"),
    ] {
        let wrong: Parameters = serde_json::from_str(&text.replace(from, to)).unwrap();
        assert_eq!(wrong.check().unwrap_err().key, key);
        assert!(Drive::new(&wrong, 0).is_err());
    }
}

#[test]
fn no_request_and_no_time_can_do_harm() {
    let parameters = Parameters { segments: 3, segment_kib: 1, write_cache: true, ..simple() };
    for write_cache in [false, true] {
        let parameters = Parameters { write_cache, ..parameters.clone() };
        let mut drive = Drive::new(&parameters, u64::MAX).unwrap();
        drive.set_nvram(1000..u64::MAX);
        let mut numbers = Numbers(17);
        let starts = [0, 1, 511, 999, 1 << 40, u64::MAX / 2, u64::MAX - 1, u64::MAX];
        let bytes = [0, 1, 512, 700, 1 << 20];
        let times = [0.0, 1.0, -5.0, f64::NAN, f64::INFINITY, 30.0, 1e9];
        for _ in 0..3000 {
            let start = starts[numbers.below(8) as usize];
            let bytes = bytes[numbers.below(5) as usize];
            let request = Request { start, bytes, write: numbers.below(2) == 0 };
            let ticket = drive.submit(request, times[numbers.below(7) as usize]);
            if numbers.below(3) == 0 {
                assert!(drive.wait(ticket).is_finite());
            }
        }
        assert!(drive.finish().is_finite());
        assert_eq!(drive.waiting(), 0);
    }
}
