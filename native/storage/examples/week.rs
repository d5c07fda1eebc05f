//! The week of 1992: served as it was, by a drive like its own, as its issuers waited and as if they
//! had not.
//!
//!     cargo run --release -p birthmark-storage --example week -- TRACE

use birthmark_storage::demerit::{demerit, mean};
use birthmark_storage::drive::{Drive, Parameters, Request};
use birthmark_storage::host;
use birthmark_storage::issue::{scaled, Dependent, Issue, Open, Traced};
use birthmark_storage::queue::Elevator;
use birthmark_storage::srt;
use std::fs::File;

fn main() {
    let path = std::env::args().nth(1).unwrap();
    let recorded = srt::read(File::open(path).unwrap()).unwrap();
    let requests: Vec<Request> = recorded.iter().map(|own| own.request).collect();
    let traced: Vec<Traced> = recorded.iter().map(|own| own.times).collect();
    let measured: Vec<u64> = traced.iter().map(|own| own.completion - own.arrival).collect();
    let service: Vec<u64> = recorded.iter().map(|own| own.times.completion - own.start).collect();
    println!("recorded: response {:?} service {:?}", mean(&measured), mean(&service));
    for slower in [1.0, 1.5, 2.0, 3.0] {
        let mut open = Open::new(traced.iter().map(|own| own.arrival).collect());
        let mut dependent = Dependent::new(&traced, |think| scaled(think, 1.0));
        let models: [(&str, &mut dyn Issue); 2] =
            [("open", &mut open), ("dependent", &mut dependent)];
        for (name, issue) in models {
            let mut drive = Drive::new(&hp335h(slower)).unwrap();
            let answers =
                host::run(issue, &requests, &mut Elevator::default(), &mut drive).unwrap();
            let responses: Vec<u64> = answers.iter().map(|own| own.service.response()).collect();
            let services: Vec<u64> =
                answers.iter().map(|own| own.service.response() - own.service.queue).collect();
            println!(
                "{name} {slower}: response {:?} service {:?} demerit {:?}",
                mean(&responses).map(|own| own / 1e6),
                mean(&services).map(|own| own / 1e6),
                demerit(&responses, &measured).map(|own| own / 1e6),
            );
        }
    }
}

/// The drive that the trace's header describes.
fn hp335h(slower: f64) -> Parameters {
    let seek: Vec<String> = (1..1449)
        .filter(|distance| *distance < 16 || distance % 16 == 0 || *distance == 1448)
        .map(|distance| {
            let far = f64::from(distance);
            let time = if far < 616.0 { 3.45 + 0.597 * far.sqrt() } else { 10.84 + 0.012 * far };
            format!("[{distance}, {}]", time * slower)
        })
        .collect();
    let overhead = 1.1 * slower;
    let text = format!(
        r#"{{"name": "hp335h", "sectors": 1309896, "rpm": {}, "heads": 8, "cylinders": 1449,
        "mapping": "ascending", "sparing": {{"at_end_of": "disk", "range_cylinders": 1}},
        "head_switch_ms": {}, "write_settle_ms": 0, "bus_ms_per_sector": {},
        "overheads_ms": {{"read_hit_after_read": {overhead}, "read_hit_after_write": {overhead},
            "read_miss_after_read": {overhead}, "read_miss_after_write": {overhead},
            "write_hit_after_read": {overhead}, "write_hit_after_write": {overhead},
            "write_miss_after_read": {overhead}, "write_miss_after_write": {overhead}}},
        "buffer": {{"segments": 1, "segment_sectors": 32, "write_segments": 1,
            "separate_write_segment": false, "read_ahead": "none", "read_ahead_sectors": 0,
            "read_passing_sectors": false, "zero_latency_reads": false,
            "zero_latency_writes": false, "read_hits_on_writes": false, "combine_writes": false,
            "fast_writes": false}},
        "seek": [{}],
        "zones": [{{"first_cylinder": 0, "last_cylinder": 1448, "sectors": 113, "offset": 0,
            "empty": 0, "track_skew": 12, "cylinder_skew": 12, "spares": 0, "slips": [],
            "defects": []}}]}}"#,
        4002.0 / slower,
        1.0 * slower,
        0.256 / 1.2 * slower,
        seek.join(", ")
    );
    serde_json::from_str(&text).unwrap()
}
