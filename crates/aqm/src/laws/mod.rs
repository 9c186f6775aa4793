//! The laws, one file each.

pub mod arm_pfc;
pub mod cobalt;
pub mod codel;
pub mod docsis_pie;
pub mod head_drop;
pub mod pi;
pub mod pi2;
pub mod pie;
pub mod red;
pub mod tail_drop;
