//! Records of a run: captures of links, for other tools to read.
//!
//! [`Records`] is a [`Tap`]. It streams: what a record holds back is what may still be out of order, since flows are
//! computed ahead of their time ([`Tap::settled`]). The caller opens the files.

mod capture;
mod headers;
mod stream;

use crate::tap::{Joined, Sight, Tap};
use capture::Capture;
pub use capture::{CapturePlan, CapturePoint};
use headers::Ends;
use sojourn_units::{Span, Time};
pub use stream::{Sink, Unwritten};

/// Records of a run.
pub struct Records {
    ends: Ends,
    captures: Vec<Capture>,
}

impl Records {
    /// Records with these captures.
    pub fn new(captures: Vec<CapturePlan>) -> Records {
        Records { ends: Ends::default(), captures: captures.into_iter().map(Capture::new).collect() }
    }

    /// The first record that could not be written, and why; it ends where it was whole last.
    pub fn failure(&self) -> Option<&Unwritten> {
        self.captures.iter().find_map(Capture::failure)
    }

    /// Writes what is left at the end of the run.
    pub fn finish(&mut self, end: Time) {
        self.captures.iter_mut().for_each(|capture| capture.finish(end));
    }
}

impl Tap for Records {
    fn links(&self) -> Vec<u32> {
        self.captures.iter().flat_map(Capture::links).collect()
    }

    fn joined(&mut self, flow: Joined) {
        self.ends.join(flow);
    }

    fn sent(&mut self, at: Time, packet: Sight<'_>) {
        self.ends.send(at, packet);
    }

    fn copied(&mut self, from: u32, to: u32) {
        self.ends.copy(from, to);
    }

    fn came_back(&mut self, _at: Time, packet: Sight<'_>) {
        self.ends.come_back(packet);
    }

    fn offered(&mut self, now: Time, link: u32, packet: Sight<'_>) {
        for capture in &mut self.captures {
            capture.offered(now, link, packet, &self.ends);
        }
    }

    fn transmitted(&mut self, now: Time, link: u32, packet: Sight<'_>, _: Span, arrival: Option<Time>) {
        for capture in &mut self.captures {
            capture.transmitted(now, link, packet, arrival, &self.ends);
        }
    }

    fn crossed(&mut self, at: Time, link: u32, packet: Sight<'_>) {
        for capture in &mut self.captures {
            capture.crossed(at, link, packet, &self.ends);
        }
    }

    fn settled(&mut self, until: Time) {
        self.captures.iter_mut().for_each(|capture| capture.settle(until));
    }
}
