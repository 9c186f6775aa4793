//! Strict priority: a band is served while those before it have no packet.

use crate::qdiscs::scheduled::Scheduler;
use sojourn_units::Time;

/// Most bands.
pub const MOST_BANDS: usize = 64;

/// Bands in order of their classes, at most [`MOST_BANDS`].
#[derive(Clone, Debug)]
pub struct Strict {
    queues: Vec<Band>,
    /// The queue of each band.
    bands: [u32; MOST_BANDS],
    /// A bit for each band with packets.
    waiting: u64,
}

/// A queue.
#[derive(Clone, Copy, Debug)]
struct Band {
    number: u32,
    packets: u32,
}

impl Strict {
    /// No bands yet.
    #[expect(clippy::new_without_default, reason = "as the other schedulers")]
    pub fn new() -> Strict {
        Strict { queues: Vec::new(), bands: [0; MOST_BANDS], waiting: 0 }
    }

    /// The first packet of a queue has left it.
    fn left(&mut self, queue: u32) {
        let band = &mut self.queues[queue as usize];
        band.packets -= 1;
        if band.packets == 0 {
            self.waiting &= !(1 << band.number);
        }
    }
}

impl Scheduler for Strict {
    fn add(&mut self, class: u32) {
        self.bands[class as usize] = self.queues.len() as u32;
        self.queues.push(Band { number: class, packets: 0 });
    }

    fn arrival(&mut self, _now: Time, queue: u32, _len: u32, _group: u32) {
        let band = &mut self.queues[queue as usize];
        band.packets += 1;
        self.waiting |= 1 << band.number;
    }

    fn select(&mut self, _now: Time) -> Option<u32> {
        (self.waiting != 0).then(|| self.bands[self.waiting.trailing_zeros() as usize])
    }

    fn sent(&mut self, _now: Time, queue: u32, _len: u32) {
        self.left(queue);
    }

    fn dropped(&mut self, queue: u32, _len: u32) {
        self.left(queue);
    }

    fn active(&self) -> usize {
        self.waiting.count_ones() as usize
    }
}
