use super::{Certainty, Said, Word};
use Word::{No, Unsure, Yes};

/// Of sizes: empty, small (at most 16 kB), at most 64 kB, large. And something of its own.
const WORLDS: &str = r#"[{
    "empty": [true, false, false, false],
    "<=16k": [true, true, false, false],
    "<=64k": [true, true, true, false],
    ">16k": [false, false, true, true]
}]"#;
const KEYS: [&str; 5] = ["empty", "<=16k", "<=64k", ">16k", "own"];

fn described(said: [(Word, f64); 5], follows: bool) -> String {
    let predicate = |(key, (word, probability)): (&str, (Word, f64))| {
        let word = format!("{word:?}").to_lowercase();
        format!(
            r#"{{"key":"{key}","answers":["{word}"],"probabilities":[{probability}],"follows":{follows}}}"#
        )
    };
    let predicates: Vec<_> = KEYS.into_iter().zip(said).map(predicate).collect();
    format!(r#"{{"predicates":[{}],"worlds":{WORLDS}}}"#, predicates.join(","))
}

fn say(described: &str) -> Vec<Said> {
    let mut said = Vec::new();
    Certainty::read(described, &[]).unwrap().say([0; 5], &mut said);
    said
}

fn words(said: [(Word, f64); 5], follows: bool) -> Vec<Word> {
    say(&described(said, follows)).iter().map(|each| each.word).collect()
}

#[test]
fn of_answers_that_contradict_each_other_the_surer_stays() {
    let said = [(Yes, 0.99), (Unsure, 0.5), (Unsure, 0.5), (Yes, 0.9), (Yes, 0.6)];
    assert_eq!(words(said, false), [Yes, Unsure, Unsure, Unsure, Yes]);
    let said = [(Yes, 0.9), (Unsure, 0.5), (Unsure, 0.5), (Yes, 0.99), (No, 0.1)];
    assert_eq!(words(said, false), [Unsure, Unsure, Unsure, Yes, No]);
}

#[test]
fn answers_that_contradict_each_other_only_together_are_found() {
    // It is neither at most 64 kB nor above 16 kB.
    let said = [(Unsure, 0.5), (Unsure, 0.5), (No, 0.02), (No, 0.01), (Unsure, 0.5)];
    assert_eq!(words(said, false), [Unsure, Unsure, Unsure, No, Unsure]);
}

#[test]
fn what_follows_from_an_answer_is_said_where_it_may_be() {
    let said = [(Yes, 0.99), (Unsure, 0.5), (Unsure, 0.5), (Unsure, 0.4), (Unsure, 0.5)];
    assert_eq!(words(said, true), [Yes, Yes, Yes, No, Unsure]);
    assert_eq!(words(said, false), [Yes, Unsure, Unsure, Unsure, Unsure]);
}

#[test]
fn how_likely_it_is_follows_from_what_is_surer() {
    let said = [(Yes, 0.99), (Unsure, 0.5), (Unsure, 0.5), (Unsure, 0.4), (Unsure, 0.5)];
    let likely: Vec<_> = say(&described(said, false)).iter().map(|s| s.probability).collect();
    assert_eq!(likely, [9900, 9900, 9900, 100, 5000]);
}

#[test]
fn who_abstains_is_never_a_yes() {
    let text = described([(Yes, 0.99); 5], false);
    let certainty = Certainty::read(&text, &["own".to_owned()]).unwrap();
    let mut said = Vec::new();
    certainty.say([0; 5], &mut said);
    assert_eq!((said[4].word, said[4].probability), (Unsure, 9900));
}

#[test]
fn nothing_is_never_or_always() {
    let said = say(&described([(No, 0.0), (No, 0.0), (No, 0.0), (Yes, 1.0), (No, 0.0)], false));
    assert_eq!((said[4].probability, said[3].probability), (1, 9999));
}

#[test]
fn what_is_described_wrongly_is_refused() {
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
