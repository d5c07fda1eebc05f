use super::{Lobby, Rules};
use rustix::fd::OwnedFd;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

const BUSY: &[u8] = b"busy";
const PATIENCE: Duration = Duration::from_secs(20);

fn rules() -> Rules {
    Rules { connections: 100, ready: 10, idle: PATIENCE, busy: BUSY.to_vec() }
}

fn lobby(rules: Rules) -> (Lobby, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (Lobby::open(OwnedFd::from(listener), rules).unwrap(), address)
}

fn guest(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Lets in as many as are asked for.
fn let_in(lobby: &Lobby, many: usize) -> Vec<OwnedFd> {
    let (mut found, end) = (Vec::new(), Instant::now() + PATIENCE);
    while found.len() < many {
        assert!(Instant::now() < end, "{} of {many} came", found.len());
        found.extend(lobby.let_in(many - found.len()));
    }
    found
}

fn is_rung(lobby: &Lobby) -> bool {
    match rustix::net::recv(lobby.bell(), &mut [0; 1][..], rustix::net::RecvFlags::PEEK) {
        Ok((read, _)) => read > 0,
        Err(_) => false,
    }
}

fn said(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Ok(_) => all,
        Err(error) if error.kind() == ErrorKind::ConnectionReset => all,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn who_says_something_is_let_in_and_nothing_of_it_is_lost() {
    let (lobby, address) = lobby(rules());
    let _silent = guest(address);
    let mut first = guest(address);
    first.write_all(b"hello").unwrap();
    let mut stream = TcpStream::from(let_in(&lobby, 1).pop().unwrap());
    stream.set_nonblocking(false).unwrap();
    let mut heard = [0; 5];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"hello");
    stream.write_all(b"you").unwrap();
    drop(stream);
    assert_eq!(said(&mut first), b"you");
    assert!(lobby.let_in(10).is_empty());
    assert!(!is_rung(&lobby));
}

#[test]
fn the_bell_rings_until_all_are_let_in() {
    let (lobby, address) = lobby(rules());
    let guests: Vec<_> = (0..3).map(|_| guest(address)).collect();
    for mut each in &guests {
        each.write_all(b"x").unwrap();
    }
    let first = let_in(&lobby, 2);
    let end = Instant::now() + PATIENCE;
    while !is_rung(&lobby) {
        assert!(Instant::now() < end);
    }
    let last = let_in(&lobby, 1);
    assert!(!is_rung(&lobby));
    assert_eq!(first.len() + last.len(), 3);
}

#[test]
fn who_comes_when_many_wait_is_told_so_at_once_and_counted() {
    let (lobby, address) = lobby(rules());
    let mut guests: Vec<_> = (0..30).map(|_| guest(address)).collect();
    for each in &mut guests {
        each.write_all(b"request").unwrap();
    }
    let end = Instant::now() + PATIENCE;
    let mut refused = 0;
    while refused < 20 {
        assert!(Instant::now() < end);
        refused += lobby.take_refused();
    }
    assert_eq!((refused, lobby.take_refused()), (20, 0));
    assert_eq!(let_in(&lobby, 10).len(), 10);
    let told = guests.iter_mut().map(said).filter(|told| told == BUSY).count();
    assert_eq!(told, 20);
}

#[test]
fn of_too_many_who_has_waited_longest_without_a_word_is_closed() {
    let (lobby, address) = lobby(Rules { connections: 5, ..rules() });
    lobby.inside(2);
    let mut guests: Vec<_> = (0..10).map(|_| guest(address)).collect();
    for each in &mut guests[..7] {
        assert_eq!(said(each), b"");
    }
    for each in &mut guests[7..] {
        each.write_all(b"x").unwrap();
    }
    assert_eq!(let_in(&lobby, 3).len(), 3);
}

#[test]
fn who_never_says_anything_is_closed_after_a_time() {
    let (_lobby, address) = lobby(Rules { idle: Duration::from_millis(10), ..rules() });
    assert_eq!(said(&mut guest(address)), b"");
}

#[test]
fn who_leaves_is_forgotten() {
    let (lobby, address) = lobby(Rules { ready: 0, ..rules() });
    drop(guest(address));
    let mut after = guest(address);
    after.write_all(b"x").unwrap();
    assert_eq!(said(&mut after), BUSY);
    assert_eq!(lobby.take_refused(), 1);
}

#[test]
fn who_leaves_takes_no_place_of_who_says_something() {
    let (lobby, address) = lobby(Rules { ready: 1, ..rules() });
    drop((0..50).map(|_| guest(address)).collect::<Vec<_>>());
    let mut after = guest(address);
    after.write_all(b"x").unwrap();
    let mut stream = TcpStream::from(let_in(&lobby, 1).pop().unwrap());
    stream.set_nonblocking(false).unwrap();
    let mut heard = [0; 1];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!((&heard, lobby.take_refused()), (b"x", 0));
}

#[test]
fn nobody_is_taken_once_it_is_closed() {
    let (lobby, address) = lobby(rules());
    let mut waiting = guest(address);
    drop(lobby);
    assert_eq!(said(&mut waiting), b"");
    assert!(TcpStream::connect(address).is_err());
}
