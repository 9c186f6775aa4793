//! One transfer.

use super::{TcpApp, Wish};
use crate::network::SizePlan;
use sojourn_units::{Stream, Time};

/// A fixed volume, once.
pub(crate) struct Transfer {
    size: SizePlan,
    sizes: Stream,
    wish: Option<Wish>,
}

impl Transfer {
    pub(crate) fn new(size: SizePlan, sizes: Stream) -> Transfer {
        Transfer { size, sizes, wish: None }
    }
}

impl TcpApp for Transfer {
    fn start(&mut self, _now: Time, bytes: Option<u64>) {
        self.wish = Some(Wish::Send(bytes.unwrap_or_else(|| self.size.draw(&mut self.sizes))));
    }
    fn acknowledged(&mut self, _now: Time) {
        self.wish = Some(Wish::Leave);
    }
    fn next(&mut self, _now: Time) -> Option<Wish> {
        self.wish.take()
    }
}
