//! A connection's stream, between the system and hyper.

use super::budget::Reservation;
use super::conn::{Conn, Order, Phase};
use super::Shared;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::Arc;
use std::task::{ready, Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The place in the requests of a connection, which its handler and its stream share.
#[derive(Default)]
pub struct Turn {
    /// Requests begun since data was last read.
    pub pipelined: AtomicU64,
    /// Requests given to the handler, those that it has answered, and answers sent.
    pub begun: AtomicU64,
    pub answered: AtomicU64,
    pub sent: AtomicU64,
    /// Whether the last answer closes the connection.
    pub is_last: AtomicBool,
}

impl Turn {
    /// Whether every request that was given to the handler is answered, and its answer sent.
    pub fn is_over(&self) -> bool {
        self.begun.load(Relaxed) == self.sent.load(Relaxed)
    }
}

/// A stream that records what the connection is doing, for its limits of time.
///
/// hyper answers a head that it cannot parse by itself, without a body. Such an answer is the only
/// thing it writes while no request is in work; it is left out here, and the connection's task
/// writes an answer of the service's form in its place.
pub struct Gate<S> {
    stream: S,
    pub conn: Arc<Conn>,
    pub turn: Arc<Turn>,
    shared: Arc<Shared>,
    unread: Option<Reservation>,
}

impl<S: AsyncWrite + Unpin> Gate<S> {
    pub fn new(stream: S, conn: Arc<Conn>, turn: Arc<Turn>, shared: Arc<Shared>) -> Self {
        Gate { stream, conn, turn, shared, unread: None }
    }

    /// The stream without the gate.
    pub fn into_stream(self) -> S {
        self.stream
    }

    /// Records that the client does not read its answer; the rest of it counts as in transfer.
    fn block(&mut self) {
        if !self.conn.set_blocked(true) || self.unread.is_some() {
            return;
        }
        let revoked = Some((Arc::clone(&self.conn), Order::Abort));
        let unread = self.shared.budget.reservation(revoked);
        if unread.grow(self.conn.unsent()).is_err() {
            self.conn.order(Order::Abort);
        }
        self.unread = Some(unread);
    }

    fn written(&mut self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(count)) => {
                self.conn.count_sent(*count);
                self.conn.set_blocked(false);
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.block(),
        }
        written
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Gate<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let gate = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut gate.stream).poll_read(cx, buffer))?;
        if buffer.filled().len() > before {
            gate.turn.pipelined.store(0, Relaxed);
            if gate.conn.phase() == Phase::Idle {
                gate.conn.begin(Phase::Receiving);
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gate<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let gate = self.get_mut();
        if gate.turn.is_over() {
            return Poll::Ready(Ok(data.len()));
        }
        let written = Pin::new(&mut gate.stream).poll_write(cx, data);
        gate.written(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let gate = self.get_mut();
        if gate.turn.is_over() {
            return Poll::Ready(Ok(parts.iter().map(|part| part.len()).sum()));
        }
        let written = Pin::new(&mut gate.stream).poll_write_vectored(cx, parts);
        gate.written(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper flushes when its own buffer is empty: then the answer is sent.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let gate = self.get_mut();
        ready!(Pin::new(&mut gate.stream).poll_flush(cx))?;
        let answered = gate.turn.answered.load(Relaxed);
        if answered > gate.turn.sent.swap(answered, Relaxed) {
            gate.unread = None;
            gate.conn.begin(Phase::Idle);
        }
        Poll::Ready(Ok(()))
    }

    /// The connection's task closes the stream.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
