//! Tests over several layers, from the bytes of a file to rows.

mod compounds;
mod containers;
mod damage;
mod files;
mod gss;
mod layouts;
mod messages;
mod operations4;
mod packets;
mod procedures2;
mod procedures3;
mod streams;
pub mod testing;
mod tunnels;
mod unread;
