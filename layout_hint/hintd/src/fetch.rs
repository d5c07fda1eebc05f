//! Follows the service's current image through restarts and failures.

use std::rc::Rc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use hyper::header::{HeaderName, HeaderValue, ETAG, IF_NONE_MATCH};
use hyper::StatusCode;
use tokio::sync::watch;
use tokio::time::{sleep, Instant};

use crate::counters::Counters;
use crate::http::{Client, HttpError};
use crate::image::{Image, ImageError};
use crate::log::{line, Trouble};
use birthmark_hook::wire::IMAGE_MAX;

const PATH: &str = "/v1/model/image";

/// RFC 7240.
const PREFER: HeaderName = HeaderName::from_static("prefer");

/// Time for which the service may hold a request until it has another image; it bounds the time
/// until a hanging service is noticed.
const PATIENCE: Duration = Duration::from_secs(15);

const SECOND: Duration = Duration::from_secs(1);

/// Why there is no image.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// No answer, or an unexpected one.
    #[error("{0}")]
    Http(#[from] HttpError),
    /// An answer that is no image.
    #[error("what it gave as an image is not: {0}")]
    Unsound(#[from] ImageError),
}

/// Fetches images.
pub struct Fetcher<'a> {
    client: Client,
    counters: &'a Counters,
    tag: Option<HeaderValue>,
}

impl<'a> Fetcher<'a> {
    /// Fetches from the service behind `client`.
    pub fn new(client: Client, counters: &'a Counters) -> Self {
        Fetcher { client, counters, tag: None }
    }

    /// The service's current image; none if it is the last one fetched, and no other came within
    /// `patience`.
    pub async fn fetch(&mut self, patience: Duration) -> Result<Option<Image>, FetchError> {
        let fetched = self.ask(patience).await;
        let counters = self.counters;
        match &fetched {
            Ok(Some(_)) => counters.images_fetched.add(),
            Ok(None) => counters.images_unchanged.add(),
            Err(FetchError::Http(_)) => counters.fetches_failed.add(),
            Err(FetchError::Unsound(_)) => counters.images_unsound.add(),
        }
        fetched
    }

    async fn ask(&mut self, patience: Duration) -> Result<Option<Image>, FetchError> {
        let known = self.tag.clone().map(|tag| (IF_NONE_MATCH, tag));
        let asked = known.is_some();
        // RFC 7240 section 4.3: whole seconds, after which the service answers that it has no
        // other.
        let wait = HeaderValue::from_str(&format!("wait={}", patience.as_secs()));
        let wait = wait.ok().map(|wait| (PREFER, wait)).filter(|_| asked && patience >= SECOND);
        let headers = known.into_iter().chain(wait);
        let answer = self.client.get(PATH, headers, IMAGE_MAX, patience).await?;
        match answer.status {
            StatusCode::OK => {
                let image = Image::read(answer.body.into())?;
                self.tag = answer.headers.get(ETAG).cloned();
                Ok(Some(image))
            }
            StatusCode::NOT_MODIFIED if asked => Ok(None),
            _ => Err(answer.unexpected().into()),
        }
    }

    /// Fetches forever with requests that the service may hold for `PATIENCE`. It asks at most
    /// every `pause`; after a failure sooner, at first. An unsound image never replaces a sound
    /// one.
    pub async fn follow(&mut self, pause: Duration, images: &watch::Sender<Option<Rc<Image>>>) {
        let trouble = Trouble::new("the service's image");
        let mut delays = delays(pause);
        let mut first = true;
        loop {
            let asked = Instant::now();
            let delay = match self.fetch(PATIENCE).await {
                Ok(image) => {
                    trouble.is_over();
                    delays = self::delays(pause);
                    // With an image, wait for another at once, unless images come that fast.
                    let waits = image.is_some() && (first || asked.elapsed() >= SECOND);
                    first = false;
                    image.into_iter().for_each(|image| send(images, image));
                    if waits {
                        Duration::ZERO
                    } else {
                        pause.saturating_sub(asked.elapsed())
                    }
                }
                Err(error) => {
                    trouble.is(error);
                    delays.next().unwrap_or(pause)
                }
            };
            sleep(delay).await;
        }
    }
}

fn send(images: &watch::Sender<Option<Rc<Image>>>, image: Image) {
    line(format_args!("image fetched: {} bytes, checksum {:08x}", image.size(), image.checksum()));
    images.send_replace(Some(Rc::new(image)));
}

/// Delays before attempts after a failure: doubling up to `most`, with jitter so that clients of
/// one service do not retry together.
pub fn delays(most: Duration) -> ExponentialBackoff {
    // Jitter up to doubles each.
    let most = most / 2;
    ExponentialBuilder::default()
        .with_min_delay(most.min(Duration::from_millis(100)))
        .with_max_delay(most)
        .without_max_times()
        .with_jitter()
        .build()
}
