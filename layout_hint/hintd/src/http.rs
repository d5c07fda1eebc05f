//! Requests to the service, each with limits of time and size.

use std::future::Future;
use std::io;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes};
use hyper::client::conn::http1::{handshake, SendRequest};
use hyper::header::{HeaderMap, HeaderName, HeaderValue, AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::rt::{Read, Write};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, UnixStream};

use crate::address::Address;

/// Most bytes of the service's error messages to show.
const SHOWN: usize = 200;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// No connection.
    #[error("cannot connect: {0}")]
    Connect(#[from] io::Error),
    /// A connection that broke off, or no HTTP.
    #[error("the answer broke off: {0}")]
    Broken(#[from] hyper::Error),
    /// Nothing, or not all of it, in time.
    #[error("no whole answer within {0:?}")]
    Late(Duration),
    /// A body above the limit.
    #[error("expected an answer of at most {0} bytes, found more")]
    Large(usize),
    /// A status that is not among those expected.
    #[error("answered {0}: {1}")]
    Status(StatusCode, String),
}

/// A complete answer.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Answer {
    /// The error for an answer with an unexpected status.
    pub fn unexpected(&self) -> HttpError {
        let text = String::from_utf8_lossy(&self.body);
        HttpError::Status(self.status, text.chars().take(SHOWN).collect())
    }
}

/// A service, and the connection to it that stays open between requests.
pub struct Client {
    address: Address,
    limit: Duration,
    token: Option<HeaderValue>,
    open: Option<SendRequest<Full<Bytes>>>,
}

impl Client {
    /// The service at `address`, with a `token` to show; every request may take `limit`.
    pub fn new(address: Address, limit: Duration, token: Option<HeaderValue>) -> Self {
        Client { address, limit, token, open: None }
    }

    /// Requests `path`, with more headers, for a body of at most `largest` bytes; the service may
    /// take `patience` longer than usual.
    pub async fn get(
        &mut self,
        path: &str,
        headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>,
        largest: usize,
        patience: Duration,
    ) -> Result<Answer, HttpError> {
        let mut request = self.request(Method::GET, path, Bytes::new());
        request.headers_mut().extend(headers);
        self.send(request, largest, self.limit + patience).await
    }

    /// Sends JSON to `path`, for a body of at most `largest` bytes.
    pub async fn post(
        &mut self,
        path: &str,
        json: Vec<u8>,
        largest: usize,
    ) -> Result<Answer, HttpError> {
        let mut request = self.request(Method::POST, path, json.into());
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(CONTENT_TYPE, json);
        self.send(request, largest, self.limit).await
    }

    fn request(&self, method: Method, path: &str, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        // Both are checked with the settings; the service refuses wrong ones.
        *request.uri_mut() = path.parse().unwrap_or_default();
        if let Ok(host) = self.address.host().parse() {
            request.headers_mut().insert(HOST, host);
        }
        if let Some(token) = self.token.clone() {
            request.headers_mut().insert(AUTHORIZATION, token);
        }
        request
    }

    async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
        largest: usize,
        limit: Duration,
    ) -> Result<Answer, HttpError> {
        // Taken, so that an error, or dropping this future, leaves no connection half used.
        let open = self.open.take();
        let (address, body) = (&self.address, self.limit);
        let exchange = async {
            if let Some(mut connection) = open.filter(|connection| !connection.is_closed()) {
                // The service may close an idle connection at this moment. Requests are idempotent,
                // so repeat it.
                if let Ok(answer) = exchange(&mut connection, request.clone(), largest, body).await
                {
                    return Ok((answer, connection));
                }
            }
            let mut connection = connect(address).await?;
            let answer = exchange(&mut connection, request, largest, body).await?;
            Ok((answer, connection))
        };
        let (answer, connection) = within(limit, exchange).await?;
        self.open = Some(connection);
        Ok(answer)
    }
}

async fn within<T>(
    limit: Duration,
    work: impl Future<Output = Result<T, HttpError>>,
) -> Result<T, HttpError> {
    tokio::time::timeout(limit, work).await.unwrap_or(Err(HttpError::Late(limit)))
}

async fn connect(address: &Address) -> Result<SendRequest<Full<Bytes>>, HttpError> {
    match address {
        Address::Tcp(host, port) => {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            over(stream).await
        }
        Address::Unix(path) => over(UnixStream::connect(path).await?).await,
    }
}

async fn over<S>(stream: S) -> Result<SendRequest<Full<Bytes>>, HttpError>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + 'static,
    TokioIo<S>: Read + Write + Unpin,
{
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    // It ends when the sender is dropped; the sender gets its errors.
    tokio::spawn(connection);
    Ok(sender)
}

async fn exchange(
    connection: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
    largest: usize,
    limit: Duration,
) -> Result<Answer, HttpError> {
    connection.ready().await?;
    let (head, body) = connection.send_request(request).await?.into_parts();
    if body.size_hint().lower() > largest as u64 {
        return Err(HttpError::Large(largest));
    }
    // The patience covers only the head.
    let body = within(limit, async {
        match Limited::new(body, largest).collect().await {
            Ok(body) => Ok(body.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => Err(HttpError::Large(largest)),
            Err(error) => Err(broken(error)),
        }
    })
    .await?;
    Ok(Answer { status: head.status, headers: head.headers, body })
}

fn broken(error: Box<dyn std::error::Error + Send + Sync>) -> HttpError {
    match error.downcast::<hyper::Error>() {
        Ok(error) => HttpError::Broken(*error),
        Err(error) => HttpError::Connect(io::Error::other(error)),
    }
}
