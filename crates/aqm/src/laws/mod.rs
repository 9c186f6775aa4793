//! The laws, one file each.

pub mod arm_pfc;
pub mod avq;
pub mod blue;
pub mod codel;
pub mod head_drop;
pub mod pi;
pub mod red;
pub mod sred;
pub mod tail_drop;
