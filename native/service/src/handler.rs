//! Handles the requests of a connection: checks, body, answer.

use super::conn::{Conn, Order, Phase};
use super::errors::ApiError;
use super::gate::Turn;
use super::metrics::Line;
use super::{hosts, routes, Shared};
use http_body_util::Full;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{
    HeaderMap, HeaderValue, CONNECTION, CONTENT_LENGTH, EXPECT, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response};
use percent_encoding::percent_decode_str;
use std::convert::Infallible;
use std::error::Error;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

/// Pipelined requests that may wait on one connection, of those that were read at once.
const PIPELINED: u64 = 64;

/// The most header fields of a request, and the most trailer fields.
pub const FIELDS: usize = 100;

/// The longest head of a request (request line and header fields), bytes.
pub const HEAD_BYTES: usize = 16 * 1024;

/// The header field with a request's id.
pub const REQUEST_ID: &str = "x-request-id";

/// The longest id of a request.
const ID_BYTES: usize = 64;

/// Handles the requests of one connection.
pub struct Handler {
    /// The service.
    pub shared: Arc<Shared>,
    /// The connection.
    pub conn: Arc<Conn>,
    /// Its place in its requests.
    pub turn: Arc<Turn>,
    /// The address that the client connected to; None for a Unix socket.
    pub local: Option<IpAddr>,
}

/// A checked request with its body.
pub struct Asked {
    /// The head.
    pub head: Parts,
    /// Its path, decoded.
    pub path: String,
    /// Its id.
    pub id: HeaderValue,
    /// The name of its token, if requests need one.
    pub token: Option<String>,
    /// The whole body.
    pub body: Bytes,
}

impl Handler {
    /// Answers a request.
    pub async fn handle(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let came = Instant::now();
        self.turn.begun.fetch_add(1, Relaxed);
        match self.conn.phase() {
            Phase::Receiving => self.conn.continue_as(Phase::Answering),
            _ => self.conn.begin(Phase::Answering), // it was read with the request before it
        }
        let (head, mut body) = request.into_parts();
        let path = percent_decode_str(head.uri.path()).decode_utf8_lossy().into_owned();
        let (id, route) = (self.id_of(&head.headers), self.shared.metrics.route(&path));
        let line = self.shared.metrics.logs_access().then(|| Line::new(&head, &path, &id));
        let (wants_page, expects) = (wants_page(&head), head.headers.contains_key(EXPECT));
        let asked = Asked { head, path, id: id.clone(), token: None, body: Bytes::new() };
        let answer = self.answer(asked, &mut body).await;
        let mut closes = answer.as_ref().is_err_and(|error| error.closes);
        let mut response =
            answer.unwrap_or_else(|error| self.shared.error_response(&error, wants_page));
        // Who waits for a 100 may never send the body; others have sent some of it already.
        if !closes && !body.is_end_stream() {
            match expects {
                true => closes = true,
                false => self.discard(body),
            }
        }
        self.complete(&mut response, id, closes);
        let (status, bytes) = (response.status().as_u16(), response.body().len());
        let time = came.elapsed();
        self.shared.metrics.count(route, status, time);
        if let Some(line) = line {
            let seconds = time.as_secs_f64();
            self.shared.metrics.note(route, Line { status, seconds, bytes, ..line });
        }
        self.conn.set_unsent(bytes);
        self.turn.is_last.store(closes, Relaxed);
        self.conn.begin(Phase::Answering);
        self.turn.answered.fetch_add(1, Relaxed);
        Ok(response.map(Full::new))
    }

    /// The answer to a request that passes all checks.
    async fn answer(
        &self,
        mut asked: Asked,
        body: &mut Incoming,
    ) -> Result<Response<Bytes>, ApiError> {
        self.check_head(&asked.head)?;
        let is_first = self.turn.begun.load(Relaxed) == 1;
        self.shared.requests.wait(&self.shared, self.conn.address, is_first).await?;
        let Parts { method, headers, .. } = &asked.head;
        asked.token = self.shared.access.check(method, &asked.path, headers, self.local)?;
        let length = self.check_length(&asked.head.headers)?;
        asked.body = self.read_body(body, length).await?;
        self.conn.begin(Phase::Answering);
        routes::answer(&self.shared, asked).await
    }

    /// Refuses a request by its head alone, and what comes after it.
    fn check_head(&self, head: &Parts) -> Result<(), ApiError> {
        hosts::check(head.version, &head.headers)?;
        if head.method == Method::CONNECT {
            let error = ApiError::method_not_allowed("this is no proxy", "GET, HEAD, POST, PUT");
            return Err(error.closing());
        }
        let field = |(name, value): (&hyper::header::HeaderName, &HeaderValue)| {
            name.as_str().len() + value.len()
        };
        let size: usize = head.headers.iter().map(field).sum();
        let target = head.uri.path_and_query().map_or(0, |target| target.as_str().len());
        if size + target > HEAD_BYTES {
            let what = format!("expected a head of at most {HEAD_BYTES} bytes");
            return Err(ApiError::too_large(what));
        }
        if self.turn.pipelined.fetch_add(1, Relaxed) > PIPELINED {
            let what = format!("{PIPELINED} requests wait on this connection");
            return Err(ApiError::overloaded(&self.shared, what).closing());
        }
        Ok(())
    }

    /// The declared length of the body, at most that of the largest; 0 without one.
    fn check_length(&self, headers: &HeaderMap) -> Result<usize, ApiError> {
        let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        let length = length.map_or(0, |length| length.parse().unwrap_or(usize::MAX));
        match length > self.shared.limits.max_body_bytes {
            true => Err(self.too_large()),
            false => Ok(length),
        }
    }

