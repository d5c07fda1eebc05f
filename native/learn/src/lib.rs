//! What models learn from: components and numbers of names, what was seen before a create, sums of
//! a forest's splits and how its trees grow, and how certain an answer is.

pub mod certainty;
pub mod components;
pub mod encode;
pub mod forest;
pub mod grow;
pub mod history;
