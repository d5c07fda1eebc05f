//! Passes requests on to the application, over a private Unix socket.

use super::errors::ApiError;
use super::handler::{Asked, REQUEST_ID};
use super::Shared;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{
    HeaderMap, HeaderName, HeaderValue, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, RETRY_AFTER, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::sync::atomic::Ordering::Relaxed;
use tokio::net::UnixStream;

/// The header field with the name of a request's token, which only this server can set.
const TOKEN: &str = "x-birthmark-token";

/// The header fields with the scheme and the client of a request, which only this server can set.
const SCHEME: &str = "x-forwarded-proto";
const CLIENT: &str = "x-forwarded-for";

/// Header fields of one connection (RFC 9110 section 7.6.1), and of bodies that have come.
const NOT_FORWARDED: [HeaderName; 7] =
    [CONNECTION, CONTENT_LENGTH, EXPECT, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// The application's answer to a request.
pub async fn forward(shared: &Shared, asked: Asked) -> Result<Response<Bytes>, ApiError> {
    wait(shared).await?;
    let request = request(asked, shared.is_tls()).map_err(|_| ApiError::internal())?;
    let response = send(shared, request).await.map_err(|_| ApiError::internal())?;
    let (mut head, body) = response.into_parts();
    let body = body.collect().await.map_err(|_| ApiError::internal())?.to_bytes();
    let refused = head.status == StatusCode::SERVICE_UNAVAILABLE;
    if refused && head.headers.contains_key(RETRY_AFTER) {
        shared.metrics.shed.fetch_add(1, Relaxed);
    }
    let is_empty = body.is_empty();
    NOT_FORWARDED.iter().filter(|name| !(is_empty && **name == CONTENT_LENGTH)).for_each(|name| {
        head.headers.remove(name);
    });
    Ok(Response::from_parts(head, body))
}

/// Waits until the application listens, as after a start.
async fn wait(shared: &Shared) -> Result<(), ApiError> {
    let mut pages = shared.pages.subscribe();
    let listens = pages.wait_for(Option::is_some);
    let waited = tokio::time::timeout(shared.limits.timeout, listens).await;
    waited
        .map(drop)
        .map_err(|_| ApiError::overloaded(shared, "this part of the service is still starting"))
}

fn request(asked: Asked, is_tls: bool) -> hyper::http::Result<Request<Full<Bytes>>> {
    let Asked { mut head, id, token, body, .. } = asked;
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    let mut request = Request::builder().method(head.method).uri(target).body(Full::new(body))?;
    NOT_FORWARDED.iter().for_each(|name| {
        head.headers.remove(name);
    });
    let headers: &mut HeaderMap = &mut head.headers;
    headers.insert(REQUEST_ID, id);
    [TOKEN, CLIENT, SCHEME].iter().for_each(|name| drop(headers.remove(*name)));
    if is_tls {
        headers.insert(SCHEME, HeaderValue::from_static("https"));
    }
    if let Some(token) = token {
        headers.insert(TOKEN, HeaderValue::from_str(&token)?);
    }
    if !headers.contains_key(HOST) {
        headers.insert(HOST, HeaderValue::from_static("localhost"));
    }
    *request.headers_mut() = head.headers;
    Ok(request)
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

async fn send(
    shared: &Shared,
    request: Request<Full<Bytes>>,
) -> Result<Response<hyper::body::Incoming>, Failed> {
    let stream = UnixStream::connect(&shared.upstream).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender.send_request(request).await?)
}
