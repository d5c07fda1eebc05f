use super::*;

/// The Seagate Cheetah 9LP with its published parameters, as in `layout_hint/disks/`.
fn cheetah() -> Parameters {
    let zones = [
        (0, 254, 97, 133),
        (848, 245, 97, 133),
        (1645, 238, 97, 117),
        (2394, 227, 97, 116),
        (3098, 217, 97, 108),
        (3759, 209, 97, 108),
        (4381, 201, 97, 108),
        (4966, 189, 88, 94),
        (5516, 181, 88, 93),
        (6032, 174, 88, 93),
        (6518, 167, 88, 80),
    ];
    let zone = |(first_cylinder, sectors, head_skew, cylinder_skew)| Zone {
        first_cylinder,
        sectors,
        head_skew,
        cylinder_skew,
    };
    Parameters {
        name: "Seagate Cheetah 9LP".into(),
        assumption: false,
        rpm: 10045.0,
        heads: 12,
        cylinders: 6962,
        zones: zones.map(zone).to_vec(),
        seek: Seek::Points(vec![
            (1, 0.831),
            (2, 1.003),
            (4, 1.092),
            (10, 1.448),
            (50, 1.804),
            (100, 2.145),
            (200, 2.517),
            (500, 3.230),
            (1000, 4.118),
            (2000, 5.282),
            (3000, 6.345),
            (4000, 7.419),
            (5000, 8.492),
            (6000, 9.698),
            (6961, 10.627),
        ]),
        head_switch_ms: 0.030,
        write_settle_ms: 0.461,
        overhead_ms: 0.0,
        interface_mb_per_s: 80.0,
        segments: 0,
        segment_kib: 64,
        write_cache: false,
    }
}

/// A drive of which everything can be computed by hand: 10 ms and 100 sectors in a revolution, so
/// 0.1 ms a sector; 2 heads; a cylinder's seek takes 2 ms.
fn simple() -> Parameters {
    Parameters {
        name: "by hand".into(),
        rpm: 6000.0,
        heads: 2,
        cylinders: 101,
        zones: vec![Zone { first_cylinder: 0, sectors: 100, head_skew: 10, cylinder_skew: 20 }],
        seek: Seek::Curve { base: 2.0, root: 0.0, linear: 0.0 },
        head_switch_ms: 1.0,
        write_settle_ms: 0.5,
        overhead_ms: 0.3,
        interface_mb_per_s: 51.2,
        ..cheetah()
    }
}

fn read(sector: u64, sectors: u32) -> Request {
    Request { start: sector * SECTOR, bytes: sectors * SECTOR as u32, write: false }
}

fn write(sector: u64, sectors: u32) -> Request {
    Request { write: true, ..read(sector, sectors) }
}

