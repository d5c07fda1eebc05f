//! Accepts connections in a thread, and queues those that have sent data.
//!
//! The thread accepts connections from a listening socket, faster than a busy event loop. Those that
//! have sent data are ready: they wait in a short queue, which serves addresses in turn. If the queue
//! is full, the newest connection of the address with most is refused at once. A silent connection
//! costs one open file.

mod accept_loop;
mod descriptor;
mod ready;
#[cfg(test)]
mod tests;

use accept_loop::AcceptLoop;
pub use descriptor::take_descriptor;
use mio::Waker;
pub use ready::Address;
use ready::Ready;
use rustix::fd::OwnedFd;
use rustix::io::{read, retry_on_intr};
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The limits of an acceptor.
pub struct Limits {
    /// The most silent and active connections together. Beyond it, the oldest silent one is closed.
    pub connections: usize,
    /// The most ready connections in the queue.
    pub ready: usize,
    /// How long a connection may be silent.
    pub idle: Duration,
    /// The answer to refused connections, if it is not empty.
    pub busy: Vec<u8>,
    /// Whether all connections use TLS: one that does not begin with a handshake is closed.
    pub tls: bool,
}

/// An acceptor, which runs until it is dropped.
pub struct Acceptor {
    shared: Arc<Shared>,
    waker: Waker,
    notify_rx: UnixStream,
    thread: Option<JoinHandle<()>>,
}

/// State that both threads share.
#[derive(Default)]
struct Shared {
    active_connections: AtomicUsize,
    ready: Mutex<Ready>,
    refused: AtomicU64,
    closed: AtomicBool,
}

impl Shared {
    fn ready(&self) -> MutexGuard<'_, Ready> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Acceptor {
    /// Starts to accept connections at a listening socket, which is made non-blocking.
    pub fn open(listener: OwnedFd, limits: Limits) -> io::Result<Acceptor> {
        let (notify_rx, notify_tx) = UnixStream::pair()?;
        notify_rx.set_nonblocking(true)?;
        notify_tx.set_nonblocking(true)?;
        let shared = Arc::new(Shared::default());
        let (accept_loop, waker) =
            AcceptLoop::new(listener, limits, Arc::clone(&shared), notify_tx)?;
        let thread =
            thread::Builder::new().name("acceptor".into()).spawn(move || accept_loop.work())?;
        Ok(Acceptor { shared, waker, notify_rx, thread: Some(thread) })
    }

    /// Readable while connections are ready.
    pub fn notify_rx(&self) -> &UnixStream {
        &self.notify_rx
    }

    /// Takes at most `most` ready connections, serving addresses in turn.
    pub fn take_ready(&self, most: usize) -> Vec<(Address, OwnedFd)> {
        let mut ready = self.shared.ready();
        let connections = std::iter::from_fn(|| ready.pop()).take(most).collect();
        if ready.len() == 0 {
            // Drain the wake-up bytes under the lock so no notification is lost.
            let mut bytes = [0; 64];
            while matches!(retry_on_intr(|| read(&self.notify_rx, &mut bytes[..])), Ok(1..)) {}
        }
        connections
    }

    /// Sets how many accepted connections are still open.
    pub fn set_active_connections(&self, connections: usize) {
        self.shared.active_connections.store(connections, Ordering::Relaxed);
    }

    /// How many were refused since the last call.
    pub fn take_refused(&self) -> u64 {
        self.shared.refused.swap(0, Ordering::Relaxed)
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Release);
        // Without a wake-up the thread would only stop at its next event.
        if self.waker.wake().is_ok() {
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
        }
    }
}
