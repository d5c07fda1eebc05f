//! Synchronous queries: the clock and the transport that the C core calls.

use super::raw::*;
use crate::hook::{Asker, Failure};
use crate::wire::Question;
use serde::Serialize;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::time::{Duration, Instant};

/// `struct bm_sync_settings`: times in nanoseconds.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncSettings {
    /// For one question.
    pub deadline: u64,
    /// From the breaker's opening until a create probes.
    pub back_off_first: u64,
    /// Upper bound of the back-off.
    pub back_off_max: u64,
    /// Consecutive failures that open the breaker.
    pub failures_max: u64,
}

impl Default for SyncSettings {
    /// 2 ms, 100 ms to 30 s, and 5 failures.
    fn default() -> Self {
        Self {
            deadline: 2_000_000,
            back_off_first: 100_000_000,
            back_off_max: 30_000_000_000,
            failures_max: 5,
        }
    }
}

/// `struct bm_sync_counters`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SyncCounters {
    /// Questions answered.
    pub answered: u64,
    /// Not within the deadline.
    pub late: u64,
    /// No connection, or it ended.
    pub gone: u64,
    /// Malformed answers.
    pub bad: u64,
    /// Creates that the open breaker did not ask about.
    pub unasked: u64,
    /// Times that the breaker opened.
    pub opened: u64,
    /// Questions sent while it was open.
    pub probes: u64,
}

/// The breaker and its counters.
pub struct Sync {
    raw: RawSync,
    /// When its clock was 0.
    base: Instant,
}

/// The context of the core's callbacks.
struct Call<'a> {
    base: Instant,
    asker: &'a mut dyn Asker,
}

// SAFETY: the one pointer, to the context, is null but in `during`.
unsafe impl Send for Sync {}

impl Sync {
    pub fn new(settings: SyncSettings) -> Self {
        let transport = Transport { context: ptr::null_mut(), now, ask };
        let mut raw = RawSync {
            transport,
            settings,
            counters: SyncCounters::default(),
            failures: 0,
            is_open: 0,
            opened_at: 0,
            back_off: 0,
        };
        // SAFETY: all three are whole, and the latter two are copied.
        unsafe { bm_sync_init(&mut raw, &transport, &settings) };
        Self { raw, base: Instant::now() }
    }

    pub fn counters(&self) -> SyncCounters {
        self.raw.counters
    }

    /// Calls the core with `asker` behind its transport.
    pub fn during(&mut self, asker: &mut dyn Asker, ask: impl FnOnce(&mut RawSync) -> u32) -> u32 {
        let mut call = Call { base: self.base, asker };
        self.raw.transport.context = ptr::from_mut(&mut call).cast();
        let bits = ask(&mut self.raw);
        self.raw.transport.context = ptr::null_mut();
        bits
    }
}

extern "C" fn now(context: *mut c_void) -> u64 {
    // SAFETY: the context is of `during`, and nothing else uses it now.
    let call = unsafe { &*context.cast::<Call>() };
    call.base.elapsed().as_nanos() as u64
}

extern "C" fn ask(
    context: *mut c_void,
    question: *const Question,
    deadline: u64,
    verdict: *mut u32,
) -> c_int {
    // SAFETY: the context is of `during`, and nothing else uses it now; the core's question and
    // verdict are its own, whole, and there until this returns.
    let (call, question, verdict) =
        unsafe { (&mut *context.cast::<Call>(), &*question, &mut *verdict) };
    match call.asker.ask(question, call.base + Duration::from_nanos(deadline)) {
        Ok(answer) => {
            *verdict = answer.0.into();
            0
        }
        Err(Failure::Late) => 1,
        Err(Failure::Gone) => 2,
        Err(Failure::Bad) => 3,
    }
}
