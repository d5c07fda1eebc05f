use super::*;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
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
    include_bytes!("../../fuzz/corpus/check/hints")[..].to_vec()
}

#[test]
fn without_an_image_every_create_is_cold_and_counted() {
    let mut hook = Hook::new(None, Mode::Table).unwrap();
    assert_eq!(hook.ask(&create("a.lock"), false), Verdict::COLD);
    let counters = hook.counters();
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
    assert_eq!(hook.counters().images_refused, [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(hook.counters().hinted, [3, 1, 2]);
}

#[test]
fn a_question_is_queued_once_and_its_answer_serves_the_next_create_of_its_kind() {
    let mut hook = Hook::new(None, Mode::Query).unwrap();
    assert_eq!(hook.ask(&create("mail12.lock"), false), Verdict::COLD);
    assert_eq!(hook.ask(&create("mail13.lock"), false), Verdict::COLD);
    let question = hook.next_question().unwrap();
    assert_eq!(question.name(), Some(&b"mail12.lock"[..]));
    assert_eq!((question.mode(), question.uid()), (Some(0o600), Some(100)));
    assert_eq!((question.gid(), question.hour()), (None, Some(7)));
    assert!(hook.next_question().is_none());
    assert!(hook.answer(question.id(), Verdict::WRITE));
    assert!(!hook.answer(question.id(), Verdict::WRITE));
    assert_eq!(hook.ask(&create("mail999.lock"), false), Verdict::WRITE);
    hook.flush();
    assert_eq!(hook.ask(&create("mail999.lock"), false), Verdict::COLD);
}

/// Takes connections, and answers what `answer` gives for each request; `None` closes.
fn serve(path: &Path, mut answer: impl FnMut(&str) -> Option<Vec<u8>> + Send + 'static) {
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            while let Some(request) = request(&mut stream) {
                let Some(answer) = answer(&request) else { break };
                if stream.write_all(&answer).is_err() {
                    break;
                }
            }
        }
    });
}

/// One request, whose body ends with a brace.
fn request(stream: &mut UnixStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut more = [0; 4096];
    while !bytes.ends_with(b"}") {
        match stream.read(&mut more) {
            Ok(n) if n > 0 => bytes.extend_from_slice(&more[..n]),
            _ => return None,
        }
    }
    Some(String::from_utf8(bytes).unwrap())
}

