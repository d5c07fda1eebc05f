//! Reports about a device and its keeper.

use std::collections::BTreeMap;
use std::path::Path;

use super::{DeviceError, Place};
use crate::counters::Counters;
use crate::report::Reported;
use birthmark_hook::wire::{State, COUNTERS};

/// A device, and the helper's counters about it.
pub struct DeviceReport<'a> {
    /// The device.
    pub place: &'a Place,
    /// The helper's counters.
    pub counters: &'a Counters,
}

impl Reported for DeviceReport<'_> {
    fn device(&self) -> &Path {
        &self.place.path
    }

    async fn counters(&self) -> BTreeMap<String, u64> {
        let own = self.counters.all().into_iter().map(|(name, n)| (format!("helper_{name}"), n));
        // Without the device the helper's own counters still show that.
        let device = state(self.place).await.map(|state| of_device(&state)).unwrap_or_default();
        own.chain(device).collect()
    }

    fn count(&self, accepted: bool) {
        let Counters { reports_sent, reports_failed, .. } = self.counters;
        if accepted { reports_sent } else { reports_failed }.add();
    }
}

async fn state(place: &Place) -> Result<State, DeviceError> {
    place.open().await?.state().await
}

fn of_device(state: &State) -> Vec<(String, u64)> {
    let counters: [u64; COUNTERS.len()] = zerocopy::transmute!(state.counters);
    let counters = COUNTERS.into_iter().zip(counters);
    let region = &state.region;
    let now = [
        ("generation", u64::from(state.generation)),
        ("image_size", u64::from(state.image_size)),
        ("mode", u64::from(state.config.mode)),
        ("decisions", u64::from(state.decisions)),
        ("region_inodes", u64::from(region.inode_high.saturating_sub(region.inode_low))),
        ("region_inodes_used", region.inodes_used),
        ("region_fragments", region.fragment_high.saturating_sub(region.fragment_low)),
        ("region_fragments_used", region.fragments_used),
    ];
    let named = counters.filter(|(name, _)| !name.is_empty()).chain(now);
    named.map(|(name, n)| (format!("device_{name}"), n)).collect()
}
