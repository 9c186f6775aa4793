//! Loops about a point of rest, with the exact delay.
//!
//! Units are packets, seconds, packets/s. P(s) = dq/dp is negative at low
//! frequencies, since windows fall when p rises, and a law's C = dp/dq is positive.
//! The loop is L = -P C, the closed loop's roots solve 1 + L = 0. Every transfer
//! function is a quotient of two functions that are analytic where they are asked,
//! so that a root is a zero and no delay is ever replaced by a rational function.
//!
//! [`equilibrium`] says where a link rests, [`plant`] what it is there for small
//! signals, [`loops`] closes it with a law in s, [`sampled`] with one that runs every period,
//! [`margins`], [`nyquist`] and [`roots`] judge that loop, [`boundary`] how the verdict changes
//! with two parameters. [`meter`] counts the evaluations that all of that takes.

pub mod aliases;
pub mod boundary;
pub mod complex;
pub mod equilibrium;
pub mod loops;
pub mod margins;
pub mod meter;
pub mod nyquist;
pub mod plant;
pub mod roots;
pub mod sampled;
mod winding;
