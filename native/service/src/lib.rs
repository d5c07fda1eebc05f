//! The HTTP server of the service.
//!
//! Threads of one process accept connections, keep the limits of `docs/serving.md`, check access, and
//! answer predictions and hints from images. They need no interpreter. All other requests are passed
//! on, after the same checks, to an application that listens at a private Unix socket.

mod accept;
mod access;
mod budget;
mod conn;
mod connection;
mod connections;
mod descriptor;
mod errors;
mod gate;
mod handler;
mod hosts;
mod log;
mod metrics;
mod routes;
#[cfg(test)]
mod tests;
mod tls;
mod upstream;
mod waiting;

use accept::Listener;
use access::Access;
pub use access::{PathAccess, Token, Tokens};
use birthmark_answer::Answerer;
use budget::Budget;
use conn::Order;
use connections::Connections;
pub use descriptor::take_descriptor;
use errors::ApiError;
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use hyper::Response;
use log::Log;
pub use log::{Answered, Entry};
use metrics::Metrics;
pub use metrics::{Line, Timed};
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;
use waiting::{Requests, ADDRESSES};

/// The interval at which the end of open connections is looked for as the service stops.
const LOOK: Duration = Duration::from_millis(20);

/// The most threads for large bodies. Each keeps some of the memory that it took for its last ones.
const BLOCKING_THREADS: usize = 2;

/// The limits of a service (`serving/settings.py`).
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Requests in work, and as many of an address waiting.
    pub max_requests: usize,
    /// Open connections.
    pub max_connections: usize,
    /// The largest body.
    pub max_body_bytes: usize,
    /// The byte budget of transfers, in bodies of the largest size.
    pub bodies: usize,
    /// The longest wait of a request.
    pub queue: Duration,
    /// The time to send a request, and to take an answer.
    pub timeout: Duration,
    /// The time until an idle connection is closed.
    pub idle: Duration,
}

/// A page for an error: header fields and HTML.
#[derive(Clone, Debug)]
pub struct Page {
    /// The header fields.
    pub headers: Vec<(String, String)>,
    /// The HTML.
    pub html: Vec<u8>,
}

/// Pages for errors, by type; the page `""` is for all others.
pub type Pages = HashMap<String, Page>;

/// What a service is made of.
pub struct Config {
    /// The number of threads.
    pub threads: usize,
    /// The limits.
    pub limits: Limits,
    /// What paths need.
    pub paths: HashMap<String, PathAccess>,
    /// Further names of this service.
    pub known_hosts: Vec<String>,
    /// Whether requests need tokens.
    pub with_tokens: bool,
    /// The routes of metrics, and the bounds of their histograms.
    pub routes: HashSet<String>,
    /// Upper bounds, seconds.
    pub bounds: Vec<f64>,
    /// Whether each request is logged.
    pub access_log: bool,
    /// The share of requests for the prediction log, if there is one.
    pub log_share: Option<f64>,
    /// Where the application listens.
    pub upstream: PathBuf,
    /// The message while there is no model.
    pub no_model: String,
    /// The beginning of requests' ids.
    pub process: String,
    /// A certificate and its key as PEM, for TLS.
    pub certificate: Option<(Vec<u8>, Vec<u8>)>,
}

/// A model that answers.
pub struct Model {
    /// A number that the application knows it by.
    pub number: u64,
    /// Its version.
    pub version: String,
    /// The answerer of predictions.
    pub answerer: Arc<Answerer>,
    /// The hints, if it has learned any.
    pub hints: Option<Hints>,
}

/// The hints of a model.
pub struct Hints {
    /// The answerer of hints.
    pub answerer: Arc<Answerer>,
    /// The image for kernels.
    pub image: Bytes,
    /// Its strong entity tag (RFC 9110 section 8.8.3).
    pub etag: String,
}

impl Hints {
    /// Hints with an image and its tag.
    pub fn new(answerer: Arc<Answerer>, image: Vec<u8>, etag: String) -> Hints {
        Hints { answerer, image: image.into(), etag }
    }
}

