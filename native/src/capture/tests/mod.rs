//! Tests over several layers, from the bytes of a file to rows.

mod damage;
mod files;
mod messages;
mod packets;
mod procedures2;
mod procedures3;
mod streams;
