//! Predictions of the service.

use std::collections::HashMap;

use base64::prelude::{Engine, BASE64_STANDARD};
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{json, Value};
use speedate::{DateTime, Time};

use super::births::{since_epoch, File};
use super::class::{Class, Rule};
use crate::http::{Answer, Client, HttpError};
use crate::log::Trouble;
use birthmark_contract::create;

const PATH: &str = "/v1/predictions";
/// Most bytes of an answer about the files of one read.
const LARGEST: usize = 4 * 1024 * 1024;

/// Members of a create that the service gets.
const MEMBERS: [&str; 7] =
    ["name", "directory_system", "directory_inode", "mode", "uid", "gid", "time"];
const _: () = create::assert_members(&MEMBERS, create::Asked::Files);

/// A service, with one request for all files of a read.
pub struct Service<'a> {
    client: Client,
    system: Option<Vec<u8>>,
    rule: &'a Rule,
    trouble: Trouble,
}

/// The relevant part of its answer.
#[derive(Deserialize)]
struct Predictions {
    predictions: Vec<Prediction>,
}

#[derive(Deserialize)]
struct Prediction {
    predicates: HashMap<String, PredicateAnswer>,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum PredicateAnswer {
    Yes,
    No,
}

impl<'a> Service<'a> {
    /// The service behind `client`, for a file system that handles call `system`.
    pub fn new(client: Client, system: Option<Vec<u8>>, rule: &'a Rule) -> Self {
        Service { client, system, rule, trouble: Trouble::new("the service's predictions") }
    }

    /// The class of each file; None without an answer.
    pub async fn classes(&mut self, files: &[File<'_>]) -> Option<Vec<Option<Class>>> {
        let system = self.system.as_deref();
        let asked: Vec<_> = files.iter().map(|file| asked(file, system)).collect();
        let json = Value::Array(asked).to_string().into();
        let answer = self.client.post(PATH, json, LARGEST).await;
        match answer.and_then(|answer| self.read(answer, files.len())) {
            Ok(classes) => {
                self.trouble.is_over();
                Some(classes)
            }
            Err(error) => {
                self.trouble.is(error);
                None
            }
        }
    }

    fn read(&self, answer: Answer, files: usize) -> Result<Vec<Option<Class>>, HttpError> {
        let answered: Option<Predictions> = match answer.status {
            StatusCode::OK => serde_json::from_slice(&answer.body).ok(),
            _ => None,
        };
        let answered = answered.filter(|answered| answered.predictions.len() == files);
        let predictions = answered.ok_or_else(|| answer.unexpected())?.predictions;
        let class = |Prediction { predicates }: Prediction| {
            self.rule.class(|key| predicates.get(key) == Some(&PredicateAnswer::Yes))
        };
        Ok(predictions.into_iter().map(class).collect())
    }
}

/// The part of a request about one file.
fn asked(file: &File, system: Option<&[u8]>) -> Value {
    let now = since_epoch();
    let time = DateTime::from_timestamp(now.as_secs() as i64, now.subsec_micros());
    // UTC
    let time = time.map(|time| DateTime { time: Time { tz_offset: Some(0), ..time.time }, ..time });
    let mut asked = json!({
        "name_base64": BASE64_STANDARD.encode(file.birth.name),
        "mode": file.mode,
        "uid": file.uid,
        "gid": file.gid,
    });
    if let Ok(time) = time {
        asked["time"] = time.to_string().into();
    }
    if let Some((system, inode)) = system.zip(file.directory()) {
        asked["directory_system"] = BASE64_STANDARD.encode(system).into();
        asked["directory_inode"] = inode.into();
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::super::events::{Birth, Handle};
    use super::*;

    fn file<'a>(name: &'a [u8], directory: &'a [u8]) -> File<'a> {
        let handle = Handle { kind: 1, bytes: directory };
        let birth = Birth { file: handle, directory: handle, name };
        File { birth, mode: 0o600, uid: 1, gid: 2 }
    }

    #[test]
    fn the_service_gets_the_members_that_the_kernel_reported() {
        let request = asked(&file(b"a\xff", &[7, 0, 0, 0, 1, 0, 0, 0]), Some(b"0123456789abcdef"));
        assert_eq!(request["name_base64"], "Yf8=");
        assert_eq!(
            (&request["mode"], &request["uid"], &request["gid"]),
            (&384.into(), &1.into(), &2.into())
        );
        assert_eq!(request["directory_system"], "MDEyMzQ1Njc4OWFiY2RlZg==");
        assert_eq!(request["directory_inode"], 7);
        let time = request["time"].as_str().unwrap();
        assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
    }

    #[test]
    fn omits_a_directory_with_an_unknown_handle_or_system() {
        let named = |request: &Value| {
            request.get("directory_inode").or(request.get("directory_system")).is_some()
        };
        assert!(!named(&asked(&file(b"a", &[7; 3]), Some(b"system"))));
        assert!(!named(&asked(&file(b"a", &[7; 8]), None)));
    }
}
