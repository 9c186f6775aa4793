//! One transfer.

use super::{Action, App, Sizes};
use sojourn_units::Time;

/// A fixed volume, once.
pub(crate) struct Transfer {
    sizes: Sizes,
    action: Option<Action>,
}

impl Transfer {
    pub(crate) fn new(sizes: Sizes) -> Transfer {
        Transfer { sizes, action: None }
    }
}

impl App for Transfer {
    fn start(&mut self, _now: Time, bytes: Option<u64>) {
        self.action = Some(Action::Send(bytes.unwrap_or_else(|| self.sizes.draw())));
    }
    fn acknowledged(&mut self, _now: Time) {
        self.action = Some(Action::Leave);
    }
    fn next(&mut self, _now: Time) -> Option<Action> {
        self.action.take()
    }
}
