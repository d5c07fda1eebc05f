use super::split::{below, Part, Search};
use super::*;
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};

const ROWS: usize = 300;
const GROWTH: Growth = Growth { leaves: 24, leaf_rows: 3, height: 255, tried: 2 };

/// Three columns of random bytes, one that is always 7, and two answers that follow from them.
fn sample() -> Sample {
    sample_of(None)
}

/// The same, with only the `valid` answers known.
fn sample_of(valid: Option<&NullBuffer>) -> Sample {
    let mut random = seeded(1, 0);
    let mut bytes: Vec<u8> = (0..3 * ROWS).map(|_| below(&mut random, 256) as u8).collect();
    bytes.extend([7; ROWS]);
    let (first, second) = (bytes[..ROWS].to_vec(), bytes[ROWS..2 * ROWS].to_vec());
    let answers = BooleanBuffer::from_iter(
        first
            .iter()
            .zip(&second)
            .flat_map(|(&one, &two)| [one > 99, u16::from(one) + u16::from(two) > 255]),
    );
    Sample::new(ScalarBuffer::from(bytes), &answers, valid, ROWS).unwrap()
}

/// The sums of the trees' predictions for a row, by output.
fn says(trees: &Trees, sample: &Sample, row: usize) -> Vec<f32> {
    let nodes = trees.nodes(None);
    let leaves: Vec<usize> = nodes
        .columns
        .iter()
        .scan(0, |leaves, column| {
            *leaves += usize::from(*column == LEAF);
            Some(*leaves - usize::from(*column == LEAF))
        })
        .collect();
    let mut sums = vec![0.0; sample.outputs()];
    for &root in &nodes.roots {
        let mut place = root as usize;
        while nodes.columns[place] != LEAF {
            let byte = sample.column(usize::from(nodes.columns[place]))[row];
            let smaller = byte <= nodes.thresholds[place];
            place = if smaller { place + 1 } else { nodes.targets[place] as usize };
        }
        let means = &nodes.means[leaves[place] * sample.outputs()..];
        sums.iter_mut().zip(means).for_each(|(sum, mean)| *sum += mean);
    }
    sums
}

#[test]
fn an_unlimited_tree_predicts_its_training_rows() {
    let (sample, growth) = (sample(), Growth { leaves: ROWS, leaf_rows: 1, height: 255, tried: 4 });
    let trees = randomized(&sample, growth, 1, None, 5, 1);
    for row in 0..ROWS {
        let targets = &sample.targets()[row * sample.lanes()..][..2];
        for (said, target) in says(&trees, &sample, row).iter().zip(targets) {
            assert!((said - target).abs() < 1e-6, "row {row}");
        }
    }
}

#[test]
fn every_leaf_has_its_rows_and_no_tree_splits_on_constant_columns() {
    let sample = sample();
    let (_, boosted) = boosted(&sample, GROWTH, 4, 0.3, 9);
    for (trees, rows) in [(randomized(&sample, GROWTH, 4, None, 9, 2), ROWS), (boosted, ROWS / 2)] {
        let nodes = trees.nodes(None);
        assert_eq!(nodes.rows.iter().sum::<u32>() as usize, 4 * rows);
        assert_eq!(nodes.columns.iter().filter(|column| **column == LEAF).count(), trees.leaves());
        assert!(trees.most_leaves() <= 24);
        for (column, rows) in nodes.columns.iter().zip(&nodes.rows) {
            assert!(*column < 3 || (*column == LEAF && *rows >= 3), "{column} {rows}");
        }
    }
}

