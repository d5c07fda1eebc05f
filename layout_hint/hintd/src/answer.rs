//! Query mode: sends the device's questions to the service, and returns the answers.

use std::time::Duration;

use base64::prelude::{Engine, BASE64_STANDARD};
use hyper::StatusCode;
use serde_json::json;
use tokio::time::sleep;

use crate::counters::Counters;
use crate::device::{Device, DeviceError, Place};
use crate::fetch::delays;
use crate::http::{Answer, Client, HttpError};
use crate::log::Trouble;
use birthmark_contract::{create, hints};
use birthmark_hook::wire::Question;

const PATH: &str = "/v1/hints";
/// Most bytes of an answer: a number, or an error about the question.
const LARGEST: usize = 64 * 1024;

/// Members of a create that the service gets.
const MEMBERS: [&str; 6] = ["name", "is_directory", "mode", "uid", "gid", "time"];
const _: () = create::assert_members(&MEMBERS, create::Asked::Hints);

/// Answers the device's questions.
pub struct Answerer<'a> {
    place: &'a Place,
    client: Client,
    counters: &'a Counters,
    trouble: Trouble,
}

impl<'a> Answerer<'a> {
    /// Answers the device at `place` with answers of the service behind `client`.
    pub fn new(place: &'a Place, client: Client, counters: &'a Counters) -> Self {
        let trouble = Trouble::new("the service's hints");
        Answerer { place, client, counters, trouble }
    }

    /// Answers forever; looks for a missing device every `pause` at most.
    pub async fn answer(&mut self, pause: Duration) {
        let mut delays = delays(pause);
        loop {
            // The keeper logs and counts a missing or faulty device.
            if let Ok(mut device) = self.place.open().await {
                while let Ok(questions) = device.questions().await {
                    delays = self::delays(pause);
                    if self.all(&mut device, questions, pause).await.is_err() {
                        break;
                    }
                }
            }
            sleep(delays.next().unwrap_or(pause)).await;
        }
    }

    async fn all(
        &mut self,
        device: &mut Device,
        questions: Vec<Question>,
        pause: Duration,
    ) -> Result<(), DeviceError> {
        for question in questions {
            self.counters.questions_taken.add();
            match asked(&question) {
                Some(json) => self.one(device, question.id, json, pause).await?,
                None => self.counters.questions_refused.add(),
            }
        }
        Ok(())
    }

    async fn one(
        &mut self,
        device: &mut Device,
        id: u64,
        json: Vec<u8>,
        pause: Duration,
    ) -> Result<(), DeviceError> {
        let Some(verdict) = self.ask(json, pause).await else { return Ok(()) };
        if device.answer(id, verdict).await? {
            self.counters.questions_answered.add();
        } else {
            self.counters.questions_stale.add();
        }
        Ok(())
    }

    /// Asks until there is a verdict; none if the service refuses the question itself.
    async fn ask(&mut self, json: Vec<u8>, pause: Duration) -> Option<u32> {
        let mut delays = delays(pause);
        loop {
            match self.client.post(PATH, json.clone(), LARGEST).await.and_then(verdict) {
                Ok(verdict) => {
                    self.trouble.is_over();
                    return Some(verdict);
                }
                Err(error) => {
                    let refused = refused(&error);
                    self.trouble.is(error);
                    if refused {
                        self.counters.questions_refused.add();
                        return None;
                    }
                }
            }
            self.counters.questions_retried.add();
            sleep(delays.next().unwrap_or(pause)).await;
        }
    }
}

/// The bits of an answer that the device knows.
fn verdict(answer: Answer) -> Result<u32, HttpError> {
    let bits = match answer.status {
        StatusCode::OK => serde_json::from_slice(&answer.body).ok(),
        _ => None,
    };
    bits.filter(|bits| bits & !u32::from(hints::ALL) == 0).ok_or_else(|| answer.unexpected())
}

/// Whether the question is at fault, so that asking again would not help.
fn refused(error: &HttpError) -> bool {
    matches!(error, HttpError::Status(status, _) if status.is_client_error())
}

/// The request for a question, without unknown members; none without a name.
fn asked(question: &Question) -> Option<Vec<u8>> {
    let [mode, uid, gid, hour] = question.numbers();
    let mut asked = json!({
        "name_base64": BASE64_STANDARD.encode(question.name()?),
        "is_directory": question.is_directory(),
        "mode": mode,
        "uid": uid,
        "gid": gid,
        // Models use only the hour of a time.
        "time": hour.map(|hour| format!("1970-01-01T{hour:02}:00:00Z")),
    });
    asked.as_object_mut()?.retain(|_, value| !value.is_null());
    Some(asked.to_string().into())
}
