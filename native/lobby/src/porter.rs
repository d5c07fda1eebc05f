//! The thread that takes connections.

use super::{Rules, Shared};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::{ioctl_fionbio, retry_on_intr, write, Errno};
use rustix::net::{accept_with, recv, send, RecvFlags, SendFlags, SocketFlags};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// What the poll tells of: the listening socket, the waker, then connections by number.
const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
const FIRST: usize = 2;

/// How many connections are taken before what others said is looked at.
const AT_ONCE: usize = 256;

/// Of what somebody said who is refused so much is read, so that closing loses no answer.
const READ: usize = 1 << 16;

/// How often those that have waited too long are looked for.
const LOOK: Duration = Duration::from_secs(1);

/// How long to wait where no more files may be open, and nobody is here who could be closed.
const NO_FILES: Duration = Duration::from_millis(50);

pub struct Porter {
    listener: OwnedFd,
    rules: Rules,
    shared: Arc<Shared>,
    rope: UnixStream,
    poll: Poll,
    /// Who waits, by when they came: their sockets, and since when.
    waiting: BTreeMap<usize, (OwnedFd, Instant)>,
    next: usize,
    scratch: Vec<u8>,
}

impl Porter {
    /// Also returns what wakes it.
    pub fn new(
        listener: OwnedFd,
        rules: Rules,
        shared: Arc<Shared>,
        rope: UnixStream,
    ) -> io::Result<(Porter, Waker)> {
        ioctl_fionbio(&listener, true)?;
        let poll = Poll::new()?;
        let source = listener.as_raw_fd();
        poll.registry().register(&mut SourceFd(&source), LISTENER, Interest::READABLE)?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let (waiting, scratch) = (BTreeMap::new(), vec![0; READ]);
        let porter = Porter { listener, rules, shared, rope, poll, waiting, next: FIRST, scratch };
        Ok((porter, waker))
    }

    /// Takes connections until the lobby is closed.
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
                    Token(number) => self.said_something(number),
                }
            }
            if more {
                more = self.take();
            }
            self.close_idle();
        }
    }

    /// Takes those who come; returns whether there may be more.
    fn take(&mut self) -> bool {
        for _ in 0..AT_ONCE {
            match accept_with(&self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => self.wait(socket),
                Err(Errno::AGAIN) => return false,
                Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) => {
                    if self.waiting.pop_first().is_none() {
                        thread::sleep(NO_FILES);
                    }
                    return true;
                }
                Err(_) => {} // it has left already
            }
        }
        true
    }

    fn wait(&mut self, socket: OwnedFd) {
        let inside = self.shared.inside.load(Ordering::Relaxed);
        while self.waiting.len() + inside >= self.rules.connections {
            if self.waiting.pop_first().is_none() {
                break; // inside somebody may be idle
            }
        }
        let (number, source) = (self.next, socket.as_raw_fd());
        let registry = self.poll.registry();
        if registry.register(&mut SourceFd(&source), Token(number), Interest::READABLE).is_ok() {
            self.waiting.insert(number, (socket, Instant::now()));
            self.next += 1;
        }
    }

    fn said_something(&mut self, number: usize) {
        let Some((socket, _)) = self.waiting.remove(&number) else { return };
        if has_left(&socket) {
            return;
        }
        if self.shared.ready().len() >= self.rules.ready {
            self.refuse(&socket);
            return;
        }
        let source = socket.as_raw_fd();
        if self.poll.registry().deregister(&mut SourceFd(&source)).is_err() {
            return;
        }
        let mut ready = self.shared.ready();
        ready.push_back(socket);
        if ready.len() == 1 {
            let _ = retry_on_intr(|| write(&self.rope, b"."));
        }
    }

    fn refuse(&mut self, socket: &OwnedFd) {
        if let Ok((1.., _)) = recv(socket, &mut self.scratch[..], RecvFlags::empty()) {
            let _ = send(socket, &self.rules.busy, SendFlags::NOSIGNAL);
            self.shared.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn close_idle(&mut self) {
        while let Some(first) = self.waiting.first_entry() {
            if first.get().1.elapsed() < self.rules.idle {
                return;
            }
            first.remove();
        }
    }
}

/// Whether somebody has left without a word, who would only take the place of others.
fn has_left(socket: &OwnedFd) -> bool {
    !matches!(recv(socket, &mut [0; 1][..], RecvFlags::PEEK), Ok((1.., _)))
}
