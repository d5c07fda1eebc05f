use super::{Acceptor, Limits, Ready};
use rustix::fd::OwnedFd;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

const BUSY: &[u8] = b"busy";
const PATIENCE: Duration = Duration::from_secs(20);

fn limits() -> Limits {
    Limits { connections: 100, ready: 10, idle: PATIENCE, busy: BUSY.to_vec(), tls: false }
}

fn acceptor(limits: Limits) -> (Acceptor, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (Acceptor::open(OwnedFd::from(listener), limits).unwrap(), address)
}

fn client(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Takes `many` ready connections.
fn take_ready(acceptor: &Acceptor, many: usize) -> Vec<OwnedFd> {
    let (mut sockets, end) = (Vec::new(), Instant::now() + PATIENCE);
    while sockets.len() < many {
        assert!(Instant::now() < end, "{} of {many} came", sockets.len());
        sockets.extend(
            acceptor.take_ready(many - sockets.len()).into_iter().map(|(_, socket)| socket),
        );
    }
    sockets
}

fn is_notified(acceptor: &Acceptor) -> bool {
    match rustix::net::recv(acceptor.notify_rx(), &mut [0; 1][..], rustix::net::RecvFlags::PEEK) {
        Ok((read, _)) => read > 0,
        Err(_) => false,
    }
}

fn received(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Ok(_) => all,
        Err(error) if error.kind() == ErrorKind::ConnectionReset => all,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_connection_that_has_sent_data_is_ready_with_all_of_it() {
    let (acceptor, address) = acceptor(limits());
    let _silent = client(address);
    let mut first = client(address);
    first.write_all(b"hello").unwrap();
    let mut stream = TcpStream::from(take_ready(&acceptor, 1).pop().unwrap());
    stream.set_nonblocking(false).unwrap();
    let mut bytes = [0; 5];
    stream.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"hello");
    stream.write_all(b"you").unwrap();
    drop(stream);
    assert_eq!(received(&mut first), b"you");
    assert!(acceptor.take_ready(10).is_empty());
    assert!(!is_notified(&acceptor));
}

#[test]
fn the_descriptor_is_readable_until_all_are_taken() {
    let (acceptor, address) = acceptor(limits());
    let clients: Vec<_> = (0..3).map(|_| client(address)).collect();
    for mut each in &clients {
        each.write_all(b"x").unwrap();
    }
    let first = take_ready(&acceptor, 2);
    let end = Instant::now() + PATIENCE;
    while !is_notified(&acceptor) {
        assert!(Instant::now() < end);
    }
    let last = take_ready(&acceptor, 1);
    assert!(!is_notified(&acceptor));
    assert_eq!(first.len() + last.len(), 3);
}

#[test]
fn connections_beyond_a_full_queue_are_refused_at_once_and_counted() {
    let (acceptor, address) = acceptor(limits());
    let mut clients: Vec<_> = (0..30).map(|_| client(address)).collect();
    for each in &mut clients {
        each.write_all(b"request").unwrap();
    }
    let end = Instant::now() + PATIENCE;
    let mut refused = 0;
    while refused < 20 {
        assert!(Instant::now() < end);
        refused += acceptor.take_refused();
    }
    assert_eq!((refused, acceptor.take_refused()), (20, 0));
    assert_eq!(take_ready(&acceptor, 10).len(), 10);
    let busy = clients.iter_mut().map(received).filter(|answer| answer == BUSY).count();
    assert_eq!(busy, 20);
}

#[test]
fn the_oldest_silent_connections_beyond_the_limit_are_closed() {
    let (acceptor, address) = acceptor(Limits { connections: 5, ..limits() });
    acceptor.set_active_connections(2);
    let mut clients: Vec<_> = (0..10).map(|_| client(address)).collect();
    for each in &mut clients[..7] {
        assert_eq!(received(each), b"");
    }
    for each in &mut clients[7..] {
        each.write_all(b"x").unwrap();
    }
    assert_eq!(take_ready(&acceptor, 3).len(), 3);
}

#[test]
fn with_tls_a_connection_that_begins_without_a_handshake_is_closed() {
    let (acceptor, address) = acceptor(Limits { tls: true, ..limits() });
    let (mut plain, mut tls) = (client(address), client(address));
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(received(&mut plain), b"");
    tls.write_all(&[22, 3, 1]).unwrap();
    assert_eq!((take_ready(&acceptor, 1).len(), acceptor.take_refused()), (1, 0));
}

#[test]
fn addresses_take_turns_and_the_one_with_most_makes_room() {
    let mut ready = Ready::default();
    let socket = || OwnedFd::from(TcpListener::bind("127.0.0.1:0").unwrap());
    (0..4).for_each(|_| ready.push(1, socket()));
    assert!(ready.make_room(1).is_none());
    assert!(ready.make_room(2).is_some());
    ready.push(2, socket());
    assert!(ready.make_room(2).is_some());
    ready.push(2, socket());
    assert!(ready.make_room(3).is_some() && ready.len() == 3);
    ready.push(3, socket());
    let order: Vec<_> = std::iter::from_fn(|| ready.pop()).map(|(address, _)| address).collect();
    assert_eq!((order.len(), ready.len()), (4, 0));
    assert!(order[..3].contains(&1) && order[..3].contains(&2) && order[..3].contains(&3));
}

#[test]
fn a_silent_connection_is_closed_after_a_time() {
    let (_acceptor, address) = acceptor(Limits { idle: Duration::from_millis(10), ..limits() });
    assert_eq!(received(&mut client(address)), b"");
}

#[test]
fn a_client_that_leaves_is_not_counted_as_refused() {
    let (acceptor, address) = acceptor(Limits { ready: 0, ..limits() });
    drop(client(address));
    let mut after = client(address);
    after.write_all(b"x").unwrap();
    assert_eq!(received(&mut after), BUSY);
    assert_eq!(acceptor.take_refused(), 1);
}

#[test]
fn clients_that_leave_do_not_fill_the_queue() {
    let (acceptor, address) = acceptor(Limits { ready: 1, ..limits() });
    drop((0..50).map(|_| client(address)).collect::<Vec<_>>());
    let mut after = client(address);
    after.write_all(b"x").unwrap();
    let mut stream = TcpStream::from(take_ready(&acceptor, 1).pop().unwrap());
    stream.set_nonblocking(false).unwrap();
    let mut bytes = [0; 1];
    stream.read_exact(&mut bytes).unwrap();
    assert_eq!((&bytes, acceptor.take_refused()), (b"x", 0));
}

#[test]
fn a_closed_acceptor_accepts_nobody() {
    let (acceptor, address) = acceptor(limits());
    let mut silent = client(address);
    drop(acceptor);
    assert_eq!(received(&mut silent), b"");
    assert!(TcpStream::connect(address).is_err());
}
