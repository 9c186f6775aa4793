//! How long a thread that could have run did not: what a busy machine takes from an exchange.

use sojourn_units::Span;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The kernel's count of it for the thread that opened this. Where it is not kept, it stays at nothing.
pub(super) struct Turns {
    file: Option<File>,
    /// Nanoseconds.
    waited: u64,
}

impl Turns {
    pub(super) fn open() -> Turns {
        let mut turns = Turns { file: File::open("/proc/thread-self/schedstat").ok(), waited: 0 };
        turns.waited();
        turns
    }

    /// How long since it was asked last.
    pub(super) fn waited(&mut self) -> Span {
        let waited = self.count().unwrap_or(0);
        let before = std::mem::replace(&mut self.waited, waited);
        Span::from_nanos(waited.saturating_sub(before))
    }

    /// The second number: time on the processor, time in wait for one, turns.
    fn count(&self) -> Option<u64> {
        let mut text = [0; 64];
        let len = self.file.as_ref()?.read_at(&mut text, 0).ok()?;
        str::from_utf8(&text[..len]).ok()?.split(' ').nth(1)?.parse().ok()
    }
}
