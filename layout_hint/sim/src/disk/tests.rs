//! A disk's additions to its drive: a partition, memory, a queue and clocks. The drive's own tests
//! cover its times.

use super::*;

/// A drive for computations by hand: 10 ms and 100 sectors in a revolution, so 0.1 ms a sector; 2
/// heads; a seek takes 2 ms; 0.3 ms for the controller, 0.01 ms a sector for the bus.
fn simple() -> Parameters {
    let overheads = ["read", "write"].map(|kind| {
        let of = |found, last| format!(r#""{kind}_{found}_after_{last}": 0.3"#);
        [of("hit", "read"), of("hit", "write"), of("miss", "read"), of("miss", "write")].join(", ")
    });
    let text = format!(
        r#"{{"name": "by hand", "sectors": 20200, "rpm": 6000, "heads": 2, "cylinders": 101,
        "mapping": "ascending", "sparing": {{"at_end_of": "disk", "range_cylinders": 1}},
        "head_switch_ms": 1, "write_settle_ms": 0.5, "bus_ms_per_sector": 0.01,
        "overheads_ms": {{{}}}, "seek": [[1, 2]],
        "buffer": {{"segments": 1, "segment_sectors": 1, "write_segments": 1,
            "separate_write_segment": false, "read_ahead": "none", "read_ahead_sectors": 0,
            "read_passing_sectors": false, "zero_latency_reads": false,
            "zero_latency_writes": false, "read_hits_on_writes": false, "combine_writes": false,
            "fast_writes": false}},
        "zones": [{{"first_cylinder": 0, "last_cylinder": 100, "sectors": 100, "offset": 0,
            "empty": 0, "track_skew": 10, "cylinder_skew": 20, "spares": 0, "slips": [],
            "defects": []}}]}}"#,
        overheads.join(", ")
    );
    serde_json::from_str(&text).unwrap()
}

fn read(sector: u64, sectors: u32) -> Request {
    Request { start: sector * SECTOR, bytes: sectors * SECTOR as u32, write: false }
}

fn write(sector: u64, sectors: u32) -> Request {
    Request { write: true, ..read(sector, sectors) }
}

/// Milliseconds until a request is done, submitted to an idle disk at so many milliseconds.
fn takes(disk: &mut Disk, request: Request, at: f64) -> f64 {
    let ticket = disk.submit(request, at / 1e3);
    disk.wait(ticket) * 1e3 - at
}

fn assert_near(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-6, "{left} is not near {right}");
}

/// Numbers that look random (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

#[test]
fn bytes_are_widened_to_sectors() {
    let mut disk = Disk::new(&simple(), 0).unwrap();
    // At 0.3 ms, 3 sectors have passed: 47 more to sector 50, then 2, and the last on the bus.
    let request = Request { start: 50 * SECTOR + 511, bytes: 2, write: false };
    assert_near(takes(&mut disk, request, 0.0), 5.0 + 0.2 + 0.01);
}

#[test]
fn ranges_of_memory_take_no_time_and_leave_the_rest_to_the_drive() {
    let mut disk = Disk::new(&simple(), 0).unwrap();
    disk.set_nvram(vec![0..5 * SECTOR, 40 * SECTOR..60 * SECTOR]);
    assert_near(takes(&mut disk, write(0, 5), 0.0), 0.0);
    assert_near(takes(&mut disk, write(40, 20), 1.0), 0.0);
    assert_near(takes(&mut disk, read(50, 20), 10.0), 6.0 + 1.0 + 0.01); // 60 to 69
    assert_near(takes(&mut disk, read(30, 20), 20.0), 3.0 + 1.0 + 0.01); // 30 to 39
    assert_near(takes(&mut disk, read(30, 40), 30.0), 3.0 + 4.0 + 0.01);
    assert_eq!(disk.statistics().nvram, 2);
}

