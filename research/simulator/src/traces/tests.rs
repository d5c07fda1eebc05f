//! A trace in each format.

use super::*;

fn all(trace: &str, format: Option<Format>) -> Result<Vec<Access>, TraceError> {
    read(io::Cursor::new(trace.to_owned()), format)?.collect()
}

/// Check that a trace's format is detected from its first line, and gives these requests.
fn gives(trace: &str, format: Format, expected: &[Access]) {
    assert_eq!(all(trace, None).unwrap(), expected);
    assert_eq!(all(trace, Some(format)).unwrap(), expected);
}

fn access(at: u64, took: Option<u64>, byte: u64, bytes: u64, write: bool) -> Access {
    Access { at, took, byte, bytes, write }
}

#[test]
fn plain_tables() {
    let rows = "0.5,a,R,4096,512\n1.25,b,w,0,1\n";
    let expected = [access(0, None, 4096, 512, false), access(750_000_000, None, 0, 1, true)];
    gives(rows, Format::Csv, &expected);
    gives(&format!("time,stream,rw,byte,length\n{rows}"), Format::Csv, &expected);
    let done = "time,stream,rw,byte,length,completion\r\n0.5,a,R,0,512,0.501\r\n";
    gives(done, Format::Csv, &[access(0, Some(1_000_000), 0, 512, false)]);
}

#[test]
fn what_blkparse_prints() {
    let trace = "  8,0    3        1     0.000000000   697  Q  WS 223490 + 8 [kjournald]\n  \
                   8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]\n  \
                   8,0    3        3     0.000003000   697  P   N [kjournald]\n  \
                   8,0    3        4     0.002000000   697  Q  RA 64 + 16 [cat]\n  \
                   8,0    3        5     0.002000001   697  Q FWS [cat]\n  \
                   8,0    3        6     0.002000002   697  Q   D 64 + 16 [fstrim]\n\
                 CPU3 (8,0):\n Reads Queued: 1, 8KiB\n";
    let expected = [
        access(0, None, 223_490 * 512, 4096, true),
        access(2_000_000, None, 64 * 512, 8192, false),
    ];
    gives(trace, Format::Blkparse, &expected);
}

#[test]
fn what_cambridge_published() {
    let trace = "128166372003061629,hm,1,Read,383496192,32768,41286\n\
                 128166372016382155,hm,1,Write,2822144,4096,1903\n";
    let expected = [
        access(0, Some(4_128_600), 383_496_192, 32_768, false),
        access(1_332_052_600, Some(190_300), 2_822_144, 4096, true),
    ];
    gives(trace, Format::Msr, &expected);
}

#[test]
fn what_disksim_reads() {
    let trace = "0.000000 0 5 8 1\n1.5 0 1000 2 0x0\n";
    let expected =
        [access(0, None, 2560, 4096, false), access(1_500_000, None, 512_000, 1024, true)];
    gives(trace, Format::Disksim, &expected);
    let trace = "R Hit 5 8 2000.5 1000\nW Miss 0 1 10 0\n";
    let expected = [
        access(0, Some(2_000_500), 2560, 4096, false),
        access(3_000_500, Some(10_000), 0, 512, true),
    ];
    gives(trace, Format::Validation, &expected);
}

#[test]
fn what_hp_recorded() {
    let numbers = [56, 1, 2, 3, 100, 900, 1024, 77, 0, 0, 0, 1, 0, 1_u32];
    let record: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
    let trace = [b"disks = { sectorsize = 256, }\n\x0c".to_vec(), record].concat();
    for format in [None, Some(Format::Srt)] {
        let found: Vec<Access> =
            read(io::Cursor::new(trace.clone()), format).unwrap().map(Result::unwrap).collect();
        assert_eq!(found, [access(0, Some(900_000), 77 * 256, 1024, false)]);
    }
}

#[test]
fn what_is_no_request_is_named_by_its_line() {
    let refused = [
        (Format::Csv, "1,a,R,0,512", "1,a,X,0,512"),
        (Format::Csv, "1,a,R,0,512", "1,a,R,0,0"),
        (Format::Csv, "1,a,R,0,512", "-1,a,R,0,512"),
        (Format::Csv, "1,a,R,0,512", "2,a,R,0,512,1"),
        (Format::Csv, "1,a,R,0,512", "time,stream,rw,byte,length"),
        (Format::Blkparse, "8,0 3 1 0.0 697 Q R 8 + 8 [a]", "8,0 3 1 0.0 697 Q R 8 [a]"),
        (Format::Blkparse, "8,0 3 1 0.0 697 Q R 8 + 8 [a]", "8,0 3 x 0.0 697 Q R 8 + 8"),
        (Format::Msr, "1,a,0,Read,0,512,9", "1,a,0,read,0,512,9"),
        (Format::Disksim, "1 0 0 8 1", "1 0 0 8"),
        (Format::Disksim, "1 0 0 8 1", "1 0 0 2097153 1"),
        (Format::Validation, "R Hit 1 2 3 4", "R Hit 1 2 3"),
    ];
    for (format, good, bad) in refused {
        let error = all(&format!("{good}\n{bad}\n{good}\n"), Some(format)).unwrap_err().to_string();
        assert!(error.starts_with("line 2: expected "), "{error}");
        assert!(error.ends_with(&format!("found {bad:?}")), "{error}");
    }
}

#[test]
fn nothing_is_read_behind_a_line_that_is_no_request() {
    let mut read = read(io::Cursor::new("1,a,R,0,1\nx\n1,a,R,0,1\n"), None).unwrap();
    assert!(read.next().unwrap().is_ok());
    assert!(read.next().unwrap().is_err());
    assert!(read.next().is_none());
}

#[test]
fn a_format_is_detected_however_few_bytes_come_at_a_time() {
    let trace = io::BufReader::with_capacity(3, io::Cursor::new("0.5,a,R,4096,512\n"));
    let found: Vec<Access> = read(trace, None).unwrap().map(Result::unwrap).collect();
    assert_eq!(found, [access(0, None, 4096, 512, false)]);
}

#[test]
fn a_trace_of_no_known_format_is_refused() {
    for trace in ["hello\n", "CPU0 (8,0):\n", "\x01\x0c\x02"] {
        assert!(matches!(all(trace, None), Err(TraceError::Unknown)));
    }
    for format in [None, Some(Format::Csv)] {
        assert!(matches!(all("", format), Err(TraceError::Empty)));
    }
}

#[test]
fn formats_have_the_names_that_users_give_them() {
    let named = |name: &str| serde_json::from_str::<Format>(&format!("{name:?}")).unwrap();
    let names = ["csv", "blkparse", "msr", "disksim", "validation", "srt"];
    let expected = [
        Format::Csv,
        Format::Blkparse,
        Format::Msr,
        Format::Disksim,
        Format::Validation,
        Format::Srt,
    ];
    assert_eq!(names.map(named), expected);
}
