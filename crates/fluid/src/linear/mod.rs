//! Loops about an equilibrium, with the exact delay.
//!
//! Units are packets, seconds, packets/s. P(s) = dq/dp is negative at low frequencies, since windows fall when p
//! rises, and a law's C = dp/dq is positive. The loop is L = -P C, the closed loop's poles solve 1 + L = 0. Every
//! transfer function is a quotient of two functions that are analytic where they are evaluated, so that a pole is a
//! zero of the characteristic function and no delay is ever replaced by a rational function.
//!
//! [`equilibrium`] finds the equilibrium of a link, [`plant`] linearises it there, [`loops`] closes it with a law in
//! s, [`sampled`] with one that runs every period; [`margins`], [`nyquist`] and [`poles`] analyse that loop,
//! [`network`] closes that of several links with their laws ([`transfer`]) and breaks it at one of them;
//! [`boundary`] maps the verdict over two parameters, [`max_min`] finds the shares of queues before one link. [`disturbed`] has the
//! response to steps of load and rate. [`meter`]
//! limits the evaluations of all this.

pub mod aliases;
pub mod bound;
pub mod boundary;
mod clocked;
pub mod complex;
pub mod disturbed;
pub mod equilibrium;
pub mod loops;
pub mod margins;
mod matrix;
pub mod max_min;
pub mod meter;
pub mod network;
pub mod noise;
pub mod nyquist;
pub mod plant;
pub mod poles;
pub mod sampled;
pub mod transfer;
mod winding;
pub(crate) mod windows;