#[test]
fn the_first_nodes_are_those_of_a_tree_with_fewer_leaves() {
    let sample = sample();
    let small = randomized(&sample, Growth { leaves: 6, ..GROWTH }, 3, None, 2, 1);
    // A larger tree draws on after its first nodes: these are the same as long as one that has more
    // room searches the same nodes in the same order.
    let large = randomized(&sample, GROWTH, 3, None, 2, 1);
    let (part, small) = (large.nodes(Some(6)), small.nodes(None));
    assert_eq!(part.columns, small.columns);
    assert_eq!((part.thresholds, part.targets), (small.thresholds, small.targets));
    assert_eq!((part.rows, part.means), (small.rows, small.means));
}

#[test]
fn the_same_seed_makes_the_same_trees_with_any_number_of_threads() {
    let sample = sample();
    let grown = |seed, drawn, threads| {
        let nodes = randomized(&sample, GROWTH, 5, drawn, seed, threads).nodes(None);
        (nodes.columns, nodes.thresholds, nodes.rows)
    };
    assert_eq!(grown(3, None, 1), grown(3, None, 4));
    assert_ne!(grown(3, None, 1), grown(4, None, 1));
    let drawn = grown(3, Some(40), 2);
    assert_eq!(drawn.2.iter().sum::<u32>(), 5 * 40);
}

#[test]
fn trees_that_correct_each_other_leave_less_and_less() {
    let sample = sample();
    let left = |count| {
        let (_, trees) = boosted(&sample, GROWTH, count, 0.3, 7);
        let mut left = 0.0;
        for row in 0..ROWS {
            let targets = &sample.targets()[row * sample.lanes()..];
            for (predicted, target) in says(&trees, &sample, row).iter().zip(targets) {
                left += (target - 0.3 * predicted).powi(2);
            }
        }
        left
    };
    let lefts = [left(0), left(5), left(20), left(60)];
    assert!(lefts.is_sorted_by(|more, less| more > less), "{lefts:?}");
    assert!(lefts[3] < 0.05 * lefts[0], "{lefts:?}");
}

/// The squared error that means of two sides explain, counted row by row.
fn explained(sample: &Sample, rows: &[u32], column: usize, threshold: u8) -> Option<f64> {
    let bytes = sample.column(column);
    let (less, more): (Vec<u32>, Vec<u32>) =
        rows.iter().partition(|row| bytes[**row as usize] <= threshold);
    if less.len().min(more.len()) < 3 {
        return None;
    }
    let side = |side: &[u32]| {
        let sum = |output: usize| -> f64 {
            let answers = side.iter().map(|row| sample.targets()[*row as usize * 8 + output]);
            answers.map(f64::from).sum()
        };
        (sum(0).powi(2) + sum(1).powi(2)) / side.len() as f64
    };
    Some(side(&less) + side(&more))
}

#[test]
fn the_best_split_is_the_best_of_all_that_there_are() {
    let sample = sample();
    let mut random = seeded(6, 0);
    for _ in 0..20 {
        let rows: Vec<u32> = (0..ROWS as u32).filter(|_| below(&mut random, 4) == 0).collect();
        let mut sums = vec![0.0; sample.lanes()];
        for row in &rows {
            split::add(&mut sums, &sample.targets()[*row as usize * 8..][..8]);
        }
        let part = Part { rows: &rows, sums: &sums };
        let mut search = Search::for_best(&sample, random.clone());
        let found = search.best(&sample, sample.targets(), &part, 4, 3).unwrap();
        let all = (0..3).flat_map(|column| (0..=255).map(move |threshold| (column, threshold)));
        let best = all
            .filter_map(|(column, threshold)| explained(&sample, &rows, column, threshold))
            .fold(0.0, f64::max);
        assert!((found.worth - best).abs() < 1e-5 * best);
        let own = explained(&sample, &rows, usize::from(found.column), found.threshold).unwrap();
        assert!((own - best).abs() < 1e-5 * best);
    }
}