fn answered(hints: &str) -> Option<Vec<u8>> {
    Some(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{hints}", hints.len()).into_bytes())
}

const WRITE: &str = "4";

/// A hook whose creates wait for the service at `path`, long enough for a loaded machine.
fn waiting(path: &Path, deadline: Duration) -> Hook {
    let mut hook = Hook::new(None, Mode::Query).unwrap();
    let deadline = deadline.as_nanos() as u64;
    let settings = SyncSettings { deadline, failures_max: 2, ..SyncSettings::default() };
    hook.wait_for(Box::new(Http::new(Address::Unix(path.to_owned()))), settings);
    hook
}

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(5);

#[test]
fn a_create_that_waits_gets_the_answer_and_its_kind_asks_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let (sender, requests) = std::sync::mpsc::channel();
    serve(&path, move |request| {
        sender.send(request.to_owned()).unwrap();
        answered(WRITE)
    });
    let mut hook = waiting(&path, LONG);
    assert_eq!(hook.ask(&create("mail1"), false), Verdict::WRITE);
    assert_eq!(hook.ask(&create("mail2"), false), Verdict::WRITE);
    let odd = Create { name: Some(b"\xff\xfe"), ..Create::default() };
    assert_eq!(hook.ask(&odd, true), Verdict::COLD, "of a directory only HotDir is asked");
    let request = requests.recv().unwrap();
    assert!(request.starts_with("POST /v1/hints HTTP/1.1\r\n"), "{request}");
    let body = r#"{"name":"mail1","is_directory":false,"mode":384,"uid":100,"time":"1970-01-01T07:00:00Z"}"#;
    assert!(request.ends_with(body), "{request}");
    assert!(requests.recv().unwrap().ends_with(r#"{"name_base64":"//4=","is_directory":true}"#));
    assert!(requests.try_recv().is_err());
    let counters = hook.sync_counters().unwrap();
    assert_eq!((counters.answered, counters.opened), (2, 0));
    assert_eq!((hook.counters().asked, hook.counters().hinted), (3, [0, 0, 2]));
}

#[test]
fn a_connection_that_was_closed_since_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let mut odd = false;
    serve(&path, move |_| {
        odd = !odd;
        if odd {
            answered(WRITE)
        } else {
            None
        }
    });
    let mut hook = waiting(&path, LONG);
    for name in ["a", "b", "c", "d"] {
        assert_eq!(hook.ask(&create(name), false), Verdict::WRITE);
    }
    assert_eq!(hook.sync_counters().unwrap().answered, 4);
}

#[test]
fn a_service_that_hangs_or_drips_is_late_and_then_no_longer_asked() {
    for drips in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        std::thread::spawn(move || {
            let held: Vec<_> = listener
                .incoming()
                .map(|stream| {
                    let mut stream = stream.unwrap();
                    std::thread::spawn(move || {
                        while drips && stream.write_all(b"H").is_ok() {
                            std::thread::sleep(Duration::from_millis(1));
                        }
                        std::thread::sleep(LONG);
                    })
                })
                .collect();
            drop(held);
        });
        let mut hook = waiting(&path, SHORT);
        for name in ["a", "b", "c", "d"] {
            assert_eq!(hook.ask(&create(name), false), Verdict::COLD);
        }
        let counters = hook.sync_counters().unwrap();
        assert_eq!(counters.answered, 0);
        assert_eq!((counters.late + counters.bad, counters.opened), (2, 1), "{counters:?}");
        assert_eq!(counters.unasked, 2);
        assert_eq!(hook.state().decisions, 0, "they are asked anew");
    }
}

#[test]
fn what_is_no_answer_is_bad_and_no_service_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let answers: [&[u8]; 6] = [
        b"garbage\r\n\r\n",
        b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551615\r\n\r\n",
    ];
    for (n, answer) in answers.into_iter().enumerate() {
        let path = folder.path().join(n.to_string());
        serve(&path, move |_| Some(answer.to_vec()));
        let mut hook = waiting(&path, LONG);
        assert_eq!(hook.ask(&create("a"), false), Verdict::COLD);
        assert_eq!(hook.sync_counters().unwrap().bad, 1, "{n}");
    }
    let mut hook = waiting(&folder.path().join("none"), LONG);
    assert_eq!(hook.ask(&create("a"), false), Verdict::COLD);
    assert_eq!(hook.sync_counters().unwrap().gone, 1);
}

#[test]
fn a_tcp_service_is_asked_as_well() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = [0; 4096];
        let _ = stream.read(&mut bytes).unwrap();
        stream.write_all(&answered(WRITE).unwrap()).unwrap();
        let _ = stream.read(&mut bytes);
    });
    let mut hook = Hook::new(None, Mode::Query).unwrap();
    let settings = SyncSettings { deadline: LONG.as_nanos() as u64, ..SyncSettings::default() };
    hook.wait_for(Box::new(Http::new(address.parse().unwrap())), settings);
    assert_eq!(hook.ask(&create("a"), false), Verdict::WRITE);
}

#[test]
fn addresses_are_a_unix_path_or_a_url() {
    assert_eq!("unix:/a b".parse(), Ok(Address::Unix("/a b".into())));
    assert_eq!("http://127.0.0.1:80".parse(), Ok(Address::Tcp(([127, 0, 0, 1], 80).into())));
    for text in ["", "unix:", "127.0.0.1:80", "https://127.0.0.1:80", "http://127.0.0.1"] {
        assert!(text.parse::<Address>().is_err(), "{text}");
    }
}
