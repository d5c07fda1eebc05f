//! Serves an accepted connection until it ends.

use super::conn::{Conn, Order, Phase};
use super::connections::take_seat;
use super::errors::ApiError;
use super::gate::{Gate, Turn};
use super::handler::{refusal, Handler, FIELDS, HEAD_BYTES};
use super::Shared;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustix::net::{recv, RecvFlags};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::select;
use tokio_rustls::TlsAcceptor;

/// Bytes read from a refused connection: closing with unread data would discard the answer.
const READ: usize = 1 << 16;

/// The type of a TLS record that begins a handshake (RFC 8446 section 5.1).
const TLS_HANDSHAKE: u8 = 22;

const READABLE: Interest = Interest::READABLE;

/// How long the end of a connection may take.
const CLOSE_TIME: Duration = Duration::from_secs(1);

/// An accepted stream.
pub enum Stream {
    /// Over TCP.
    Tcp(TcpStream),
    /// Over a Unix socket.
    Unix(UnixStream),
}

impl Stream {
    /// The first byte that was sent; None if the client has left.
    async fn first_byte(&self) -> io::Result<Option<u8>> {
        let mut first = [0];
        let mut peek =
            |descriptor: BorrowedFd<'_>| Ok(recv(descriptor, &mut first[..], RecvFlags::PEEK)?.0);
        let count = match self {
            Stream::Tcp(stream) => stream.async_io(READABLE, || peek(stream.as_fd())).await?,
            Stream::Unix(stream) => stream.async_io(READABLE, || peek(stream.as_fd())).await?,
        };
        Ok((count > 0).then_some(first[0]))
    }

    fn local(&self) -> Option<IpAddr> {
        match self {
            Stream::Tcp(stream) => Some(stream.local_addr().ok()?.ip().to_canonical()),
            Stream::Unix(_) => None,
        }
    }

    /// Writes the answer to a request that is not read.
    async fn refuse(self, answer: &[u8]) {
        let mut unread = vec![0; READ];
        match self {
            Stream::Tcp(stream) if stream.try_read(&mut unread).is_ok_and(|count| count > 0) => {
                let _ = stream.try_write(answer);
            }
            Stream::Unix(stream) if stream.try_read(&mut unread).is_ok_and(|count| count > 0) => {
                let _ = stream.try_write(answer);
            }
            _ => {}
        }
    }
}

/// Serves an accepted connection.
pub async fn serve(shared: Arc<Shared>, stream: Stream, conn: Conn) {
    let conn = Arc::new(conn);
    let Some(_seat) = take_seat(&shared, &conn) else {
        shared.metrics.shed.fetch_add(1, Relaxed);
        return stream.refuse(&shared.busy).await;
    };
    let Some(first) = first_byte(&stream, &conn).await else { return };
    let local = stream.local();
    if let Some(acceptor) = shared.tls_acceptor() {
        if first != TLS_HANDSHAKE {
            return;
        }
        return Box::pin(over_tls(shared, acceptor, stream, conn, local)).await;
    }
    if shared.requests.is_full(conn.address) {
        shared.metrics.shed.fetch_add(1, Relaxed);
        return stream.refuse(&shared.busy).await;
    }
    conn.begin(Phase::Receiving);
    // In a box, so that a silent connection does not take the memory of one with requests.
    match stream {
        Stream::Tcp(stream) => Box::pin(requests(shared, stream, conn, local)).await,
        Stream::Unix(stream) => Box::pin(requests(shared, stream, conn, local)).await,
    }
}

/// Waits for the first byte of a connection; None if it is to end before.
async fn first_byte(stream: &Stream, conn: &Conn) -> Option<u8> {
    select! {
        first = stream.first_byte() => first.ok().flatten(),
        () = conn.wake.notified() => None,
    }
}

async fn over_tls(
    shared: Arc<Shared>,
    acceptor: TlsAcceptor,
    stream: Stream,
    conn: Arc<Conn>,
    local: Option<IpAddr>,
) {
    let Stream::Tcp(stream) = stream else { return };
    shared.connections.begin_handshake(&conn);
    let done = select! {
        done = acceptor.accept(stream) => done.ok(),
        () = conn.wake.notified() => None,
    };
    shared.connections.end_handshake(&conn);
    if let Some(stream) = done {
        conn.begin(Phase::Idle);
        Box::pin(requests(shared, stream, conn, local)).await;
    }
}

/// Serves the requests of a connection.
async fn requests<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    shared: Arc<Shared>,
    stream: S,
    conn: Arc<Conn>,
    local: Option<IpAddr>,
) {
    let turn = Arc::new(Turn::default());
    let gate = Gate::new(stream, Arc::clone(&conn), Arc::clone(&turn), Arc::clone(&shared));
    let handler = Arc::new(Handler {
        shared: Arc::clone(&shared),
        conn: Arc::clone(&conn),
        turn: Arc::clone(&turn),
        local,
    });
    let service = service_fn(move |request| Box::pin(Arc::clone(&handler).handle(request)));
    let mut builder = http1::Builder::new();
    builder.max_headers(FIELDS).max_buf_size(HEAD_BYTES).header_read_timeout(None);
    let mut http = builder.serve_connection(TokioIo::new(gate), service);
    let ended = loop {
        select! {
            biased;
            ended = &mut http => break Some(ended),
            () = conn.wake.notified() => match conn.ordered() {
                Order::Finish => std::pin::Pin::new(&mut http).graceful_shutdown(),
                Order::Abort => return,
                // The handler refuses a request whose body it reads; hyper polls it now.
                _ if conn.is_reading_body() => {}
                _ => break None,
            },
        }
    };
    let stream = http.into_parts().io.into_inner().into_stream();
    let is_clean = turn.is_over() && !turn.is_last.load(Relaxed) && !conn.is_discarding();
    let error = match ended {
        Some(Ok(())) => None,
        Some(Err(error)) if is_clean => refused_head(&error),
        None if is_clean => refusal(&shared, conn.ordered()),
        _ => None,
    };
    close(stream, error).await;
}

/// The error for a head that hyper cannot parse.
fn refused_head(error: &hyper::Error) -> Option<ApiError> {
    if error.is_parse_too_large() {
        let what = format!("expected a head of at most {HEAD_BYTES} bytes, and {FIELDS} fields");
        return Some(ApiError::too_large(what));
    }
    error.is_parse().then(|| ApiError::invalid_http("expected an HTTP request"))
}

/// Writes a refusal, if any, and closes a stream.
async fn close<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, error: Option<ApiError>) {
    let closing = async {
        if let Some(error) = error {
            stream.write_all(&error.raw(true)).await?;
        }
        stream.shutdown().await?;
        // Closing with unread data would discard the answer.
        let mut unread = vec![0; READ];
        while stream.read(&mut unread).await? > 0 {}
        io::Result::Ok(())
    };
    let _ = tokio::time::timeout(CLOSE_TIME, closing).await;
}
