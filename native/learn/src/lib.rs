//! Learning: components and numbers of names, histories of creates, the growth and sums of forests,
//! and the certainty of answers.

pub mod certainty;
pub mod components;
pub mod encode;
pub mod forest;
pub mod grow;
pub mod history;