#[test]
fn no_leaf_is_below_more_splits_than_the_height() {
    let sample = sample();
    let growth = Growth { leaves: ROWS, leaf_rows: 1, height: 3, tried: 4 };
    let (_, boosted) = boosted(&sample, growth, 2, 0.3, 9);
    for trees in [randomized(&sample, growth, 2, None, 9, 1), boosted] {
        let nodes = trees.nodes(None);
        let mut heights = vec![0; nodes.columns.len()];
        for (place, column) in nodes.columns.iter().enumerate().filter(|(_, own)| **own != LEAF) {
            assert!(*column < 3);
            heights[place + 1] = heights[place] + 1;
            heights[nodes.targets[place] as usize] = heights[place] + 1;
        }
        assert_eq!(heights.into_iter().max(), Some(3));
        assert!(trees.leaves() <= 2 * 8);
    }
}

#[test]
fn means_and_leaves_are_those_of_the_known_answers() {
    // Not the first answers of every fourth row.
    let valid: NullBuffer = (0..2 * ROWS).map(|place| place % 8 != 0).collect();
    let (whole, sample) = (sample(), sample_of(Some(&valid)));
    let is_yes = |row: usize| whole.targets()[row * whole.lanes()] > 0.0;
    let known: Vec<bool> = (0..ROWS).filter(|row| row % 4 != 0).map(is_yes).collect();
    let share = known.iter().filter(|yes| **yes).count() as f32 / known.len() as f32;
    assert!((sample.means()[0] - share).abs() < 1e-6);
    let growth = Growth { leaves: ROWS, leaf_rows: 1, height: 255, tried: 4 };
    let trees = randomized(&sample, growth, 1, None, 5, 1);
    for row in (0..ROWS).filter(|row| row % 4 != 0) {
        let said = says(&trees, &sample, row)[0] + share;
        assert!((said - f32::from(u8::from(is_yes(row)))).abs() < 1e-5, "row {row}: {said}");
    }
    let (_, trees) = boosted(&sample, GROWTH, 60, 0.3, 7);
    let wrong = |row: &usize| (share + 0.3 * says(&trees, &sample, *row)[0] > 0.5) != is_yes(*row);
    assert!((0..ROWS).filter(|row| row % 4 != 0).filter(wrong).count() < 5);
}

#[test]
fn rows_of_one_answer_are_not_split() {
    let bytes = ScalarBuffer::from((0..=255).collect::<Vec<u8>>());
    let sample = Sample::new(bytes, &BooleanBuffer::new_set(256), None, 256).unwrap();
    let nodes = randomized(&sample, GROWTH, 1, None, 0, 1).nodes(None);
    assert_eq!((nodes.columns, nodes.rows, nodes.means), (vec![LEAF], vec![256], vec![0.0]));
}

#[test]
fn invalid_samples_are_refused() {
    let made = |bytes: usize, answers: usize, rows: usize| {
        let bytes = ScalarBuffer::from(vec![0_u8; bytes]);
        Sample::new(bytes, &BooleanBuffer::new_unset(answers), None, rows).map(|_| ())
    };
    assert_eq!(made(6, 4, 2), Ok(()));
    for none in [(0, 2, 1), (2, 0, 1), (2, 2, 0)] {
        assert_eq!(made(none.0, none.1, none.2), Err(SampleError::Empty));
    }
    let refused = Err(SampleError::Rows { bytes: 6, answers: 5, rows: 2 });
    assert_eq!(made(6, 5, 2), refused);
    assert_eq!(
        made(5, 6, 2).unwrap_err().to_string(),
        "5 bytes and 6 answers do not divide by 2 rows"
    );
}

#[test]
fn few_rows_and_many_have_the_values_of_their_column() {
    let sample = sample();
    for count in [3, ROWS] {
        let rows: Vec<u32> = (0..count as u32).rev().collect();
        for number in 0..sample.width() {
            let mut values = vec![1, 2, 3];
            sample.values(number, &rows, &mut values);
            let expected: Vec<u8> =
                rows.iter().map(|&row| sample.column(number)[row as usize]).collect();
            assert_eq!(values, expected);
        }
    }
}
