//! Short transfers over TCP, one after the other, as two papers have them: S. Ryu, C. Rump, C. Qiao, Simulation, 2005,
//! section 4; N. Bigdeli, M. Haeri, Iranian Journal of Science and Technology B 31(B6), 2007, experiment 7.

use super::{VOLUMES, is_volume};
use sojourn_params::{Described, EntryParams, Page, SizeDraw, TimeDraw, choice, params};
use sojourn_random::Draw;

choice! {
    /// A paper whose mice are known.
    pub enum Paper {
        /// slots that are always busy
        PiPd = "pi_pd",
        /// pauses with a mean of 3 s
        ArmPfc = "arm_pfc",
    }
}

params! {
    /// Parameters of mice.
    pub struct Mice {
        /// the paper whose `size` and `idle` apply unless they are given
        preset: Paper = Paper::PiPd, "its slots are always busy: the load follows from `count`";
        /// payload of each, or a distribution of it, in bytes or in full packets
        size: Option<SizeDraw> = None, where VOLUMES if |size| size.as_ref().is_none_or(is_volume),
            "the preset's, of both { exponential = \"12 packets\" }";
        /// pause from the end of one transfer to the start of the next, or a distribution of it
        idle: Option<TimeDraw> = None, "the preset's: 0 s of pi_pd, { exponential = \"3 s\" } of arm_pfc";
    }
}

impl Mice {
    /// Payload of each.
    pub fn size(&self) -> SizeDraw {
        // The second paper does not state its sizes.
        self.size.clone().unwrap_or_else(|| SizeDraw::of_packets(draw(Draw::exponential(12.0))))
    }

    /// From the end of one to the start of the next.
    pub fn idle(&self) -> TimeDraw {
        self.idle.clone().unwrap_or_else(|| {
            TimeDraw::of_seconds(draw(match self.preset {
                Paper::PiPd => Draw::constant(0.0),
                Paper::ArmPfc => Draw::exponential(3.0),
            }))
        })
    }
}

/// A distribution whose numbers are known.
fn draw<E: std::fmt::Debug>(made: Result<Draw, E>) -> Draw {
    made.expect("the preset's numbers are in range")
}

impl EntryParams for Mice {
    const PAGE: Page = Page {
        stem: "mice",
        summary: "short transfers over TCP, one after the other, each over a connection of its own",
        idea: "A flow is a slot: a transfer of `size`, then `idle`, then the next with a fresh connection and fresh state. \
               A size in packets is a whole number of them, at least one. The presets are \
               those of two papers. pi_pd: exponential sizes of 12 packets on average, which last about a second \
               there, and no pause, so that each slot is always busy. arm_pfc: pauses exponential with a mean of 3 s; that \
               paper does not state the sizes, and 12 packets are taken here, too. `size` and `idle` beside a preset replace \
               its own.",
        equation: "",
        source: "S. Ryu et al., Simulation, 2005, section 4; N. Bigdeli, M. Haeri, IJST B 31(B6), 2007, experiment 7",
        fields: <Mice as Described>::fields,
    };
}
