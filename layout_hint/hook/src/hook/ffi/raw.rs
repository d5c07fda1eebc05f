//! The C core's structures and functions, as its headers declare them.

use super::SyncSettings;
use crate::hook::SyncCounters;
use crate::wire::{Config, Question, State};
use birthmark_contract::hints::HINTS;
use birthmark_contract::image::KNOWN_HOUR;
use birthmark_image::Create;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

/// `struct bm_create`.
#[repr(C)]
pub struct RawCreate {
    pub name: *const u8,
    pub name_len: usize,
    pub history: *const u8,
    pub history_len: usize,
    pub known: u32,
    pub numbers: [u32; 4],
    pub hour: u32,
}

impl RawCreate {
    /// Points into `create`, which must stay as long as this is used.
    pub fn of(create: &Create) -> Self {
        let text =
            |text: Option<&[u8]>| text.map_or((ptr::null(), 0), |text| (text.as_ptr(), text.len()));
        let (name, name_len) = text(create.name);
        let (history, history_len) = text(create.history);
        let known = (0..4).map(|i| u32::from(create.values[i].is_some()) << i).sum::<u32>();
        Self {
            name,
            name_len,
            history,
            history_len,
            known: known | if create.hour.is_some() { KNOWN_HOUR } else { 0 },
            numbers: create.values.map(Option::unwrap_or_default),
            hour: create.hour.unwrap_or_default().into(),
        }
    }
}

/// `struct bm_slot`.
#[repr(C)]
pub struct Slot {
    pub image: *const c_void,
    pub size: u32,
    pub hints: u32,
    pub predicates: [u32; HINTS.len()],
}

/// `struct bm_transport`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Transport {
    pub context: *mut c_void,
    pub now: extern "C" fn(*mut c_void) -> u64,
    pub ask: extern "C" fn(*mut c_void, *const Question, u64, *mut u32) -> c_int,
}

/// `struct bm_sync`.
#[repr(C)]
pub struct RawSync {
    pub transport: Transport,
    pub settings: SyncSettings,
    pub counters: SyncCounters,
    pub failures: u64,
    pub is_open: u64,
    pub opened_at: u64,
    pub back_off: u64,
}

/// Memory of `struct bm_hook`, private to C.
#[repr(C)]
pub struct RawHook {
    pub private: [u8; 0],
}

unsafe extern "C" {
    pub fn bm_home_hook_size() -> usize;
    #[cfg(test)]
    pub fn bm_home_sync_size() -> usize;
    pub fn bm_hook_init(hook: *mut RawHook);
    pub fn bm_hook_check(
        hook: *mut RawHook,
        image: *const c_void,
        size: usize,
        slot: *mut Slot,
    ) -> u32;
    pub fn bm_hook_swap(hook: *mut RawHook, slot: *const Slot) -> *const c_void;
    pub fn bm_hook_configure(hook: *mut RawHook, config: *const Config) -> c_int;
    pub fn bm_hook_ask(hook: *mut RawHook, create: *const RawCreate, directory: c_int) -> u32;
    pub fn bm_hook_next(hook: *mut RawHook, question: *mut Question) -> c_int;
    pub fn bm_hook_answer(hook: *mut RawHook, id: u64, verdict: u32) -> c_int;
    pub fn bm_hook_outcome(hook: *mut RawHook, outcome: c_uint);
    pub fn bm_hook_state(hook: *const RawHook, state: *mut State);
    pub fn bm_sync_init(
        sync: *mut RawSync,
        transport: *const Transport,
        settings: *const SyncSettings,
    );
    pub fn bm_sync_ask(
        sync: *mut RawSync,
        hook: *mut RawHook,
        create: *const RawCreate,
        directory: c_int,
    ) -> u32;
}
