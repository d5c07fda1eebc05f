//! Reports the counters, the helper's own and those of what it looks after, to the service.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use tokio::time::sleep;

use crate::http::{Client, HttpError};
use crate::log::Trouble;

const PATH: &str = "/v1/hints/report";
/// The longest label that the service takes.
const LABEL: usize = 64;
/// Bytes of an answer: some words.
const LARGEST: usize = 64 * 1024;

/// What is reported of.
pub trait Reported {
    /// Where it is.
    fn device(&self) -> &Path;

    /// What was counted.
    async fn counters(&self) -> BTreeMap<String, u64>;

    /// Counts a report, `taken` by the service or not.
    fn count(&self, taken: bool);
}

#[derive(Serialize)]
struct Report {
    host: String,
    device: String,
    counters: BTreeMap<String, u64>,
}

/// Reports for ever, `pause` after each time before.
pub async fn report(mut client: Client, pause: Duration, of: &impl Reported) {
    let trouble = Trouble::new("the report to the service");
    loop {
        sleep(pause).await;
        let sent = send(&mut client, of).await;
        of.count(sent.is_ok());
        match sent {
            Ok(()) => trouble.is_over(),
            Err(error) => trouble.is(error),
        }
    }
}

async fn send(client: &mut Client, of: &impl Reported) -> Result<(), HttpError> {
    let report = Report {
        host: label(&rustix::system::uname().nodename().to_string_lossy()),
        device: label(&of.device().to_string_lossy()),
        counters: of.counters().await,
    };
    let json = serde_json::to_vec(&report).map_err(std::io::Error::other)?;
    let answer = client.post(PATH, json, LARGEST).await?;
    if answer.status.is_success() {
        Ok(())
    } else {
        Err(answer.unexpected())
    }
}

/// A text as the service takes it for a label: its end, if it is long.
fn label(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._:/-".contains(c) { c } else { '_' };
    let text: String = text.chars().map(plain).collect();
    text[text.len().saturating_sub(LABEL)..].into()
}