/// The state that all connections share.
struct Shared {
    start: Instant,
    limits: Limits,
    access: Access,
    metrics: Metrics,
    log: Log,
    budget: Arc<Budget>,
    connections: Connections,
    requests: Requests,
    model: watch::Sender<Option<Arc<Model>>>,
    no_model: String,
    upstream: PathBuf,
    /// Pages for errors, once the application listens.
    pages: watch::Sender<Option<Pages>>,
    process: String,
    numbers: AtomicU64,
    /// The answer to a connection that is not served.
    busy: Vec<u8>,
    tls: Option<RwLock<Arc<ServerConfig>>>,
    stopping: watch::Sender<bool>,
}

impl Shared {
    fn new(config: Config) -> Result<Shared, String> {
        let Config { limits, certificate, .. } = config;
        let certificate = certificate.map(|(chain, key)| tls::config(&chain, &key));
        let requests = Requests::new(limits.max_requests);
        let busy = errors::overloaded(requests.full()).raw(true);
        let most_handshakes = ADDRESSES * limits.max_requests;
        Ok(Shared {
            start: Instant::now(),
            limits,
            access: Access::new(config.paths, config.known_hosts, config.with_tokens),
            metrics: Metrics::new(config.routes, config.bounds, config.access_log),
            log: Log::new(config.log_share),
            budget: Budget::new(limits.bodies.saturating_mul(limits.max_body_bytes)),
            connections: Connections::new(limits.max_connections, most_handshakes),
            requests,
            model: watch::Sender::new(None),
            no_model: config.no_model,
            upstream: config.upstream,
            pages: watch::Sender::new(None),
            process: config.process,
            numbers: AtomicU64::new(1),
            busy,
            tls: certificate.transpose()?.map(RwLock::new),
            stopping: watch::Sender::new(false),
        })
    }

    fn model(&self) -> Result<Arc<Model>, ApiError> {
        let model = self.model.borrow().clone();
        model.ok_or_else(|| ApiError::new("no_model", 503, &*self.no_model))
    }

    /// Waits until another model answers, or the service stops.
    async fn until_changed(&self, current: &Arc<Model>) {
        let (mut models, mut stopping) = (self.model.subscribe(), self.stopping.subscribe());
        let same = |model: &Arc<Model>| {
            let etag = |model: &Arc<Model>| model.hints.as_ref().map(|hints| hints.etag.clone());
            etag(model) == etag(current)
        };
        tokio::select! {
            _ = models.wait_for(|model| model.as_ref().is_some_and(|model| !same(model))) => {}
            _ = stopping.wait_for(|stopping| *stopping) => {}
        }
    }

    fn new_id(&self) -> HeaderValue {
        let id = format!("{}-{:x}", self.process, self.numbers.fetch_add(1, Relaxed));
        HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("0"))
    }

    fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    fn tls_acceptor(&self) -> Option<TlsAcceptor> {
        let config = self.tls.as_ref()?.read().unwrap_or_else(PoisonError::into_inner);
        Some(TlsAcceptor::from(Arc::clone(&config)))
    }

    /// The response for an error, a page if a browser wants one.
    fn error_response(&self, error: &ApiError, wants_page: bool) -> Response<Bytes> {
        let pages = self.pages.borrow();
        let page = pages.as_ref().filter(|_| wants_page);
        let page = page.and_then(|pages| pages.get(error.kind).or_else(|| pages.get("")));
        let Some(page) = page else { return error.response() };
        let mut response = Response::new(Bytes::copy_from_slice(&page.html));
        error.complete(&mut response, HeaderValue::from_static("text/html; charset=utf-8"));
        for (name, value) in &page.headers {
            let name = HeaderName::try_from(name.as_str());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value.as_str())) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

