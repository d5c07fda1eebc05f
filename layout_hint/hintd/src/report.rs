//! Reports counters to the service: the helper's own and the device's.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use tokio::time::sleep;

use crate::http::{Client, HttpError};
use crate::log::Trouble;

const PATH: &str = "/v1/hints/report";
/// Longest label that the service accepts.
const LABEL: usize = 64;
/// The name in reports of a host without a name.
const UNNAMED: &str = "unnamed";
/// Most bytes of an answer.
const LARGEST: usize = 64 * 1024;

/// The subject of reports.
pub trait Reported {
    /// Its path.
    fn device(&self) -> &Path;

    /// Its counters.
    async fn counters(&self) -> BTreeMap<String, u64>;

    /// Counts a report, `accepted` by the service or not.
    fn count(&self, accepted: bool);
}

#[derive(Serialize)]
struct Report {
    host: String,
    device: String,
    counters: BTreeMap<String, u64>,
}

/// Reports forever, `pause` after the previous report.
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
        host: host_label(&rustix::system::uname().nodename().to_string_lossy()),
        device: device_label(&of.device().to_string_lossy()),
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

/// A host's name as a label: the beginning of a long one, because hosts of one domain end alike.
/// Linux calls a host without a name `(none)`.
fn host_label(name: &str) -> String {
    match name {
        "" | "(none)" => UNNAMED.into(),
        name => plain(name).take(LABEL).collect(),
    }
}

/// A device's path as a label: the end of a long one.
fn device_label(path: &str) -> String {
    let plain: String = plain(path).collect();
    match plain.len() {
        0 => UNNAMED.into(),
        length => plain[length.saturating_sub(LABEL)..].into(),
    }
}

/// The characters of a text, `_` for those that the service rejects in a label.
fn plain(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "._:/-".contains(c) { c } else { '_' })
}

#[cfg(test)]
mod tests {
    use super::{device_label, host_label};

    #[test]
    fn a_report_names_every_host_and_device_as_the_service_takes_it() {
        let domain = format!(".{}.example", "d".repeat(250));
        let names = [
            ("", "unnamed"),
            ("(none)", "unnamed"),
            ("files-1.example.org", "files-1.example.org"),
            ("a b\n\u{e9}\u{fffd}", "a_b___"),
        ];
        names.into_iter().for_each(|(name, label)| assert_eq!(host_label(name), label));
        let (one, other) = (host_label(&format!("one{domain}")), host_label(&domain));
        assert_eq!((one.len(), other.len()), (64, 64));
        assert_ne!(one, other);
        assert_eq!((device_label(""), device_label("/")), ("unnamed".into(), "/".into()));
        assert_eq!(
            device_label(&format!("/{}/device", "x".repeat(99))),
            format!("{}/device", "x".repeat(57))
        );
    }
}
