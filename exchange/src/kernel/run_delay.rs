//! Time that a runnable thread waits for a processor: the delay that a busy machine adds to an exchange.

use sojourn_units::Span;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The kernel's counter for the thread that opened this; stays at zero if the kernel keeps none.
pub(super) struct RunDelay {
    file: Option<File>,
    /// Nanoseconds.
    waited: u64,
}

impl RunDelay {
    pub(super) fn open() -> RunDelay {
        let mut run_delay = RunDelay { file: File::open("/proc/thread-self/schedstat").ok(), waited: 0 };
        run_delay.increase();
        run_delay
    }

    /// Increase since the last call.
    pub(super) fn increase(&mut self) -> Span {
        let waited = self.count().unwrap_or(0);
        let before = std::mem::replace(&mut self.waited, waited);
        Span::from_nanos(waited.saturating_sub(before))
    }

    /// Reads the second number of `schedstat`: CPU time, run delay, time slices.
    fn count(&self) -> Option<u64> {
        let mut text = [0; 64];
        let len = self.file.as_ref()?.read_at(&mut text, 0).ok()?;
        str::from_utf8(&text[..len]).ok()?.split(' ').nth(1)?.parse().ok()
    }
}
