//! One hook of the C core.

use super::raw::*;
use super::Sync;
use crate::hook::{Asker, Mode, Outcome, Question, Refused, State, Verdict};
use birthmark_image::{Create, ImageError};
use std::ffi::c_uint;
use std::mem::MaybeUninit;
use std::ptr;

/// One hook and its image.
pub struct Core {
    /// Of `struct bm_hook`, as words so that it is aligned.
    memory: Box<[u64]>,
    /// What the core points to.
    image: Box<[u8]>,
    mode: Mode,
}

impl Core {
    /// A hook that is off.
    pub fn new() -> Self {
        // SAFETY: takes nothing and returns a number.
        let size = unsafe { bm_home_hook_size() };
        let memory = vec![0; size.div_ceil(8)].into_boxed_slice();
        let mut core = Self { memory, image: Box::default(), mode: Mode::Off };
        // SAFETY: the memory is large enough and aligned.
        unsafe { bm_hook_init(core.hook()) };
        core
    }

    fn hook(&mut self) -> *mut RawHook {
        self.memory.as_mut_ptr().cast()
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    pub fn configure(&mut self, mode: Mode, policy: Verdict) {
        let config = Config {
            version: VERSION,
            mode: mode as u32,
            policy: (policy.0 & Verdict::ALL.0).into(),
            region_mode: 0,
            region: [0; 2],
            fsid: [0; 2],
            hot_blocks: 0,
            zero: 0,
        };
        self.mode = mode;
        // SAFETY: the hook was made, and the configuration is copied.
        let taken = unsafe { bm_hook_configure(self.hook(), &config) };
        debug_assert_eq!(taken, 1);
    }

    pub fn load(&mut self, image: &[u8]) -> Result<(), Refused> {
        let image: Box<[u8]> = image.into();
        let mut slot = Slot { image: ptr::null(), size: 0, hints: 0, predicates: [0; 3] };
        let (bytes, size) = (image.as_ptr().cast(), image.len());
        // SAFETY: the hook was made; the image has that many bytes.
        let status = unsafe { bm_hook_check(self.hook(), bytes, size, &mut slot) };
        refused(status)?;
        // SAFETY: the slot was filled for this image, which stays in `self` until the next swap.
        unsafe { bm_hook_swap(self.hook(), &slot) };
        self.image = image;
        Ok(())
    }

    pub fn ask(&mut self, create: &Create, directory: bool) -> Verdict {
        let raw = RawCreate::of(create);
        // SAFETY: the hook was made; what the create points to lives until after the call.
        Verdict(unsafe { bm_hook_ask(self.hook(), &raw, directory.into()) } as u8)
    }

    pub fn ask_and_wait(
        &mut self,
        sync: &mut Sync,
        asker: &mut dyn Asker,
        create: &Create,
        directory: bool,
    ) -> Verdict {
        let raw = RawCreate::of(create);
        let said = sync.during(asker, |sync| {
            // SAFETY: as in `ask`; the transport is for just this call.
            unsafe { bm_sync_ask(sync, self.hook(), &raw, directory.into()) }
        });
        Verdict(said as u8)
    }

    pub fn next_question(&mut self) -> Option<Question> {
        let mut question = Question::EMPTY;
        // SAFETY: the hook was made, and the question is written whole or not at all.
        (unsafe { bm_hook_next(self.hook(), &mut question) } != 0).then_some(question)
    }

    pub fn answer(&mut self, id: u64, verdict: Verdict) -> bool {
        // SAFETY: the hook was made; any id will do.
        unsafe { bm_hook_answer(self.hook(), id, verdict.0.into()) != 0 }
    }

    pub fn flush(&mut self) {
        // SAFETY: the hook was made.
        unsafe { bm_hook_flush(self.hook()) };
    }

    pub fn outcome(&mut self, outcome: Outcome) {
        // SAFETY: the hook was made.
        unsafe { bm_hook_outcome(self.hook(), outcome as c_uint) };
    }

    pub fn state(&self) -> State {
        let mut raw = MaybeUninit::<RawState>::zeroed();
        let hook = self.memory.as_ptr().cast();
        // SAFETY: the hook was made, and is only read; the state is written whole, of numbers.
        let raw = unsafe {
            bm_hook_state(hook, raw.as_mut_ptr());
            raw.assume_init()
        };
        State {
            generation: raw.generation,
            image_size: raw.image_size,
            questions: raw.questions,
            decisions: raw.decisions,
            counters: raw.counters,
        }
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
        9 => Refused::NoHint,
        10 => Refused::Oversize,
        _ => ImageError::Malformed.into(),
    })
}