#[test]
fn a_partition_begins_where_it_is_said_to() {
    let mut disk = Disk::new(&simple(), 30 * SECTOR).unwrap();
    assert_near(takes(&mut disk, read(20, 1), 0.0), 5.0 + 0.1 + 0.01);
    assert_eq!(disk.bytes(), (101 * 2 * 100 - 30) * SECTOR);
    takes(&mut disk, read(101 * 200 - 30, 1), 100.0);
    takes(&mut disk, Request { start: u64::MAX - 5, bytes: 100, write: true }, 200.0);
    assert_eq!(disk.statistics().outside, 2);
}

#[test]
fn it_counts_moves_hits_and_busy_time() {
    let mut parameters = simple();
    (parameters.buffer.segments, parameters.buffer.segment_sectors) = (2, 8);
    let mut disk = Disk::new(&parameters, 0).unwrap();
    let all = [read(50, 4), read(50, 4), write(250, 1), read(52, 1)];
    let elapsed: f64 = (0..).zip(all).map(|(k, r)| takes(&mut disk, r, 100.0 * f64::from(k))).sum();
    let found = disk.statistics();
    assert_eq!((found.moves, found.hits), (1, 2));
    assert_near(found.busy * 1e3, elapsed);
}

#[test]
fn requests_that_wait_are_served_in_the_elevators_order_whoever_waits() {
    let mut disk = Disk::new(&simple(), 0).unwrap();
    let first = disk.submit(write(5000, 1), 0.0);
    let far = disk.submit(read(9000, 1), 0.001);
    let low = disk.submit(write(10, 1), 0.001);
    let near = disk.submit(write(6000, 1), 0.001);
    assert!(![first, far, low, near].into_iter().any(|ticket| disk.is_done(ticket)));
    let low = disk.wait(low);
    assert!(disk.is_done(first) && disk.is_done(near) && disk.is_done(far));
    assert_eq!(disk.wait(near), low); // done before: one who waits goes on at once
    let next = disk.submit(write(10, 1), low);
    assert!(!disk.is_done(next));
    disk.run_until(low + 1.0);
    assert!(disk.is_done(next));
}

#[test]
fn the_same_requests_take_the_same_time() {
    let run = || {
        let mut disk = Disk::new(&simple(), 63 * SECTOR).unwrap();
        let mut numbers = Numbers(13);
        let mut now = 0.0;
        for number in 0..20_000 {
            let request = if numbers.below(3) == 0 { read } else { write };
            let ticket = disk.submit(request(numbers.below(1 << 14), 16), now);
            now += numbers.below(5000) as f64 / 1e6;
            if number % 50 == 0 {
                now = disk.wait(ticket);
            }
        }
        (now.to_bits(), disk.statistics())
    };
    assert_eq!(run(), run());
}

#[test]
fn no_request_and_no_time_can_do_harm() {
    for fast_writes in [false, true] {
        let mut parameters = simple();
        parameters.buffer.fast_writes = fast_writes;
        let mut disk = Disk::new(&parameters, u64::MAX).unwrap();
        disk.set_nvram(vec![0..100, 1000..u64::MAX]);
        let mut numbers = Numbers(17);
        let starts = [0, 1, 511, 999, 1 << 40, u64::MAX / 2, u64::MAX - 1, u64::MAX];
        let bytes = [0, 1, 512, 700, 1 << 20, u32::MAX];
        let times = [0.0, 1.0, -5.0, f64::NAN, f64::INFINITY, 30.0, 1e9];
        for _ in 0..3000 {
            let start = starts[numbers.below(8) as usize];
            let bytes = bytes[numbers.below(6) as usize];
            let request = Request { start, bytes, write: numbers.below(2) == 0 };
            let ticket = disk.submit(request, times[numbers.below(7) as usize]);
            if numbers.below(3) == 0 {
                assert!(disk.wait(ticket).is_finite());
                assert!(disk.is_done(ticket));
            }
        }
        assert!(disk.statistics().busy > 0.0);
    }
}
