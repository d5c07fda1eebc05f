//! The service against a simulation that goes sector by sector.

use super::*;

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
