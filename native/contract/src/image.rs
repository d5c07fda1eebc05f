//! The format of compiled images (`docs/image-format.md`), and the known members of creates.

use crate::group::group;
use crate::Group;

/// The first bytes of an image.
pub const MAGIC: [u8; 8] = *b"BMIMAGE\n";

group! {
    /// The format's version and limits.
    LIMITS: u32 {
        /// of the format
        VERSION = 4,
        PREDICATES_MAX = 256,
        /// 64 predicates to a word
        WORDS_MAX = PREDICATES_MAX / 64,
        SECTIONS_MAX = 16,
        GROUPS_MAX = 256,
        /// of a group of related predicates
        ASSIGNMENTS_MAX = 65536,
        /// cut that no score reaches
        NEVER = 0xffff,
        /// of a level's probability; 0 is unknown
        PROBABILITY_STEPS = 10000,
        /// of a section of forests: numbered by a byte
        FEATURES_MAX = 256,
        /// of a forest: sums fit 16 bits
        TREES_MAX = 256,
        /// of a forest: nodes of a tree
        TREE_SIZE_MAX = 0xffff,
        /// of a forest: splits above a leaf
        HEIGHT_MAX = 255,
        /// entries of a dictionary to compare
        BUCKET_MAX = 16,
        /// of one lookup
        STEPS_MAX = 16384,
        /// bytes of the longest name of these
        STEPS_NAME = 255,
        /// pieces, prefix, whole and any of it
        COMPONENTS_MAX = STEPS_NAME + 4,
        /// trees walked at the same time
        ABREAST = 8,
        /// bytes of a prefix
        PREFIX_LEN = 5,
        /// of a word that may be random
        RANDOM_LEN = 6,
        /// of hexadecimal digits
        HEX_LEN = 4,
        /// attribute of a node without edges; threshold
        LEAF = 0xff,
    }
}
group! {
    /// The header, by offsets: magic bytes, then numbers of 4 bytes.
    HEADER: u32 {
        AT_VERSION = 8,
        /// bytes of the image
        AT_SIZE = 12,
        /// CRC-32 of all other bytes
        AT_CHECKSUM = 16,
        /// how many there are
        AT_PREDICATES = 20,
        /// offset of the predicates
        AT_PREDICATE_ROWS = 24,
        /// how many there are
        AT_SECTIONS = 28,
        /// of a lookup, at most
        AT_STEPS = 32,
        /// operating point of a lookup
        AT_POINT = 36,
        /// how many there are, of related predicates
        AT_GROUPS = 40,
        /// offset of the groups
        AT_GROUP_ROWS = 44,
        /// bytes; then the directory of sections
        HEADER_SIZE = 48,
        /// bytes: kind, offset, offset of masks, zero
        SECTION_ENTRY = 16,
        /// bytes: offset and length of the key, zero, meanings
        PREDICATE_ENTRY = 136,
        /// bytes before the meanings of a predicate
        KEY_ENTRY = 8,
        /// bytes: of each scope and point, offset and number of levels, yes, sure, no, implied
        MEANING_ENTRY = 16,
        /// bytes: least score, probability
        LEVEL_ENTRY = 4,
        /// bytes: predicates, assignments
        GROUP_ENTRY = 16,
    }
}
group! {
    /// Hashing: FNV-1a.
    HASH: u32 {
        HASH_BASIS = 0x811c_9dc5,
        HASH_PRIME = 0x0100_0193,
        /// of the kind of the text
        HASH_MIX = 0x9e37_79b1,
    }
}
/// The messages of [`STATUS`].
pub const STATUS_TEXTS: [&str; 9] = [
    "a sound image",
    "truncated: bytes of the image are missing",
    "not a compiled image",
    "an image of a newer version than this reader knows",
    "more bytes than the image has",
    "damaged: the checksum does not match",
    "malformed: not in the format",
    "an image of an older version than this reader knows",
    "a lookup would take more steps than the image declares, or than are allowed",
];
group! {
    /// The known members of a create.
    KNOWN: u32 {
        KNOWN_MODE = 0x01,
        KNOWN_UID = 0x02,
        KNOWN_GID = 0x04,
        KNOWN_CLIENT = 0x08,
        KNOWN_HOUR = 0x10,
        /// of questions: birthmark_hint.h
        KNOWN_NAME = 0x20,
    }
}
group! {
    /// The results of bm_image_check().
    STATUS = "bm_status": usize {
        OK = 0,
        /// fewer bytes than a header, or than in it
        TRUNCATED = 1,
        /// other magic bytes
        NO_IMAGE = 2,
        /// an unknown version
        NEWER = 3,
        /// more bytes than in the header
        TRAILING = 4,
        /// not the bytes that were written
        CHECKSUM = 5,
        /// right checksum, but not the format
        MALFORMED = 6,
        /// a version that is no longer read
        OLDER = 7,
        /// more steps than declared, or than allowed
        COSTLY = 8,
    }
}
group! {
    /// The position of a rule's component in a name.
    PLACE = "bm_place": usize {
        WHOLE = 0,
        FIRST = 1,
        LAST = 2,
        MIDDLE = 3,
        PREFIX = 4,
        /// in no place: every create has it
        ANY = 5,
        PLACES = 6,
    }
}
group! {
    /// The attributes that trees branch on.
    ATTRIBUTE = "bm_attribute": usize {
        ATTR_FIRST = 0,
        ATTR_MIDDLE = 1,
        ATTR_LAST = 2,
        ATTR_MODE = 3,
        ATTR_UID = 4,
        ATTR_GID = 5,
        ATTRS = 6,
    }
}
group! {
    /// The source of a forest's feature.
    SOURCE = "bm_source": usize {
        /// byte number argument of the history
        SOURCE_HISTORY = 0,
        /// number argument of the name
        SOURCE_NAME = 1,
        /// the code of value number argument
        SOURCE_CODE = 2,
        /// the hour; 24 if unknown
        SOURCE_HOUR = 3,
        SOURCES = 4,
    }
}
group! {
    /// Scopes of a history, in the order of masks and cuts.
    HISTORY_SCOPES_ENUM = "bm_history_scope": usize {
        /// of files in its directory, by its user, of its name
        SCOPE_DIRECTORY = 0,
        /// of files by its user, of its name
        SCOPE_CALLER = 1,
        /// of files of its name
        SCOPE_NAME = 2,
        SCOPE_NOTHING = 3,
        SCOPES = 4,
    }
}
group! {
    /// Bytes of a history that are not 0 if it has files in the directory, by the user, and of the
    /// name.
    TELLS = "bm_tells": usize {
        TELLS_DIRECTORY = 62,
        TELLS_CALLER = 110,
        TELLS_NAME = 78,
    }
}
group! {
    /// The numbers of a name.
    NAME_NUMBER = "bm_name_number": usize {
        NAME_LENGTH = 0,
        NAME_PERIODS = 1,
        NAME_DIGITS = 2,
        NAME_CAPITALS = 3,
        /// no letters, digits, or periods
        NAME_SIGNS = 4,
        /// the longest
        NAME_DIGIT_RUN = 5,
        NAME_HEX_RUN = 6,
        /// from the last period on
        NAME_SUFFIX_LENGTH = 7,
        NAME_FIRST_BYTE = 8,
        NAME_LAST_BYTE = 9,
        /// whether there is one
        NAME_RANDOM_WORD = 10,
        NAME_NUMBERS = 11,
    }
}
group! {
    /// The coded values: numbers of the create, and hashes.
    VALUE = "bm_value": usize {
        VALUE_MODE = 0,
        VALUE_UID = 1,
        VALUE_GID = 2,
        VALUE_CLIENT = 3,
        VALUE_SHAPE = 4,
        /// of the shape, from its last period on
        VALUE_SUFFIX = 5,
        VALUES = 6,
    }
}
group! {
    /// The operating points.
    POINT = "bm_point": usize {
        ACCURATE = 0,
        BOUNDED = 1,
        POINTS = 2,
    }
}
group! {
    /// The kinds of sections.
    SECTION = "bm_section": usize {
        SECTION_RULES = 1,
        SECTION_TREES = 2,
        SECTION_FOREST = 3,
    }
}

/// All of it, in the order of the header of C.
pub const GROUPS: [Group; 14] = [
    LIMITS,
    HEADER,
    HASH,
    STATUS,
    KNOWN,
    PLACE,
    ATTRIBUTE,
    SOURCE,
    HISTORY_SCOPES_ENUM,
    TELLS,
    NAME_NUMBER,
    VALUE,
    POINT,
    SECTION,
];
