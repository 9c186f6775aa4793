//! What flows send.

pub(crate) mod datagrams;
