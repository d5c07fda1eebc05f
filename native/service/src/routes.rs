//! The paths that are answered here: predictions, hints and their image. Others go to the application.

use super::access::{media_type, ARROW};
use super::errors::ApiError;
use super::handler::Asked;
use super::log::Answered;
use super::waiting::Requests;
use super::{upstream, Hints, Model, Shared};
use arrow_buffer::Buffer;
use birthmark_answer::Answer;
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use hyper::{Method, Response, StatusCode};
use percent_encoding::percent_decode_str;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;

/// The largest body that is answered at once; for larger ones others need not wait.
const AT_ONCE: usize = 16 * 1024;

/// The longest wait for another image: proxies and firewalls drop idle connections.
const LONGEST_SECONDS: u64 = 300;

const JSON: &str = "application/json";

/// The answer to a checked request.
pub async fn answer(shared: &Arc<Shared>, asked: Asked) -> Result<Response<Bytes>, ApiError> {
    let path = asked.path.as_str();
    let is_post = asked.head.method == Method::POST;
    if path == "/v1/model/image" && [Method::GET, Method::HEAD].contains(&asked.head.method) {
        return image(shared, &asked).await;
    }
    let fast = is_post && ["/v1/predictions", "/v1/hints"].contains(&path);
    if fast && asked.body.len() <= AT_ONCE {
        return in_turn(shared, asked).await;
    }
    let _in_work = shared.requests.begin(shared)?;
    let (size, reservation);
    let _turn = if Requests::needs_turn(path, asked.body.len()) {
        size = asked.body.len();
        reservation = shared.budget.reservation(None);
        let full = "other bodies and answers in transfer use the whole budget";
        reservation.grow(size).map_err(|_| ApiError::overloaded(shared, full))?;
        Some(shared.requests.turn(shared, path).await?)
    } else {
        None
    };
    match fast {
        true => in_turn(shared, asked).await,
        false => upstream::forward(shared, asked).await,
    }
}

async fn in_turn(shared: &Shared, asked: Asked) -> Result<Response<Bytes>, ApiError> {
    match asked.path.as_str() {
        "/v1/hints" => hint(shared, asked.body).await,
        _ => predictions(shared, asked).await,
    }
}

/// Runs `work`, in another thread if its body is large.
async fn run<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    if bytes <= AT_ONCE {
        return Ok(work());
    }
    spawn_blocking(work).await.map_err(|_| ApiError::internal())
}

async fn predictions(shared: &Shared, asked: Asked) -> Result<Response<Bytes>, ApiError> {
    let three = wants_three(asked.head.uri.query().unwrap_or_default())?;
    let is_arrow = media_type(&asked.head.headers) == ARROW;
    let (model, body, is_logged) = (shared.model()?, asked.body, shared.log.is_sampled());
    let (answering, sent) = (Arc::clone(&model), body.clone());
    let answer = run(body.len(), move || {
        let mut answer = match is_arrow {
            true => answering.answerer.arrow(&Buffer::from(sent), three, is_logged)?,
            false => answering.answerer.json(&sent, is_logged)?,
        };
        answer.content.shrink_to_fit(); // it may wait for its client
        Ok::<_, ApiError>(answer)
    });
    let Answer { content, files, logged } = answer.await??;
    if is_logged {
        let answered = if is_arrow { Answered::Arrow(logged) } else { Answered::Json(logged) };
        shared.log.add(&model, &body, files, answered);
    }
    Ok(response(content, if is_arrow { ARROW } else { JSON }))
}

async fn hint(shared: &Shared, body: Bytes) -> Result<Response<Bytes>, ApiError> {
    let model = shared.model()?;
    hints(&model)?;
    let (answering, sent) = (Arc::clone(&model), body.clone());
    let verdict = run(body.len(), move || match &answering.hints {
        Some(hints) => hints.answerer.hint(&sent).map_err(ApiError::from),
        None => Err(ApiError::internal()),
    });
    let verdict = verdict.await??;
    if shared.log.is_sampled() {
        shared.log.add(&model, &body, 1, Answered::Hint(verdict));
    }
    Ok(response(verdict.to_string().into_bytes(), JSON))
}

fn response(body: Vec<u8>, media_type: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body));
    let media_type = HeaderValue::from_static(media_type);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

fn hints(model: &Model) -> Result<&Hints, ApiError> {
    model.hints.as_ref().ok_or_else(|| {
        let what = format!("model {} has not learned HotName and HotWrite", model.version);
        ApiError::new("no_hints", 503, what)
    })
}

/// Whether the query of predictions has `answers=three`, the only value of `answers`.
fn wants_three(query: &str) -> Result<bool, ApiError> {
    let decoded =
        |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let fields = query.split('&').map(|field| field.split_once('=').unwrap_or((field, "")));
    let mut three = false;
    for (_, value) in fields.filter(|(name, _)| decoded(name) == "answers") {
        let value = decoded(value);
        if value != "three" {
            let error = ApiError::new("invalid_request", 422, "expected three");
            return Err(error.at("answers", &value));
        }
        three = true;
    }
    Ok(three)
}

/// The hint image of the current model; with `Prefer: wait=SECONDS` (RFC 7240) once it is another.
async fn image(shared: &Shared, asked: &Asked) -> Result<Response<Bytes>, ApiError> {
    let field = |name: HeaderName| {
        asked.head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    };
    let (tags, prefer) = (field(IF_NONE_MATCH), field(HeaderName::from_static("prefer")));
    let seconds = wanted_seconds(prefer);
    let has = |model: &Model| hints(model).map(|hints| matches(&hints.etag, tags));
    let mut model = shared.model()?;
    if seconds > 0 && asked.head.method == Method::GET && has(&model)? {
        let _parked = shared.requests.park(shared)?;
        let until = shared.until_changed(&model);
        let _ = tokio::time::timeout(Duration::from_secs(seconds), until).await;
        model = shared.model()?;
    }
    let (is_known, hints) = (has(&model)?, hints(&model)?);
    let mut response = Response::new(if is_known { Bytes::new() } else { hints.image.clone() });
    let headers = response.headers_mut();
    let tag = HeaderValue::from_str(&hints.etag).map_err(|_| ApiError::internal())?;
    headers.insert(ETAG, tag);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if seconds > 0 {
        let applied = HeaderValue::from_str(&format!("wait={seconds}"));
        let name = HeaderName::from_static("preference-applied");
        headers.insert(name, applied.map_err(|_| ApiError::internal())?);
    }
    if is_known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        let media_type = HeaderValue::from_static("application/octet-stream");
        response.headers_mut().insert(CONTENT_TYPE, media_type);
    }
    Ok(response)
}

/// Whether an If-None-Match field names a tag (RFC 9110 section 13.1.2).
fn matches(etag: &str, wanted: &str) -> bool {
    let tags = || wanted.split(',').map(|tag| tag.trim());
    wanted.trim() == "*" || tags().any(|tag| tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

/// The seconds of `wait` in a `Prefer` field; 0 without it.
fn wanted_seconds(prefer: &str) -> u64 {
    let seconds = |preference: &str| {
        let (name, value) = preference.split(';').next()?.split_once('=')?;
        let value = value.trim().trim_matches('"');
        let is_wait = name.trim().eq_ignore_ascii_case("wait");
        let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        (is_wait && is_number).then(|| value.parse().unwrap_or(LONGEST_SECONDS))
    };
    prefer.split(',').find_map(seconds).unwrap_or(0).min(LONGEST_SECONDS)
}
