//! How long the arm takes, for every distance.

use super::Seek;

/// Seconds to move by 0, 1, 2 ... cylinders.
pub fn table(seek: &Seek, cylinders: u32) -> Vec<f32> {
    let longest = f64::from(cylinders - 1);
    let mut times = vec![0.0; cylinders as usize];
    for (distance, time) in times.iter_mut().enumerate().skip(1) {
        let milliseconds = match seek {
            Seek::Points(points) => between(points, distance as u32),
            Seek::Curve { base, root, linear } => {
                let share = distance as f64 / longest;
                base + root * share.sqrt() + linear * share
            }
        };
        *time = (milliseconds / 1e3) as f32;
    }
    times
}

/// On the straight line between the points around a distance; beyond the last, on as before it.
fn between(points: &[(u32, f64)], distance: u32) -> f64 {
    let after = points.partition_point(|point| point.0 < distance).min(points.len() - 1);
    if points[after].0 == distance || after == 0 {
        return points[after].1;
    }
    let ((x0, y0), (x1, y1)) = (points[after - 1], points[after]);
    y0 + (y1 - y0) * f64::from(distance - x0) / f64::from(x1 - x0)
}
