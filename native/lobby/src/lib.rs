//! Where connections wait until they say something.
//!
//! A thread of its own takes connections from a listening socket, faster than an event loop that
//! has answers to give. Who says something is let in, as long as few wait to be; who comes when many
//! do is told so at once, and who never says anything costs no more than an open file.

mod porter;
#[cfg(test)]
mod tests;

use mio::Waker;
use porter::Porter;
use rustix::fd::OwnedFd;
use rustix::io::{read, retry_on_intr};
use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What a lobby goes by.
pub struct Rules {
    /// How many connections there may be, of those that wait here and those that were let in. Of
    /// more, who has waited longest without a word is closed.
    pub connections: usize,
    /// How many that have said something may wait to be let in.
    pub ready: usize,
    /// How long one may wait without a word.
    pub idle: Duration,
    /// What others are sent before they are closed; nothing is sent where this is empty.
    pub busy: Vec<u8>,
}

/// A lobby, open until it is dropped.
pub struct Lobby {
    shared: Arc<Shared>,
    waker: Waker,
    bell: UnixStream,
    thread: Option<JoinHandle<()>>,
}

/// What both threads see.
#[derive(Default)]
struct Shared {
    inside: AtomicUsize,
    ready: Mutex<VecDeque<OwnedFd>>,
    refused: AtomicU64,
    closed: AtomicBool,
}

impl Shared {
    fn ready(&self) -> MutexGuard<'_, VecDeque<OwnedFd>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lobby {
    /// Opens a lobby behind a listening socket, which is made non-blocking.
    pub fn open(listener: OwnedFd, rules: Rules) -> io::Result<Lobby> {
        let (bell, rope) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        rope.set_nonblocking(true)?;
        let shared = Arc::new(Shared::default());
        let (porter, waker) = Porter::new(listener, rules, Arc::clone(&shared), rope)?;
        let thread = thread::Builder::new().name("lobby".into()).spawn(move || porter.work())?;
        Ok(Lobby { shared, waker, bell, thread: Some(thread) })
    }

    /// Readable while there is somebody to be let in.
    pub fn bell(&self) -> &UnixStream {
        &self.bell
    }

    /// Lets in at most so many: their sockets, who spoke first comes first.
    pub fn let_in(&self, most: usize) -> Vec<OwnedFd> {
        let mut ready = self.shared.ready();
        let most = most.min(ready.len());
        let taken = ready.drain(..most).collect();
        if ready.is_empty() {
            // Nothing is rung for while the lock is held, so that nobody is missed.
            let mut rings = [0; 64];
            while matches!(retry_on_intr(|| read(&self.bell, &mut rings[..])), Ok(1..)) {}
        }
        taken
    }

    /// Tells how many are inside, of those that were let in.
    pub fn inside(&self, connections: usize) {
        self.shared.inside.store(connections, Ordering::Relaxed);
    }

    /// How many were refused since this was asked last.
    pub fn take_refused(&self) -> u64 {
        self.shared.refused.swap(0, Ordering::Relaxed)
    }
}

impl Drop for Lobby {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
        // Without its waker it would only stop at what comes next.
        if self.waker.wake().is_ok() {
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
        }
    }
}
