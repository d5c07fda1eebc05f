//! Random operations on small file systems, of which every one must leave them consistent.
