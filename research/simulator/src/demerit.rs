//! Distance of two distributions of response times.

/// The demerit figure of Ruemmler and Wilkes (1994), in the unit of the times: the root mean square
/// of the horizontal distance between two cumulative distributions. None if one has no times.
pub fn demerit(first: &[u64], second: &[u64]) -> Option<f64> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let (first, second) = (sorted(first), sorted(second));
    let (n, m) = (first.len() as u128, second.len() as u128);
    let (mut i, mut j, mut from, mut sum) = (0, 0, 0, 0.0);
    // Shares of the whole are counted in steps of 1 / (n * m).
    while i < first.len() && j < second.len() {
        let (ends_first, ends_second) = ((i as u128 + 1) * m, (j as u128 + 1) * n);
        let to = ends_first.min(ends_second);
        let distance = first[i] as f64 - second[j] as f64;
        sum += distance * distance * (to - from) as f64;
        i += usize::from(ends_first == to);
        j += usize::from(ends_second == to);
        from = to;
    }
    Some((sum / (n * m) as f64).sqrt())
}

/// The mean of times; None without any.
pub fn mean(times: &[u64]) -> Option<f64> {
    let sum: u128 = times.iter().map(|&time| u128::from(time)).sum();
    (!times.is_empty()).then(|| sum as f64 / times.len() as f64)
}

fn sorted(times: &[u64]) -> Vec<u64> {
    let mut times = times.to_vec();
    times.sort_unstable();
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each distribution drawn as often as the other has times, and compared rank by rank.
    fn by_rank(first: &[u64], second: &[u64]) -> f64 {
        let drawn = |times: &[u64], often: usize| {
            let times = sorted(times);
            times.iter().flat_map(|&time| vec![time as f64; often]).collect::<Vec<f64>>()
        };
        let (a, b) = (drawn(first, second.len()), drawn(second, first.len()));
        let sum: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum();
        (sum / a.len() as f64).sqrt()
    }

    #[test]
    fn it_is_the_root_of_the_mean_square_between_times_of_the_same_rank() {
        let times = [[5, 1, 9, 3], [2, 2, 40, 7], [0, 0, 0, 0]];
        for first in times {
            for second in times {
                assert_eq!(demerit(&first, &second), Some(by_rank(&first, &second)));
            }
        }
        assert_eq!(demerit(&[1, 2], &[5, 4]), Some(3.0));
    }

    #[test]
    fn distributions_of_different_numbers_are_compared_by_shares() {
        let (first, second) = ([10, 20, 60], [10, 20, 30, 40, 50]);
        let found = demerit(&first, &second).unwrap();
        assert!((found - by_rank(&first, &second)).abs() < 1e-9, "{found}");
        assert_eq!(demerit(&[1, 2, 3], &[1, 1, 2, 2, 3, 3]), Some(0.0));
    }

    #[test]
    fn without_times_there_is_none() {
        assert_eq!((demerit(&[], &[1]), demerit(&[1], &[]), mean(&[])), (None, None, None));
        assert_eq!(mean(&[1, 2, 6]), Some(3.0));
    }
}
