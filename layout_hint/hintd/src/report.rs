//! Reports the counters, the device's and the helper's own, to the service.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use tokio::time::sleep;

use crate::counters::Counters;
use crate::device::{DeviceError, Place};
use crate::http::{Client, HttpError};
use crate::log::Trouble;
use birthmark_hook::wire::{State, COUNTERS};

const PATH: &str = "/v1/hints/report";
/// The longest label that the service takes.
const LABEL: usize = 64;
/// Bytes of an answer: some words.
const LARGEST: usize = 64 * 1024;

#[derive(Serialize)]
struct Report {
    host: String,
    device: String,
    counters: BTreeMap<String, u64>,
}

/// Reports for ever, `pause` after each time before.
pub async fn report(place: &Place, mut client: Client, counters: &Counters, pause: Duration) {
    let trouble = Trouble::new("the report to the service");
    loop {
        sleep(pause).await;
        match send(place, &mut client, counters).await {
            Ok(()) => {
                counters.reports_sent.add();
                trouble.is_over();
            }
            Err(error) => {
                counters.reports_failed.add();
                trouble.is(error);
            }
        }
    }
}

async fn send(place: &Place, client: &mut Client, counters: &Counters) -> Result<(), HttpError> {
    let own = counters.all().into_iter().map(|(name, n)| (format!("helper_{name}"), n));
    // Without the device the helper's own counters still tell, and say so.
    let device = state(place).await.map(|state| of_device(&state)).unwrap_or_default();
    let report = Report {
        host: label(&rustix::system::uname().nodename().to_string_lossy()),
        device: label(&place.path.to_string_lossy()),
        counters: own.chain(device).collect(),
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

async fn state(place: &Place) -> Result<State, DeviceError> {
    place.open().await?.state().await
}

fn of_device(state: &State) -> Vec<(String, u64)> {
    let counters: [u64; COUNTERS.len()] = zerocopy::transmute!(state.counters);
    let counters = COUNTERS.into_iter().zip(counters);
    let now = [
        ("generation", u64::from(state.generation)),
        ("image_size", u64::from(state.image_size)),
        ("mode", u64::from(state.config.mode)),
        ("decisions", u64::from(state.decisions)),
        ("region_inodes_used", state.region.inodes_used),
        ("region_fragments_used", state.region.fragments_used),
    ];
    let named = counters.filter(|(name, _)| !name.is_empty()).chain(now);
    named.map(|(name, n)| (format!("device_{name}"), n)).collect()
}
