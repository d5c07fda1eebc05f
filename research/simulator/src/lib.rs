//! Storage papers' systems and loads, and simulated drives beside measured ones: the closed loop of one
//! client ([`closed`]) with [`measured`] requests, and the error against the real drive
//! ([`validation`]); [`traces`] of block devices ([`replay`]); systems of many disks that serve files
//! ([`attached`]). [`theory`] checks clocks and queues. Drives, queues and caches are those of
//! [`birthmark_storage`].

pub mod attached;
pub mod bench;
pub mod cache;
pub mod closed;
pub mod demerit;
pub mod host;
pub mod issue;
pub mod load;
pub mod measured;
pub mod prefetch;
pub mod random;
pub mod replay;
pub mod scale;
pub mod spread;
pub mod srt;
pub mod stack;
pub mod stream;
pub mod theory;
pub mod traces;
pub mod validation;