/// Milliseconds until a request is done, submitted to an idle drive at so many milliseconds.
fn takes(drive: &mut Drive, request: Request, at: f64) -> f64 {
    let ticket = drive.submit(request, at / 1e3);
    drive.wait(ticket) * 1e3 - at
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

macro_rules! assert_near {
    ($left:expr, $right:expr, $by:expr) => {
        let (left, right): (f64, f64) = ($left, $right);
        assert!((left - right).abs() <= $by, "{left} is not near {right}");
    };
}

#[test]
fn a_read_takes_overhead_rotation_and_transfer() {
    let mut drive = Drive::new(&simple(), 0).unwrap();
    // at 0.3 ms, 3 sectors have passed: 47 more to sector 50, then 4
    assert_near!(takes(&mut drive, read(50, 4), 0.0), 0.3 + 4.7 + 0.4, 1e-6);
    // at 20.3 ms, the beginning of sector 2 has just been missed, by 1.3 sectors
    assert_near!(takes(&mut drive, read(2, 1), 20.03), 0.3 + 9.87 + 0.1, 1e-6);
}

#[test]
fn another_head_and_another_cylinder_cost_their_moves_and_begin_later_by_their_skew() {
    let mut drive = Drive::new(&simple(), 0).unwrap();
    // sector 100 is the first of head 1 and lies at angle 10; the head is there at 1.3 ms, 13 sectors
    assert_near!(takes(&mut drive, read(100, 1), 0.0), 1.3 + 9.7 + 0.1, 1e-6);
    // cylinder 1 begins at 10 + 20; a seek takes 2 ms whatever the head, so it is there at 2.3
    assert_near!(takes(&mut drive, read(200, 1), 100.0), 2.3 + 0.7 + 0.1, 1e-6);
    // to write, the arm settles: back at 2.8 ms, cylinder 0 begins at 10 ms
    assert_near!(takes(&mut drive, write(0, 1), 200.0), 2.8 + 7.2 + 0.1, 1e-6);
    // on the track already, nothing moves and nothing settles
    assert_near!(takes(&mut drive, write(20, 1), 300.0), 2.0 + 0.1, 1e-6);
    assert_eq!(drive.statistics().moves, 2);
}

#[test]
fn a_request_over_the_end_of_a_track_goes_on_at_the_next_ones_skew() {
    let mut drive = Drive::new(&simple(), 0).unwrap();
    // sectors 90 to 99 end at 10 ms; head 1 is ready at 11, where its first sector begins
    assert_near!(takes(&mut drive, read(90, 20), 0.0), 11.0 + 1.0, 1e-6);
    // to write it settles until 11.5 and waits a revolution more
    let mut drive = Drive::new(&simple(), 0).unwrap();
    assert_near!(takes(&mut drive, write(90, 20), 0.0), 21.0 + 1.0, 1e-6);
}

#[test]
fn what_follows_a_read_comes_from_the_buffer_at_the_interfaces_speed() {
    let parameters = Parameters { segments: 2, segment_kib: 16, ..simple() };
    let mut drive = Drive::new(&parameters, 0).unwrap();
    assert_near!(takes(&mut drive, read(10, 8), 0.0), 1.0 + 0.8, 1e-6);
    // 24 more fit into the segment: read by 4.2 ms. 51.2 MB/s are 0.01 ms a sector
    assert_near!(takes(&mut drive, read(18, 8), 8.0), 0.3 + 0.08, 1e-6);
    // now there is room for sectors 42 to 49, which come again from 14.2 ms
    assert_near!(takes(&mut drive, read(38, 8), 9.0), 14.6 - 9.0, 1e-6);
    // what was read before is still there, in the same segment or in another
    assert_near!(takes(&mut drive, read(40, 8), 30.0), 0.3 + 0.08, 1e-6);
    takes(&mut drive, read(9000, 8), 40.0);
    assert_near!(takes(&mut drive, read(42, 4), 80.0), 0.3 + 0.04, 1e-6);
    assert_eq!(drive.statistics().hits, 4);
    // but not after it was written
    takes(&mut drive, write(44, 1), 90.0);
    takes(&mut drive, read(43, 1), 120.0);
    assert_eq!(drive.statistics().hits, 4);
}

#[test]
fn a_write_cache_answers_at_once_until_it_is_full() {
    let parameters = Parameters { segments: 1, segment_kib: 1, write_cache: true, ..simple() };
    let mut drive = Drive::new(&parameters, 0).unwrap();
    assert_near!(takes(&mut drive, write(50, 1), 0.0), 0.31, 1e-6); // on the medium at 5.1
    assert_near!(takes(&mut drive, write(70, 1), 1.0), 0.31, 1e-6); // at 7.1
    assert_near!(takes(&mut drive, write(90, 1), 2.0), 5.1 - 2.0, 1e-6); // at 9.1, room at 5.1
    assert_near!(takes(&mut drive, read(95, 1), 6.0), 9.6 - 6.0, 1e-6);
    assert_near!(takes(&mut drive, write(50, 3), 10.0), 15.3 - 10.0, 1e-6);
    takes(&mut drive, write(80, 1), 20.0);
    assert_near!(drive.finish() * 1e3, 28.1, 1e-6);
}

#[test]
fn a_range_of_memory_takes_no_time_and_leaves_the_rest_to_the_disk() {
    let mut drive = Drive::new(&simple(), 0).unwrap();
    drive.set_nvram(40 * SECTOR..60 * SECTOR);
    assert_eq!(takes(&mut drive, write(40, 20), 1.0), 0.0);
    assert_near!(takes(&mut drive, read(50, 20), 10.0), 6.0 + 1.0, 1e-6); // 60 to 69
    assert_near!(takes(&mut drive, read(30, 20), 20.0), 3.0 + 1.0, 1e-6); // 30 to 39
    assert_near!(takes(&mut drive, read(30, 40), 30.0), 3.0 + 4.0, 1e-6);
    assert_eq!(drive.statistics().nvram, 1);
}

#[test]
fn a_partition_begins_where_it_is_said_to() {
    let mut drive = Drive::new(&simple(), 30 * SECTOR).unwrap();
    assert_near!(takes(&mut drive, read(20, 1), 0.0), 5.0 + 0.1, 1e-6);
    assert_eq!(drive.bytes(), (101 * 2 * 100 - 30) * SECTOR);
    takes(&mut drive, read(101 * 200 - 30, 1), 100.0);
    takes(&mut drive, Request { start: u64::MAX - 5, bytes: 100, write: true }, 200.0);
    assert_eq!(drive.statistics().outside, 2);
}

#[test]
fn the_mean_seek_is_the_published_drives() {
    let mechanism = Mechanism::new(&cheetah());
    let all = 6962.0f64;
    let pairs = |distance: u32| 2.0 * (all - f64::from(distance)) / (all * all);
    let mean: f64 = (1..6962).map(|d| pairs(d) * mechanism.seek(d)).sum();
    assert_near!(mean * 1e3, 5.47, 0.01);
    let curve = Seek::Curve { base: 2.0, root: 2.83, linear: 16.17 };
    let mechanism = Mechanism::new(&Parameters { seek: curve, ..cheetah() });
    let mean: f64 = (1..6962).map(|d| pairs(d) * mechanism.seek(d)).sum();
    assert_near!(mean * 1e3, 8.9, 0.01);
    assert_near!(mechanism.seek(6961) * 1e3, 21.0, 1e-5);
}

#[test]
fn random_reads_wait_half_a_revolution_in_the_mean() {
    let mut drive = Drive::new(&cheetah(), 0).unwrap();
    let sectors = drive.bytes() / SECTOR;
    let mut numbers = Numbers(7);
    let (mut seeks, count) = (0.0, 50_000);
    let mut arm = 0;
    let layout = Layout::new(&cheetah());
    let mechanism = Mechanism::new(&cheetah());
    let mut now = 0.0;
    for _ in 0..count {
        let sector = numbers.below(sectors);
        let place = layout.place(sector);
        seeks += mechanism.seek(arm.max(place.cylinder) - arm.min(place.cylinder));
        seeks += place.sector_time;
        arm = place.cylinder;
        let ticket = drive.submit(read(sector, 1), now);
        now = drive.wait(ticket);
    }
    let rotation = (drive.statistics().busy - seeks) / f64::from(count);
    assert_near!(rotation * 1e3, 60e3 / 10045.0 / 2.0, 0.02);
}

#[test]
fn sequential_reads_are_as_fast_as_the_tracks_pass_with_their_skews() {
    let parameters = Parameters { segments: 4, segment_kib: 256, overhead_ms: 0.3, ..cheetah() };
    let mut drive = Drive::new(&parameters, 0).unwrap();
    let (cylinders, chunk) = (100, 96);
    let sectors = cylinders * 12 * 254;
    let mut now = 0.0;
    for start in (0..sectors).step_by(chunk) {
        let ticket = drive.submit(read(start, chunk as u32), now);
        now = drive.wait(ticket);
    }
    // each track takes a revolution and its skew
    let skews = (11.0 * 97.0 + 133.0) / 254.0;
    let expected = cylinders as f64 * (12.0 + skews) * 60.0 / 10045.0;
    assert_near!(now / expected, 1.0, 0.002);
}

/// A drive that moves sector by sector, its places counted out one after the other.
struct Naive {
    places: Vec<(u32, u32, u64, u64)>,
    parameters: Parameters,
    arm: (u32, u32),
    free: f64,
}

impl Naive {
    fn new(parameters: &Parameters) -> Self {
        let mut places = Vec::new();
        for (number, zone) in parameters.zones.iter().enumerate() {
            let next = parameters.zones.get(number + 1);
            let end = next.map_or(parameters.cylinders, |next| next.first_cylinder);
            let (mut begins, size) = (0, u64::from(zone.sectors));
            for cylinder in zone.first_cylinder..end {
                for head in 0..parameters.heads {
                    places.extend((0..size).map(|at| (cylinder, head, (begins + at) % size, size)));
                    let last = head + 1 == parameters.heads;
                    begins += u64::from(if last { zone.cylinder_skew } else { zone.head_skew });
                }
            }
        }
        Self { places, parameters: parameters.clone(), arm: (0, 0), free: 0.0 }
    }

    fn seek(&self, from: u32, to: u32) -> f64 {
        let distance = f64::from(from.abs_diff(to));
        match &self.parameters.seek {
            Seek::Points(points) => {
                let near = points.windows(2).find(|pair| distance <= f64::from(pair[1].0)).unwrap();
                let share = (distance - f64::from(near[0].0)) / f64::from(near[1].0 - near[0].0);
                near[0].1 * (1.0 - share) + near[1].1 * share
            }
            Seek::Curve { base, .. } => *base,
        }
    }

    fn serve(&mut self, sector: u64, sectors: u64, write: bool, at: f64) -> f64 {
        let revolution = 60e3 / self.parameters.rpm;
        let mut at = at.max(self.free) + self.parameters.overhead_ms;
        for sector in sector..sector + sectors {
            let (cylinder, head, angle, size) = self.places[sector as usize];
            if self.arm != (cylinder, head) {
                let switch = if self.arm.1 == head { 0.0 } else { self.parameters.head_switch_ms };
                let moved = self.arm.0 != cylinder;
                let seek = if moved { self.seek(self.arm.0, cylinder) } else { 0.0 };
                at += seek.max(switch) + if write { self.parameters.write_settle_ms } else { 0.0 };
                self.arm = (cylinder, head);
            }
            let turned = (at / revolution).fract() * revolution;
            let mut wait = angle as f64 / size as f64 * revolution - turned;
            while wait < -1e-5 {
                wait += revolution;
            }
            at += wait + revolution / size as f64;
        }
        self.free = at;
        at
    }
}

#[test]
fn service_times_are_those_of_a_simulation_sector_by_sector() {
    for (parameters, seed) in [(simple(), 3), (cheetah(), 5)] {
        let parameters = Parameters { cylinders: parameters.cylinders.min(1700), ..parameters };
        let mut parameters = parameters;
        parameters.zones.retain(|zone| zone.first_cylinder < parameters.cylinders);
        if let Seek::Points(points) = &mut parameters.seek {
            points.retain(|point| point.0 < 1500);
            points.push((1699, 5.0));
        }
        let mut naive = Naive::new(&parameters);
        let mut drive = Drive::new(&parameters, 0).unwrap();
        let mut numbers = Numbers(seed);
        let all = naive.places.len() as u64;
        assert_eq!(drive.bytes(), all * SECTOR);
        let mut now = 0.0;
        for _ in 0..5000 {
            let sectors = 1 + numbers.below(400);
            let sector = numbers.below(all - sectors);
            let is_write = numbers.below(2) == 0;
            now += numbers.below(10_000) as f64 / 1e3;
            let request = if is_write { write } else { read };
            let ticket = drive.submit(request(sector, sectors as u32), now / 1e3);
            let done = naive.serve(sector, sectors, is_write, now);
            assert_near!(drive.wait(ticket) * 1e3, done, 1e-3);
            now = done;
        }
    }
}

/// `bufqdisksort` over a plain list: a present part and a later one, each walked along.
#[derive(Default)]
struct Sorted {
    list: Vec<(u64, u32)>,
    later: Option<usize>,
    last: u64,
}

impl Sorted {
    fn push(&mut self, block: u64, name: u32) {
        let all = self.list.len();
        let is_later = all > 0 && block < self.last;
        let later = self.later.unwrap_or(all);
        let part = if is_later { later..all } else { 0..later };
        let before = self.list[part.clone()].iter().filter(|held| held.0 <= block).count();
        self.list.insert(part.start + before, (block, name));
        self.later = if is_later { Some(later) } else { self.later.map(|later| later + 1) };
    }

    fn pop(&mut self) -> Option<u32> {
        if self.list.is_empty() {
            return None;
        }
        let (block, name) = self.list.remove(0);
        self.last = block;
        self.later = self.later.map(|later| later - 1).filter(|&later| later > 0);
        Some(name)
    }
}

#[test]
fn the_elevator_serves_in_the_order_of_a_naive_sorter() {
    let mut numbers = Numbers(11);
    for _ in 0..200 {
        let (mut elevator, mut sorted) = (Elevator::default(), Sorted::default());
        for name in 0..300 {
            if numbers.below(5) < 3 {
                let block = numbers.below(40);
                elevator.push(block, name);
                sorted.push(block, name);
            } else {
                assert_eq!(elevator.pop(), sorted.pop());
            }
            assert_eq!(elevator.len(), sorted.list.len());
        }
        while let Some(name) = sorted.pop() {
            assert_eq!(elevator.pop(), Some(name));
        }
        assert!(elevator.is_empty());
    }
}

#[test]
fn the_arm_goes_up_and_begins_anew_from_the_lowest() {
    let mut elevator = Elevator::default();
    elevator.push(50, 'a');
    assert_eq!(elevator.pop(), Some('a'));
    for (block, name) in [(60, 'c'), (40, 'f'), (55, 'b'), (10, 'e'), (60, 'd')] {
        elevator.push(block, name);
    }
    let order: String = std::iter::from_fn(|| elevator.pop()).collect();
    assert_eq!(order, "bcdef");
    // what comes to an empty queue is served before what lies ahead of the arm
    for (block, name) in [(5, 'a'), (3, 'd'), (70, 'c'), (65, 'b')] {
        elevator.push(block, name);
    }
    let order: String = std::iter::from_fn(|| elevator.pop()).collect();
    assert_eq!(order, "abcd");
}

#[test]
fn requests_that_wait_are_served_in_the_elevators_order_whoever_waits() {
    let mut drive = Drive::new(&simple(), 0).unwrap();
    let first = drive.submit(write(5000, 1), 0.0);
    let far = drive.submit(read(9000, 1), 0.001);
    let low = drive.submit(write(10, 1), 0.001);
    let near = drive.submit(write(6000, 1), 0.001);
    assert_eq!(drive.waiting(), 3);
    let low = drive.wait(low);
    assert!(drive.is_done(first) && drive.is_done(near) && drive.is_done(far));
    assert_eq!(drive.wait(near), low); // done before: one who waits goes on at once
    let next = drive.submit(write(10, 1), low);
    assert!(!drive.is_done(next));
    drive.run_until(low + 1.0);
    assert!(drive.is_done(next));
}

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
