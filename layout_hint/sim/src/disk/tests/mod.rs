//! Drives to be tested, and the tests by what they are of.

use super::*;

macro_rules! assert_near {
    ($left:expr, $right:expr, $by:expr) => {
        let (left, right): (f64, f64) = ($left, $right);
        assert!((left - right).abs() <= $by, "{left} is not near {right}");
    };
}

// behind the macro that they use
mod bounds;
mod order;
mod sectors;
mod service;

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
