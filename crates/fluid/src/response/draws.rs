//! Draws of tests that run a sender packet by packet.

/// Uniform numbers by xorshift (G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003).
pub(super) struct Draws(u64);

impl Default for Draws {
    fn default() -> Draws {
        Draws(0x9e37_79b9_7f4a_7c15)
    }
}

impl Draws {
    /// From 0 to 1.
    pub(super) fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
