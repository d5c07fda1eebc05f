//! The form of a printed line, stored so that it can be printed the same way.

use crate::schema::Column;
use std::ops::BitOr;

/// The bits of `call_form` and `reply_form`. A message of a capture has none except
/// [`Form::SHORT`]: it is printed as by nfsdump 1.2.0c.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form(pub u16);

impl Form {
    /// It was read from text: everything known of it was printed.
    pub const TEXT: Form = Form(1);
    /// The trailer has numbers: `con=158 len=194`.
    pub const NUMBERS: Form = Form(2);
    /// With spaces around the equals signs: `con = 158 len = 194`.
    pub const SPACED: Form = Form(4);
    /// The XID has its leading zeros.
    pub const PADDED_XID: Form = Form(8);
    /// The procedure's number has two digits.
    pub const PADDED_PROCEDURE: Form = Form(16);
    /// Access bits are a letter.
    pub const LETTER: Form = Form(32);
    /// Fractions of times in the fields are not padded.
    pub const UNPADDED_TIMES: Form = Form(64);
    /// The halves of a setattr's size are exchanged.
    pub const EXCHANGED_SIZE: Form = Form(128);
    /// Two spaces stand before a reply's trailer.
    pub const TWO_SPACES: Form = Form(256);
    /// The message was cut.
    pub const SHORT: Form = Form(1024);

    /// Whether it has all bits of another.
    #[inline]
    pub fn has(self, other: Form) -> bool {
        self.0 & other.0 == other.0
    }

    /// This form, with another one added if `and`.
    #[inline]
    pub fn with(self, other: Form, and: bool) -> Form {
        match and {
            true => self | other,
            false => self,
        }
    }
}

impl BitOr for Form {
    type Output = Form;

    fn bitor(self, other: Form) -> Form {
        Form(self.0 | other.0)
    }
}

/// The form of a line, and its trailer's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The form.
    pub form: Form,
    /// `con`: bytes before the arguments or results.
    pub con: Option<u32>,
    /// `len`: bytes of the packet.
    pub len: Option<u32>,
}

/// The columns for the form of a message's line.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // `crate::schema` says where they are
pub struct LineColumns {
    pub form: Column,
    pub con: Column,
    pub len: Column,
    pub text: Column,
}

/// The columns of the call.
pub const CALL: LineColumns = LineColumns {
    form: Column::CallForm,
    con: Column::CallCon,
    len: Column::CallLen,
    text: Column::CallText,
};

/// The columns of the reply.
pub const REPLY: LineColumns = LineColumns {
    form: Column::ReplyForm,
    con: Column::ReplyCon,
    len: Column::ReplyLen,
    text: Column::ReplyText,
};
