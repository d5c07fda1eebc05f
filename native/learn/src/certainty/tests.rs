use super::{Certainty, ThreeWayAnswer, Word};
use Word::{No, Unsure, Yes};

/// Sizes: empty, small (at most 16 kB), at most 64 kB, large; and an unrelated predicate.
const ASSIGNMENTS: &str = r#"[{
    "empty": [true, false, false, false],
    "<=16k": [true, true, false, false],
    "<=64k": [true, true, true, false],
    ">16k": [false, false, true, true]
}]"#;
const KEYS: [&str; 5] = ["empty", "<=16k", "<=64k", ">16k", "own"];

fn described(answers: [(Word, f64); 5], follows: bool) -> String {
    let predicate = |(key, (word, probability)): (&str, (Word, f64))| {
        let word = format!("{word:?}").to_lowercase();
        format!(
            r#"{{"key":"{key}","answers":["{word}"],"probabilities":[{probability}],"follows":{follows}}}"#
        )
    };
    let predicates: Vec<_> = KEYS.into_iter().zip(answers).map(predicate).collect();
    format!(r#"{{"predicates":[{}],"worlds":{ASSIGNMENTS}}}"#, predicates.join(","))
}

fn answer(described: &str) -> Vec<ThreeWayAnswer> {
    let mut answers = Vec::new();
    Certainty::read(described, &[]).unwrap().answer([0; 5], &mut answers);
    answers
}

fn words(answers: [(Word, f64); 5], follows: bool) -> Vec<Word> {
    answer(&described(answers, follows)).iter().map(|each| each.word).collect()
}

#[test]
fn of_answers_that_contradict_each_other_the_surer_stays() {
    let answers = [(Yes, 0.99), (Unsure, 0.5), (Unsure, 0.5), (Yes, 0.9), (Yes, 0.6)];
    assert_eq!(words(answers, false), [Yes, Unsure, Unsure, Unsure, Yes]);
    let answers = [(Yes, 0.9), (Unsure, 0.5), (Unsure, 0.5), (Yes, 0.99), (No, 0.1)];
    assert_eq!(words(answers, false), [Unsure, Unsure, Unsure, Yes, No]);
}

#[test]
fn answers_that_contradict_each_other_only_together_are_found() {
    // It is neither at most 64 kB nor above 16 kB.
    let answers = [(Unsure, 0.5), (Unsure, 0.5), (No, 0.02), (No, 0.01), (Unsure, 0.5)];
    assert_eq!(words(answers, false), [Unsure, Unsure, Unsure, No, Unsure]);
}

#[test]
fn implied_answers_are_added_where_allowed() {
    let answers = [(Yes, 0.99), (Unsure, 0.5), (Unsure, 0.5), (Unsure, 0.4), (Unsure, 0.5)];
    assert_eq!(words(answers, true), [Yes, Yes, Yes, No, Unsure]);
    assert_eq!(words(answers, false), [Yes, Unsure, Unsure, Unsure, Unsure]);
}

#[test]
fn joint_implications_are_answered_and_likelier_than_not() {
    // It is above 16 kB, and not above 64 kB.
    let answers = [(Unsure, 0.5), (Unsure, 0.5), (Yes, 0.9), (Yes, 0.9), (Unsure, 0.5)];
    assert_eq!(words(answers, true), [No, No, Yes, Yes, Unsure]);
    let answers = [(No, 0.1), (Yes, 0.9), (Unsure, 0.3), (Unsure, 0.6), (Unsure, 0.5)];
    let answers = answer(&described(answers, true));
    assert_eq!((answers[2].word, answers[2].probability), (Yes, 9000));
    assert_eq!((answers[3].word, answers[3].probability), (No, 1000));
}

#[test]
fn an_abstaining_predicate_is_no_yes_whatever_implies_it() {
    let answers = [(Yes, 0.99), (Unsure, 0.5), (Unsure, 0.5), (Unsure, 0.4), (Unsure, 0.5)];
    let abstaining = ["<=16k".to_owned(), ">16k".to_owned()];
    let certainty = Certainty::read(&described(answers, true), &abstaining).unwrap();
    let mut answers = Vec::new();
    certainty.answer([0; 5], &mut answers);
    let words: Vec<_> = answers.iter().map(|each| each.word).collect();
    assert_eq!((words[0], words[1], words[3]), (Yes, Unsure, No));
}

#[test]
fn surer_answers_limit_probabilities() {
    let answers = [(Yes, 0.99), (Unsure, 0.5), (Unsure, 0.5), (Unsure, 0.4), (Unsure, 0.5)];
    let likely: Vec<_> = answer(&described(answers, false)).iter().map(|s| s.probability).collect();
    assert_eq!(likely, [9900, 9900, 9900, 100, 5000]);
}

#[test]
fn abstaining_predicates_are_never_a_yes() {
    let text = described([(Yes, 0.99); 5], false);
    let certainty = Certainty::read(&text, &["own".to_owned()]).unwrap();
    let mut answers = Vec::new();
    certainty.answer([0; 5], &mut answers);
    assert_eq!((answers[4].word, answers[4].probability), (Unsure, 9900));
}

#[test]
fn nothing_is_never_or_always() {
    let answers =
        answer(&described([(No, 0.0), (No, 0.0), (No, 0.0), (Yes, 1.0), (No, 0.0)], false));
    assert_eq!((answers[4].probability, answers[3].probability), (1, 9999));
}

#[test]
fn invalid_descriptions_are_refused() {
    let good = described([(No, 0.1); 5], true);
    for (right, wrong) in [
        ("[0.1]", "[0.1,0.2]"),
        ("0.1", "1.1"),
        ("\"no\"", "\"never\""),
        (", false, false, false]", "]"),
    ] {
        let bad = good.replacen(right, wrong, 1);
        assert_ne!(good, bad);
        assert!(Certainty::read(&bad, &[]).is_err(), "{bad}");
    }
}
