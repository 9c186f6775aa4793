//! The tins of each mode: which DSCPs they have, their parts of the rate, and their order.

use sojourn_params::choice;

choice! {
    /// Tins by DSCP.
    pub enum Diffserv {
        /// one
        Besteffort = "besteffort",
        /// eight, by the first three bits of the DSCP
        Precedence = "precedence",
        /// bulk, best effort and voice
        Diffserv3 = "diffserv3",
        /// bulk, best effort, video and voice
        Diffserv4 = "diffserv4",
        /// eight, by service class
        Diffserv8 = "diffserv8",
    }
}

/// A tin's part of the rate, and its place in the order of service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// Rate up to which it has priority, as a part of the whole.
    pub(super) share: f64,
    /// Larger comes first.
    pub(super) priority: u8,
}

const fn part(share: f64, priority: u8) -> Part {
    Part { share, priority }
}

const ONE: [Part; 1] = [part(1.0, 0)];
/// Bulk, best effort, voice; and with video.
const THREE: [Part; 3] = [part(1.0 / 16.0, 0), part(1.0, 1), part(0.25, 2)];
const FOUR: [Part; 4] = [part(1.0 / 16.0, 0), part(1.0, 1), part(0.5, 2), part(0.25, 3)];
/// Eight tins, each of 7/8 of the rate of the one below it (sch_cake.c, cake_config_diffserv8).
const EIGHT: [Part; 8] = [
    part(1.0, 0),
    part(0.875, 1),
    part(0.765_625, 2),
    part(0.669_921_875, 3),
    part(0.586_181_640_625, 4),
    part(0.512_908_935_546_875, 5),
    part(0.448_795_318_603_515_6, 6),
    part(0.392_695_903_778_076_2, 7),
];

impl Diffserv {
    /// The tins, by their numbers (tc-cake(8), priority queue parameters).
    pub(super) fn parts(self) -> &'static [Part] {
        match self {
            Diffserv::Besteffort => &ONE,
            Diffserv::Diffserv3 => &THREE,
            Diffserv::Diffserv4 => &FOUR,
            Diffserv::Precedence | Diffserv::Diffserv8 => &EIGHT,
        }
    }

    /// Names of the tins, by their numbers, as statistics of tc-cake(8) have them.
    pub(super) fn names(self) -> Vec<String> {
        match self {
            Diffserv::Besteffort => vec!["best_effort".into()],
            Diffserv::Diffserv3 => ["bulk", "best_effort", "voice"].map(String::from).into(),
            Diffserv::Diffserv4 => ["bulk", "best_effort", "video", "voice"].map(String::from).into(),
            Diffserv::Precedence | Diffserv::Diffserv8 => (0..8).map(|tin| format!("tin_{tin}")).collect(),
        }
    }

    /// The tin of a DSCP.
    pub(super) fn tin(self, dscp: u8) -> u32 {
        match self {
            Diffserv::Besteffort => 0,
            Diffserv::Precedence => u32::from(dscp >> 3),
            Diffserv::Diffserv3 => match dscp {
                CS1 | LE => 0,
                TOS4 | VOICE_ADMIT | EF | CS6 | CS7 => 2,
                _ => 1,
            },
            Diffserv::Diffserv4 => match dscp {
                CS1 | LE => 0,
                CS4 | CS5 | VOICE_ADMIT | EF | CS6 | CS7 => 3,
                TOS4 | CS2 | 18 | 20 | 22 | CS3 | 26 | 28 | 30 | 34 | 36 | 38 => 2,
                _ => 1,
            },
            Diffserv::Diffserv8 => EIGHT_TINS[usize::from(dscp) % 64],
        }
    }
}

const LE: u8 = 1;
const TOS4: u8 = 4;
const CS1: u8 = 8;
const CS2: u8 = 16;
const CS3: u8 = 24;
const CS4: u8 = 32;
const CS5: u8 = 40;
const VOICE_ADMIT: u8 = 44;
const EF: u8 = 46;
const CS6: u8 = 48;
const CS7: u8 = 56;

/// Tins of diffserv8 by DSCP (sch_cake.c, diffserv8): LE and CS1 low, AF4x and AF3x in the middle, EF and CS7 high.
#[rustfmt::skip]
const EIGHT_TINS: [u32; 64] = [
    2, 0, 1, 2, 4, 2, 2, 2,  1, 2, 1, 2, 1, 2, 1, 2,
    5, 2, 4, 2, 4, 2, 4, 2,  3, 2, 3, 2, 3, 2, 3, 2,
    6, 2, 3, 2, 3, 2, 3, 2,  6, 2, 2, 2, 6, 2, 6, 2,
    7, 2, 2, 2, 2, 2, 2, 2,  7, 2, 2, 2, 2, 2, 2, 2,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// tc-cake(8): the DSCPs of each tin of diffserv3 and diffserv4, all others best effort.
    #[test]
    fn tins_are_those_of_the_manual_page() {
        let tins = |mode: Diffserv| -> Vec<u32> { (0..64).map(|dscp| mode.tin(dscp)).collect() };
        let of =
            |tins: &[u32], tin: u32| -> Vec<usize> { (0..64).filter(|dscp| tins[*dscp] == tin).collect() };
        let three = tins(Diffserv::Diffserv3);
        assert_eq!(of(&three, 0), [1, 8]);
        assert_eq!(of(&three, 2), [4, 44, 46, 48, 56]);
        let four = tins(Diffserv::Diffserv4);
        assert_eq!(of(&four, 0), [1, 8]);
        assert_eq!(of(&four, 2), [4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38]);
        assert_eq!(of(&four, 3), [32, 40, 44, 46, 48, 56]);
        for mode in [Diffserv::Diffserv3, Diffserv::Diffserv4, Diffserv::Diffserv8, Diffserv::Precedence] {
            assert!(tins(mode).iter().all(|tin| (*tin as usize) < mode.parts().len()));
        }
    }
}