/// A service that runs until it is stopped or dropped.
pub struct Service {
    shared: Arc<Shared>,
    runtime: Mutex<Option<Runtime>>,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

impl Service {
    /// A service that does not accept connections yet.
    ///
    /// # Errors
    ///
    /// If threads cannot be started, or the certificate is invalid.
    pub fn new(config: Config) -> io::Result<Service> {
        let mut builder = Builder::new_multi_thread();
        let threads = config.threads.max(1);
        builder.worker_threads(threads).max_blocking_threads(threads.min(BLOCKING_THREADS));
        let runtime = builder.thread_name("service").enable_all().build()?;
        let shared = Arc::new(Shared::new(config).map_err(io::Error::other)?);
        runtime.spawn(connections::watch(Arc::clone(&shared)));
        Ok(Service { shared, runtime: Mutex::new(Some(runtime)), accepting: Mutex::new(None) })
    }

    /// Accepts connections at a listening socket, of TCP or Unix.
    ///
    /// # Errors
    ///
    /// If the socket is no listening one.
    pub fn accept(&self, listener: OwnedFd, is_unix: bool) -> io::Result<()> {
        let runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(runtime) = runtime.as_ref() else { return Ok(()) };
        let _entered = runtime.enter();
        let listener = match is_unix {
            true => {
                let listener = std::os::unix::net::UnixListener::from(listener);
                listener.set_nonblocking(true)?;
                Listener::Unix(tokio::net::UnixListener::from_std(listener)?)
            }
            false => {
                let listener = std::net::TcpListener::from(listener);
                listener.set_nonblocking(true)?;
                Listener::Tcp(tokio::net::TcpListener::from_std(listener)?)
            }
        };
        let accepting = runtime.spawn(accept::accept(Arc::clone(&self.shared), listener));
        *self.accepting.lock().unwrap_or_else(PoisonError::into_inner) = Some(accepting);
        Ok(())
    }

    /// Passes requests on to the application, which listens now.
    ///
    /// Until then they wait, at most as long as an answer may take. Its pages for errors
    /// are shown from now on.
    pub fn pass_on(&self, pages: Pages) {
        self.shared.pages.send_replace(Some(pages));
    }

    /// Answers from another model from now on.
    pub fn publish(&self, model: Model) {
        self.shared.model.send_replace(Some(Arc::new(model)));
    }

    /// Replaces the tokens.
    pub fn set_tokens(&self, tokens: Tokens) {
        self.shared.access.set_tokens(tokens);
    }

    /// Replaces the certificate, for connections from now on.
    ///
    /// # Errors
    ///
    /// If it is not a certificate and its key; then the old one stays.
    pub fn set_certificate(&self, certificate: &[u8], key: &[u8]) -> Result<(), String> {
        let config = tls::config(certificate, key)?;
        if let Some(current) = &self.shared.tls {
            *current.write().unwrap_or_else(PoisonError::into_inner) = config;
        }
        Ok(())
    }

    /// The requests that were answered, and the number refused as overloaded.
    pub fn requests(&self) -> (Vec<Timed>, u64) {
        (self.shared.metrics.requests(), self.shared.metrics.shed.load(Relaxed))
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.shared.connections.count()
    }

    /// The number of requests that wait for another image.
    pub fn parked(&self) -> usize {
        self.shared.requests.parked()
    }

    /// The lines of the access log since the last call.
    pub fn take_lines(&self) -> Vec<Line> {
        self.shared.metrics.take_lines()
    }

    /// The requests for the prediction log since the last call, and the rows that were dropped.
    pub fn take_log(&self) -> (Vec<Entry>, u64) {
        self.shared.log.take()
    }

    /// Stops to accept connections, and waits until those that are open have ended.
    pub fn stop(&self, longest: Duration) {
        let runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(runtime) = runtime else { return };
        let accepting = self.accepting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(accepting) = accepting {
            accepting.abort();
        }
        self.shared.stopping.send_replace(true);
        let end = Instant::now() + longest;
        while self.connections() > 0 && Instant::now() < end {
            self.shared.connections.order_all(Order::Finish);
            std::thread::sleep(LOOK);
        }
        runtime.shutdown_timeout(Duration::from_secs(1));
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop(Duration::ZERO);
    }
}
