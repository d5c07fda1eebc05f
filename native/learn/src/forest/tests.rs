use super::*;

const fn split(column: u16, threshold: u8, target: u32) -> Node {
    Node { column, threshold, target }
}

const fn leaf(place: u32) -> Node {
    split(LEAF, 0, place)
}

/// Two trees, the second a single leaf, with three leaves of two scores.
fn forest() -> Forest {
    let nodes = vec![split(1, 9, 2), leaf(0), split(0, 0, 4), leaf(1), leaf(2), leaf(1)];
    Forest::new(nodes, vec![0, 5], vec![1, 2, 10, 20, 100, 200], 2, 2).expect("a forest")
}

#[test]
fn a_row_has_the_scores_of_its_leaves_added_up() {
    let rows = [[0, 9], [0, 10], [1, 10], [255, 255]].concat();
    assert_eq!(forest().sums(&rows, 2).expect("rows"), [11, 22, 20, 40, 110, 220, 110, 220]);
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let rows: Vec<u8> = (0..2 * 1000_u32).map(|n| (n * 7919 % 23) as u8).collect();
    let one = forest().sums(&rows, 1).expect("rows");
    for threads in [0, 2, 3, 16, 5000] {
        assert_eq!(forest().sums(&rows, threads).expect("rows"), one, "{threads}");
    }
    assert!(forest().sums(&[], 2).expect("no rows").is_empty());
}

#[test]
fn invalid_forests_are_refused() {
    let new = |nodes: Vec<Node>, roots| Forest::new(nodes, roots, vec![1, 2, 3, 4], 2, 2).err();
    assert_eq!(new(vec![leaf(0)], vec![1]), Some(ForestError::Root(0)));
    assert_eq!(new(vec![leaf(2)], vec![0]), Some(ForestError::Scores(0)));
    let tree = |column, target| vec![split(column, 1, target), leaf(0), leaf(1)];
    assert_eq!(new(tree(0, 2), vec![0]), None);
    assert_eq!(new(tree(2, 2), vec![0]), Some(ForestError::Column(0, 2)));
    for target in [0, 1, 3, u32::MAX] {
        assert_eq!(new(tree(0, target), vec![0]), Some(ForestError::Child(0)), "{target}");
    }
    assert_eq!(Forest::new(vec![], vec![], vec![1], 2, 2).err(), Some(ForestError::Outputs));
    assert_eq!(forest().sums(&[1], 1).err(), Some(ForestError::Matrix));
}
