//! One transfer.

use super::{Sizes, TcpApp, Wish};
use sojourn_units::Time;

/// A fixed volume, once.
pub(crate) struct Transfer {
    sizes: Sizes,
    wish: Option<Wish>,
}

impl Transfer {
    pub(crate) fn new(sizes: Sizes) -> Transfer {
        Transfer { sizes, wish: None }
    }
}

impl TcpApp for Transfer {
    fn start(&mut self, _now: Time, bytes: Option<u64>) {
        self.wish = Some(Wish::Send(bytes.unwrap_or_else(|| self.sizes.draw())));
    }
    fn acknowledged(&mut self, _now: Time) {
        self.wish = Some(Wish::Leave);
    }
    fn next(&mut self, _now: Time) -> Option<Wish> {
        self.wish.take()
    }
}
