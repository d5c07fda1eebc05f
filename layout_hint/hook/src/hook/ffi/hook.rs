//! One hook of the C core.

use super::raw::*;
use super::{Sync, SyncSettings};
use crate::hook::{Asker, Mode, Outcome, Refused, SyncCounters, Verdict};
use crate::wire::{Config, Question, State, VERSION};
use birthmark_contract::hints;
use birthmark_image::{Create, ImageError};
use std::ffi::c_uint;
use std::ptr;
use zerocopy::FromZeros;

/// A hook with its image, decisions and books.
pub struct Hook {
    /// Of `struct bm_hook`, as words so that it is aligned.
    memory: Box<[u64]>,
    /// The image that the core points to.
    image: Box<[u8]>,
    mode: Mode,
    service: Option<(Sync, Box<dyn Asker>)>,
}

impl Hook {
    /// Makes a hook that follows every hint.
    ///
    /// # Errors
    ///
    /// If the image is refused.
    pub fn new(image: Option<&[u8]>, mode: Mode) -> Result<Self, Refused> {
        // SAFETY: takes nothing and returns a number.
        let size = unsafe { bm_home_hook_size() };
        let memory = vec![0; size.div_ceil(8)].into_boxed_slice();
        let mut hook = Self { memory, image: Box::default(), mode, service: None };
        // SAFETY: the memory is large enough and aligned.
        unsafe { bm_hook_init(hook.raw()) };
        hook.follow(Verdict::ALL);
        image.map_or(Ok(()), |image| hook.load(image))?;
        Ok(hook)
    }

    fn raw(&mut self) -> *mut RawHook {
        self.memory.as_mut_ptr().cast()
    }

    /// In query mode, queue unknown creates for `asker`.
    pub fn wait_for(&mut self, asker: Box<dyn Asker>, settings: SyncSettings) {
        self.service = Some((Sync::new(settings), asker));
    }

    /// Sets the hints that are followed.
    pub fn follow(&mut self, policy: Verdict) {
        let config = Config {
            version: VERSION,
            mode: self.mode as u32,
            policy: (policy.0 & Verdict::ALL.0).into(),
            ..Config::new_zeroed()
        };
        // SAFETY: the hook was made, and the configuration is copied.
        let accepted = unsafe { bm_hook_configure(self.raw(), &config) };
        debug_assert_eq!(accepted, 1);
    }

    /// Loads another image, and drops all decisions. A refused image leaves the former one.
    pub(in crate::hook) fn load(&mut self, image: &[u8]) -> Result<(), Refused> {
        let image: Box<[u8]> = image.into();
        let mut slot = Slot { image: ptr::null(), size: 0, hints: 0, predicates: [0; 3] };
        let (bytes, size) = (image.as_ptr().cast(), image.len());
        // SAFETY: the hook was made; the image has that many bytes.
        let status = unsafe { bm_hook_check(self.raw(), bytes, size, &mut slot) };
        refused(status)?;
        // SAFETY: the slot was filled for this image, which stays in `self` until the next swap.
        unsafe { bm_hook_swap(self.raw(), &slot) };
        self.image = image;
        Ok(())
    }

    /// The verdict on a create, as far as it is followed.
    pub fn ask(&mut self, create: &Create, directory: bool) -> Verdict {
        let (hook, raw) = (self.raw(), RawCreate::of(create));
        let bits = match &mut self.service {
            Some((sync, asker)) if self.mode == Mode::Query => sync.during(&mut **asker, |sync| {
                // SAFETY: as below; the transport is for just this call.
                unsafe { bm_sync_ask(sync, hook, &raw, directory.into()) }
            }),
            // SAFETY: the hook was made; what the create points to lives until after the call.
            _ => unsafe { bm_hook_ask(hook, &raw, directory.into()) },
        };
        Verdict(bits as u8)
    }

    /// Takes the oldest question about an unknown create.
    pub fn next_question(&mut self) -> Option<Question> {
        let mut question = Question::new_zeroed();
        // SAFETY: the hook was made, and the question is written whole or not at all.
        (unsafe { bm_hook_next(self.raw(), &mut question) } != 0).then_some(question)
    }

    /// Answers question `id`. Returns whether it was still pending.
    pub fn answer(&mut self, id: u64, verdict: Verdict) -> bool {
        // SAFETY: the hook was made; any id will do.
        unsafe { bm_hook_answer(self.raw(), id, verdict.0.into()) != 0 }
    }

    /// Counts the outcome of a hint.
    pub fn outcome(&mut self, outcome: Outcome) {
        // SAFETY: the hook was made.
        unsafe { bm_hook_outcome(self.raw(), outcome as c_uint) };
    }

    /// The image, the queue, the decisions, and the counters.
    pub fn state(&self) -> State {
        let mut state = State::new_zeroed();
        // SAFETY: the hook was made, and is only read; the state is written whole.
        unsafe { bm_hook_state(self.memory.as_ptr().cast(), &mut state) };
        state
    }

    /// Counters of the service, if creates wait for one.
    pub fn sync_counters(&self) -> Option<SyncCounters> {
        self.service.as_ref().map(|(sync, _)| sync.counters())
    }
}

fn refused(status: u32) -> Result<(), Refused> {
    Err(match status {
        0 => return Ok(()),
        1 => ImageError::Truncated.into(),
        2 => ImageError::NoImage.into(),
        3 => ImageError::Newer.into(),
        4 => ImageError::Trailing.into(),
        5 => ImageError::Checksum.into(),
        7 => ImageError::Older.into(),
        8 => ImageError::Costly.into(),
        hints::NO_HINT => Refused::NoHint,
        hints::OVERSIZE => Refused::Oversize,
        _ => ImageError::Malformed.into(),
    })
}
