//! Bytes of an input, read from the front.

/// Remaining input.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    /// All of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { rest: bytes }
    }

    /// Returns whether everything was read.
    pub fn is_over(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte; zero beyond the end.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        *first
    }

    /// The next byte as a number.
    pub fn number(&mut self) -> u64 {
        u64::from(self.byte())
    }

    /// Two bytes as a number, the low one first.
    pub fn wide(&mut self) -> u64 {
        self.number() | self.number() << 8
    }
}

/// So many bits of `byte` from bit `at` on.
pub fn bits(byte: u8, at: u32, count: u32) -> usize {
    usize::from(byte >> at) & ((1 << count) - 1)
}