    fn too_large(&self) -> ApiError {
        let most = self.shared.limits.max_body_bytes;
        ApiError::new("body_too_large", 413, format!("expected a body of at most {most} bytes"))
    }

    /// The whole body; its bytes are reserved as they come, unless they come at once.
    async fn read_body(&self, body: &mut Incoming, length: usize) -> Result<Bytes, ApiError> {
        if body.is_end_stream() {
            return Ok(Bytes::new());
        }
        self.conn.set_reading_body(true);
        self.conn.continue_as(Phase::Receiving);
        let whole = self.collect(body, length).await;
        self.conn.set_reading_body(false);
        whole
    }

    async fn collect(&self, body: &mut Incoming, length: usize) -> Result<Bytes, ApiError> {
        let most = self.shared.limits.max_body_bytes;
        let Some(first) = self.next(body).await? else { return Ok(Bytes::new()) };
        if body.is_end_stream() {
            return if first.len() > most { Err(self.too_large()) } else { Ok(first) };
        }
        let revoked = Some((Arc::clone(&self.conn), Order::Outrun));
        let reservation = self.shared.budget.reservation(revoked);
        let (mut whole, mut next) = (Vec::new(), Some(first));
        // Growing by doubling would take three times the memory. The system may refuse the whole.
        whole.try_reserve_exact(length).map_err(|_| self.budget_full())?;
        while let Some(data) = next {
            reservation.grow(data.len()).map_err(|_| self.budget_full())?;
            whole.extend_from_slice(&data);
            if whole.len() > most {
                return Err(self.too_large());
            }
            next = self.next(body).await?;
        }
        Ok(whole.into())
    }

    fn budget_full(&self) -> ApiError {
        let what = "other bodies and answers in transfer use the whole budget";
        ApiError::overloaded(&self.shared, what).closing()
    }

    /// The next part of a body; None at its end.
    async fn next(&self, body: &mut Incoming) -> Result<Option<Bytes>, ApiError> {
        poll_fn(|cx| {
            if let Some(error) = refusal(&self.shared, self.conn.ordered()) {
                return Poll::Ready(Err(error));
            }
            loop {
                match Pin::new(&mut *body).poll_frame(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(None) => return Poll::Ready(Ok(None)),
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(body_error(&error))),
                    Poll::Ready(Some(Ok(frame))) => {
                        // Trailer fields are ignored (RFC 9110 section 6.5.1).
                        if let Ok(data) = frame.into_data() {
                            return Poll::Ready(Ok(Some(data)));
                        }
                    }
                }
            }
        })
        .await
    }

    /// Reads the rest of an answered request's body, so that it is not taken for requests.
    fn discard(&self, mut body: Incoming) {
        let conn = Arc::clone(&self.conn);
        conn.set_discarding(true);
        tokio::spawn(async move {
            let ended = |frame: &Option<Result<_, hyper::Error>>| !matches!(frame, Some(Ok(_)));
            while !ended(&poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await) {}
            conn.set_discarding(false);
        });
    }

    fn complete(&self, response: &mut Response<Bytes>, id: HeaderValue, closes: bool) {
        let headers = response.headers_mut();
        headers.insert(REQUEST_ID, id);
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if closes || *self.shared.stopping.borrow() {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }

    /// The id in a request's header fields if it is valid, else a new one.
    fn id_of(&self, headers: &HeaderMap) -> HeaderValue {
        let valid = |byte: &u8| byte.is_ascii_alphanumeric() || b"._:+/=-".contains(byte);
        let is_valid = |id: &&HeaderValue| {
            let id = id.as_bytes();
            (1..=ID_BYTES).contains(&id.len()) && id.iter().all(valid)
        };
        match headers.get_all(REQUEST_ID).iter().find(is_valid) {
            Some(id) => id.clone(),
            None => self.shared.new_id(),
        }
    }
}

/// The refusal that an order asks for, if it does.
pub fn refusal(shared: &Shared, order: Order) -> Option<ApiError> {
    match order {
        Order::TooSlow => {
            let limit = shared.limits.timeout.as_secs_f64();
            let what = format!("expected the whole request within {limit:?} s");
            Some(ApiError::new("too_slow", 408, what).closing())
        }
        Order::Displaced => {
            let what = "the limit of connections is reached, and others came";
            Some(ApiError::overloaded(shared, what).closing())
        }
        Order::Outrun => {
            Some(ApiError::overloaded(shared, "others sent their bodies faster").closing())
        }
        _ => None,
    }
}

/// The error of a body that hyper cannot read.
fn body_error(error: &hyper::Error) -> ApiError {
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    if ["over limit", "trailers count", "too many"].iter().any(|limit| cause.contains(limit)) {
        return ApiError::too_large(format!("expected a trailer of at most {HEAD_BYTES} bytes"));
    }
    if error.is_incomplete_message() {
        let what = "the client left before its request was complete";
        return ApiError::new("disconnected", 400, what).closing();
    }
    ApiError::invalid_http("expected an HTTP request")
}

/// Whether a request wants a page: a browser navigates.
fn wants_page(head: &Parts) -> bool {
    let is_html =
        |value: &HeaderValue| value.as_bytes().windows(9).any(|part| part == b"text/html");
    [Method::GET, Method::HEAD].contains(&head.method)
        && head.headers.get_all(hyper::header::ACCEPT).iter().any(is_html)
}
