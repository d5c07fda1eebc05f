use super::*;
use birthmark_image::Create;
use std::sync::mpsc::{channel, Sender};
use std::time::Duration;

fn create(name: &str) -> Create<'_> {
    Create {
        name: Some(name.as_bytes()),
        values: [Some(0o600), Some(100), None, None],
        hour: Some(7),
        ..Create::default()
    }
}

/// All three predicates say yes to what ends with `.lock`.
fn image() -> Vec<u8> {
    include_bytes!("../../../fuzz/corpus/check/hints")[..].to_vec()
}

#[test]
fn without_an_image_every_create_is_cold_and_counted() {
    let mut hook = Hook::new(None, Mode::Table).unwrap();
    assert_eq!(hook.ask(&create("a.lock"), false), Verdict::COLD);
    let counters = hook.state().counters;
    assert_eq!((counters.asked, counters.without_image), (1, 1));
    assert_eq!(hook.state().image_size, 0);
}

#[test]
fn a_refused_image_leaves_the_one_before() {
    let image = image();
    let mut hook = Hook::new(Some(&image), Mode::Table).unwrap();
    let before = hook.ask(&create("a.lock"), false);
    assert_eq!(before, Verdict(Verdict::NAME.0 | Verdict::WRITE.0));
    assert_eq!(hook.load(&image[..50]), Err(Refused::Image(ImageError::Truncated)));
    assert_eq!(hook.ask(&create("b.lock"), false), before);
    hook.follow(Verdict::NAME);
    assert_eq!(hook.ask(&create("b.lock"), false), Verdict::NAME);
    assert_eq!(hook.ask(&create("b.lock"), true), Verdict::COLD);
    hook.follow(Verdict::ALL);
    assert_eq!(hook.ask(&create("b.lock"), true), Verdict::DIR);
    assert_eq!(hook.state().counters.images_refused, [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(hook.state().counters.hinted, [3, 1, 2]);
}

#[test]
fn a_question_is_queued_once_and_its_answer_serves_the_next_create_of_its_kind() {
    let mut hook = Hook::new(None, Mode::Query).unwrap();
    assert_eq!(hook.ask(&create("mail12.lock"), false), Verdict::COLD);
    assert_eq!(hook.ask(&create("mail13.lock"), false), Verdict::COLD);
    let question = hook.next_question().unwrap();
    assert_eq!(question.name(), Some(&b"mail12.lock"[..]));
    assert_eq!(question.numbers(), [Some(0o600), Some(100), None, Some(7)]);
    assert!(hook.next_question().is_none());
    assert!(hook.answer(question.id, Verdict::WRITE));
    assert!(!hook.answer(question.id, Verdict::WRITE));
    assert_eq!(hook.ask(&create("mail999.lock"), false), Verdict::WRITE);
}

/// A service with a constant answer, which passes the questions on.
struct Says(Result<Verdict, Failure>, Sender<Question>);

impl Asker for Says {
    fn ask(&mut self, question: &Question, _: Instant) -> Result<Verdict, Failure> {
        self.1.send(question.clone()).unwrap();
        self.0
    }
}

/// One that has no answer before the deadline.
struct Hangs;

impl Asker for Hangs {
    fn ask(&mut self, _: &Question, deadline: Instant) -> Result<Verdict, Failure> {
        std::thread::sleep(deadline.saturating_duration_since(Instant::now()) + SHORT);
        Ok(Verdict::WRITE)
    }
}

/// A hook whose creates wait for `asker`.
fn waiting(asker: impl Asker + 'static, deadline: Duration) -> Hook {
    let mut hook = Hook::new(None, Mode::Query).unwrap();
    let deadline = deadline.as_nanos() as u64;
    let settings = SyncSettings { deadline, failures_max: 2, ..SyncSettings::default() };
    hook.wait_for(Box::new(asker), settings);
    hook
}

/// Long enough for a loaded machine.
const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(5);

#[test]
fn a_create_that_waits_gets_the_answer_and_its_kind_asks_no_more() {
    let (sender, questions) = channel();
    let mut hook = waiting(Says(Ok(Verdict::WRITE), sender), LONG);
    assert_eq!(hook.ask(&create("mail1"), false), Verdict::WRITE);
    assert_eq!(hook.ask(&create("mail2"), false), Verdict::WRITE);
    let odd = Create { name: Some(b"\xff\xfe"), ..Create::default() };
    assert_eq!(hook.ask(&odd, true), Verdict::COLD, "of a directory only HotDir is asked");
    let asked: Vec<_> = questions.try_iter().collect();
    let [first, second] = &asked[..] else { panic!("{} questions", asked.len()) };
    assert_eq!((first.name(), first.is_directory()), (Some(&b"mail1"[..]), false));
    assert_eq!(first.numbers(), [Some(0o600), Some(100), None, Some(7)]);
    assert_eq!((second.name(), second.is_directory()), (Some(&b"\xff\xfe"[..]), true));
    assert_eq!(second.numbers(), [None; 4]);
    let counters = hook.sync_counters().unwrap();
    assert_eq!((counters.answered, counters.opened), (2, 0));
    assert_eq!((hook.state().counters.asked, hook.state().counters.hinted), (3, [0, 0, 2]));
}

#[test]
fn a_service_that_hangs_is_late_and_then_no_longer_asked() {
    let mut hook = waiting(Hangs, SHORT);
    for name in ["a", "b", "c", "d"] {
        assert_eq!(hook.ask(&create(name), false), Verdict::COLD);
    }
    let counters = hook.sync_counters().unwrap();
    assert_eq!((counters.answered, counters.late, counters.opened), (0, 2, 1), "{counters:?}");
    assert_eq!(counters.unasked, 2);
    assert_eq!(hook.state().decisions, 0, "they are asked again");
}

#[test]
fn every_failure_is_counted_as_what_it_is_and_the_create_is_cold() {
    for failure in [Failure::Late, Failure::Gone, Failure::Bad] {
        let (sender, _questions) = channel();
        let mut hook = waiting(Says(Err(failure), sender), LONG);
        assert_eq!(hook.ask(&create("a"), false), Verdict::COLD);
        let counters = hook.sync_counters().unwrap();
        let counted = [counters.late, counters.gone, counters.bad];
        let expected =
            [Failure::Late, Failure::Gone, Failure::Bad].map(|each| u64::from(each == failure));
        assert_eq!(counted, expected);
    }
}
