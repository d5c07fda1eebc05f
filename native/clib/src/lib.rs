//! libbirthmark: `birthmark_model` for C, as `include/birthmark_model.h` declares it.
//!
//! Each function is sound if its caller follows that header: a model was returned by
//! `bm_model_open` and not yet passed to `bm_model_close`, other pointers point to values of their
//! types, texts end with a zero, and names and histories have the given lengths. NULL means none: no
//! text, no name, no buffer.
#![allow(unsafe_code)]

use birthmark_contract::image::{KNOWN_CLIENT, KNOWN_GID, KNOWN_HOUR, KNOWN_MODE, KNOWN_UID};
use birthmark_model::{Answers, Create, Model, Word};
use std::ffi::{c_char, c_int, c_void, CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::ptr::{copy_nonoverlapping, null, null_mut, NonNull};
use std::slice;

/// The bits of known values, in the order of [`Create::values`].
const KNOWN: [u32; 4] = [KNOWN_MODE, KNOWN_UID, KNOWN_GID, KNOWN_CLIENT];

/// `struct bm_model`.
pub struct Opened {
    model: Model,
    keys: Vec<CString>,
}

/// `struct bm_create`.
#[repr(C)]
pub struct BmCreate {
    name: *const c_void,
    name_len: usize,
    history: *const c_void,
    history_len: usize,
    known: u32,
    values: [u32; 4],
    hour: u32,
}

/// `struct bm_answers`.
#[repr(C)]
pub struct BmAnswers {
    words: Answers,
}

/// `struct bm_said`.
#[repr(C)]
pub struct BmSaid {
    word: c_int,
    probability: f64,
}

impl BmCreate {
    /// # Safety
    ///
    /// The name and the history have the given lengths.
    unsafe fn read(&self) -> Create<'_> {
        let text = |begin: *const c_void, len| {
            let begin = NonNull::new(begin.cast_mut().cast::<u8>())?;
            // SAFETY: as the caller says.
            Some(unsafe { slice::from_raw_parts(begin.as_ptr(), len) })
        };
        let known = |bit: u32| self.known & bit != 0;
        Create {
            name: text(self.name, self.name_len),
            history: text(self.history, self.history_len),
            name_history: None,
            values: std::array::from_fn(|at| known(KNOWN[at]).then_some(self.values[at])),
            hour: known(KNOWN_HOUR).then(|| u8::try_from(self.hour).unwrap_or(u8::MAX)),
        }
    }
}

fn opened(path: &CStr) -> Result<Opened, String> {
    let model =
        Model::open(OsStr::from_bytes(path.to_bytes())).map_err(|error| error.to_string())?;
    let keys = model.predicates().iter().map(|each| CString::new(each.key.as_str()));
    let keys = keys.collect::<Result<_, _>>();
    let keys = keys.map_err(|_| format!("{}: a key has a zero", path.to_string_lossy()))?;
    Ok(Opened { model, keys })
}

/// See the header.
///
/// # Safety
///
/// As above; `why` has room for `size` bytes.
#[no_mangle]
pub unsafe extern "C" fn bm_model_open(
    path: *const c_char,
    why: *mut c_char,
    size: usize,
) -> *mut Opened {
    let found = match NonNull::new(path.cast_mut()) {
        // SAFETY: the text ends with a zero.
        Some(path) => opened(unsafe { CStr::from_ptr(path.as_ptr()) }),
        None => Err("expected a path".into()),
    };
    match found {
        Ok(opened) => Box::into_raw(Box::new(opened)),
        Err(error) => {
            if !why.is_null() && size > 0 {
                let mut len = error.len().min(size - 1);
                while !error.is_char_boundary(len) {
                    len -= 1;
                }
                // SAFETY: there is room for len bytes and a zero.
                unsafe {
                    copy_nonoverlapping(error.as_ptr(), why.cast(), len);
                    *why.add(len) = 0;
                }
            }
            null_mut()
        }
    }
}

/// See the header.
///
/// # Safety
///
/// As above; the model is no longer in use.
#[no_mangle]
pub unsafe extern "C" fn bm_model_close(model: *mut Opened) {
    if !model.is_null() {
        // SAFETY: it is what bm_model_open made.
        drop(unsafe { Box::from_raw(model) });
    }
}

/// See the header.
#[no_mangle]
pub extern "C" fn bm_model_predicates(opened: &Opened) -> u32 {
    opened.keys.len() as u32
}

/// See the header.
#[no_mangle]
pub extern "C" fn bm_model_key(opened: &Opened, place: u32) -> *const c_char {
    opened.keys.get(place as usize).map_or(null(), |key| key.as_ptr())
}

/// See the header.
///
/// # Safety
///
/// As above.
#[no_mangle]
pub unsafe extern "C" fn bm_model_place(opened: &Opened, key: *const c_char) -> u32 {
    let Some(key) = NonNull::new(key.cast_mut()) else { return u32::MAX };
    // SAFETY: the text ends with a zero.
    let key = unsafe { CStr::from_ptr(key.as_ptr()) };
    let place = opened.keys.iter().position(|own| own.as_c_str() == key);
    place.map_or(u32::MAX, |place| place as u32)
}

/// See the header.
#[no_mangle]
pub extern "C" fn bm_model_has_probabilities(opened: &Opened) -> c_int {
    c_int::from(opened.model.has_probabilities())
}

/// See the header.
///
/// # Safety
///
/// As above.
#[no_mangle]
pub unsafe extern "C" fn bm_model_lookup(
    opened: &Opened,
    create: &BmCreate,
    answers: &mut BmAnswers,
) {
    // SAFETY: as the caller says.
    answers.words = opened.model.lookup(&unsafe { create.read() });
}

/// See the header.
///
/// # Safety
///
/// As above; `out` has room for an element per predicate.
#[no_mangle]
pub unsafe extern "C" fn bm_model_say(opened: &Opened, create: &BmCreate, out: *mut BmSaid) {
    if out.is_null() {
        return;
    }
    // SAFETY: as the caller says.
    let answers = opened.model.answer(&unsafe { create.read() });
    for (place, answer) in answers.iter().enumerate() {
        let word = match answer.word {
            Word::No => 0,
            Word::Unsure => 1,
            Word::Yes => 2,
        };
        // SAFETY: there is room for one for each predicate.
        unsafe {
            out.add(place).write(BmSaid { word, probability: answer.probability.unwrap_or(0.0) })
        };
    }
}
