//! The laws, one file each.

pub mod arm_pfc;
pub mod codel;
pub mod cpc;
pub mod head_drop;
pub mod pi;
pub mod red;
pub mod tail_drop;
