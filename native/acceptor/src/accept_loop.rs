//! The thread that accepts connections.

use super::ready::{host_of, Address};
use super::{Limits, Shared};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::{ioctl_fionbio, retry_on_intr, write, Errno};
use rustix::net::{acceptfrom_with, recv, send, RecvFlags, SendFlags, SocketFlags};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Tokens of the poll: the listening socket, the waker, then connections by number.
const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
const FIRST: usize = 2;

/// Connections accepted before the events of others are handled.
const AT_ONCE: usize = 256;

/// Bytes read from a refused connection: closing with unread data would discard the answer.
const READ: usize = 1 << 16;

/// The type of a TLS record that begins a handshake (RFC 8446 section 5.1).
const TLS_HANDSHAKE: u8 = 22;

/// The interval at which idle connections are closed.
const LOOK: Duration = Duration::from_secs(1);

/// The pause when no more files may be open, and no silent connection can be closed.
const NO_FILES: Duration = Duration::from_millis(50);

pub struct AcceptLoop {
    listener: OwnedFd,
    limits: Limits,
    shared: Arc<Shared>,
    notify_tx: UnixStream,
    poll: Poll,
    /// Connections that have sent nothing yet, oldest first.
    silent: BTreeMap<usize, Silent>,
    next: usize,
    scratch: Vec<u8>,
}

struct Silent {
    socket: OwnedFd,
    address: Address,
    since: Instant,
}

impl AcceptLoop {
    /// Also returns its waker.
    pub fn new(
        listener: OwnedFd,
        limits: Limits,
        shared: Arc<Shared>,
        notify_tx: UnixStream,
    ) -> io::Result<(AcceptLoop, Waker)> {
        ioctl_fionbio(&listener, true)?;
        let poll = Poll::new()?;
        let source = listener.as_raw_fd();
        poll.registry().register(&mut SourceFd(&source), LISTENER, Interest::READABLE)?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let (silent, scratch) = (BTreeMap::new(), vec![0; READ]);
        let accept_loop =
            AcceptLoop { listener, limits, shared, notify_tx, poll, silent, next: FIRST, scratch };
        Ok((accept_loop, waker))
    }

    /// Accepts connections until the acceptor is closed.
    pub fn work(mut self) {
        let mut events = Events::with_capacity(1024);
        let mut more = false;
        loop {
            let pause = if more { Some(Duration::ZERO) } else { Some(LOOK) };
            if let Err(error) = self.poll.poll(&mut events, pause) {
                if error.kind() != io::ErrorKind::Interrupted {
                    return;
                }
            }
            if self.shared.closed.load(Ordering::Acquire) {
                return;
            }
            for event in &events {
                match event.token() {
                    LISTENER => more = true,
                    WAKER => {}
                    Token(number) => self.on_readable(number),
                }
            }
            if more {
                more = self.accept();
            }
            self.close_idle();
        }
    }

    /// Accepts pending connections; returns whether there may be more.
    fn accept(&mut self) -> bool {
        for _ in 0..AT_ONCE {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            match acceptfrom_with(&self.listener, flags) {
                Ok((socket, peer)) => self.watch(socket, host_of(peer)),
                Err(Errno::AGAIN) => return false,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    if self.silent.pop_first().is_none() {
                        thread::sleep(NO_FILES);
                    }
                    return true;
                }
                Err(_) => {} // the client has left already
            }
        }
        true
    }

    fn watch(&mut self, socket: OwnedFd, address: Address) {
        let active = self.shared.active_connections.load(Ordering::Relaxed);
        while self.silent.len() + active >= self.limits.connections {
            if self.silent.pop_first().is_none() {
                break; // an active connection may be idle
            }
        }
        let (number, source) = (self.next, socket.as_raw_fd());
        let registry = self.poll.registry();
        if registry.register(&mut SourceFd(&source), Token(number), Interest::READABLE).is_ok() {
            self.silent.insert(number, Silent { socket, address, since: Instant::now() });
            self.next += 1;
        }
    }

    fn on_readable(&mut self, number: usize) {
        let Some(Silent { socket, address, .. }) = self.silent.remove(&number) else { return };
        if !first_byte(&socket).is_some_and(|first| !self.limits.tls || first == TLS_HANDSHAKE) {
            return;
        }
        let source = socket.as_raw_fd();
        if self.poll.registry().deregister(&mut SourceFd(&source)).is_err() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let mut ready = shared.ready();
        if ready.len() >= self.limits.ready {
            match ready.make_room(address) {
                Some(other) => self.refuse(&other),
                None => return self.refuse(&socket),
            }
        }
        ready.push(address, socket);
        if ready.len() == 1 {
            let _ = retry_on_intr(|| write(&self.notify_tx, b"."));
        }
    }

    fn refuse(&mut self, socket: &OwnedFd) {
        if let Ok((1.., _)) = recv(socket, &mut self.scratch[..], RecvFlags::empty()) {
            let _ = send(socket, &self.limits.busy, SendFlags::NOSIGNAL);
            self.shared.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn close_idle(&mut self) {
        while let Some(first) = self.silent.first_entry() {
            if first.get().since.elapsed() < self.limits.idle {
                return;
            }
            first.remove();
        }
    }
}

/// The first byte that was sent; None if the client has left.
fn first_byte(socket: &OwnedFd) -> Option<u8> {
    let mut first = [0; 1];
    matches!(recv(socket, &mut first[..], RecvFlags::PEEK), Ok((1.., _))).then_some(first[0])
}
