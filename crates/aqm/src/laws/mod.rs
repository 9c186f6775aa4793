//! Laws, one file each; a law with a fluid counterpart is a folder with both.

pub mod ared;
pub mod arm_pfc;
pub mod avq;
pub mod blue;
pub mod choke;
pub mod cobalt;
pub mod codel;
pub mod cpc;
pub mod docsis_pie;
pub mod fb_ocq;
pub mod head_drop;
pub mod pi;
pub mod pi2;
pub mod pi_pd;
pub mod pid;
pub mod pie;
pub mod red;
pub mod rem;
pub mod sred;
pub mod tail_drop;
