//! Seek times by distance.

use super::checks::LONGEST;

/// Nanoseconds of seeks, by distance in cylinders.
#[derive(Clone, Debug)]
pub struct SeekCurve {
    points: Vec<(u32, f64)>,
}

impl SeekCurve {
    /// Straight lines between points of cylinders and milliseconds, which begin with 1 cylinder.
    pub fn new(points: &[(u32, f64)]) -> Self {
        let points = points.iter().map(|&(distance, ms)| (distance, ms * 1e6)).collect();
        Self { points }
    }

    /// The time of a seek; 0 for no distance. Beyond the last point the curve is extrapolated,
    /// within 0 and the limit of a point.
    pub fn time(&self, distance: u32) -> u64 {
        if distance == 0 {
            return 0;
        }
        let last = self.points.len() - 1;
        let after = self.points.partition_point(|point| point.0 < distance).min(last);
        let (x1, y1) = self.points[after];
        if x1 == distance || after == 0 {
            return y1.round() as u64;
        }
        let (x0, y0) = self.points[after - 1];
        let share = f64::from(distance - x0) / f64::from(x1 - x0);
        (y0 + (y1 - y0) * share).clamp(0.0, LONGEST * 1e6).round() as u64
    }
}
