//! Accepts connections.

use super::conn::{Address, Conn};
use super::connection::{serve, Stream};
use super::Shared;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};

/// The pause when no more files may be open.
const NO_FILES: Duration = Duration::from_millis(50);

/// A listening socket.
pub enum Listener {
    /// For TCP.
    Tcp(TcpListener),
    /// A Unix socket.
    Unix(UnixListener),
}

impl Listener {
    async fn accept(&self) -> io::Result<(Stream, Address)> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                // Else the second packet of an answer would wait for an acknowledgement.
                let _ = stream.set_nodelay(true);
                Ok((Stream::Tcp(stream), host_of(peer.ip())))
            }
            Listener::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok((Stream::Unix(stream), 0))
            }
        }
    }
}

fn host_of(address: IpAddr) -> Address {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
    }
}

/// Accepts connections until the service stops.
pub async fn accept(shared: Arc<Shared>, listener: Listener) {
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                let conn = Conn::new(address, shared.start);
                tokio::spawn(serve(Arc::clone(&shared), stream, conn));
                if shared.connections.is_full() {
                    tokio::task::yield_now().await; // those that make room are closed first
                }
            }
            Err(error) if is_of_client(&error) => {}
            Err(_) => {
                shared.connections.make_room();
                tokio::time::sleep(NO_FILES).await;
            }
        }
    }
}

/// Whether an accept failed because the client has left already.
fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    [ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted].contains(&error.kind())
}
