//! Loops about a point of rest, with the exact delay.
