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
/// Bulk, best effort, voice; and with video. Best effort, whose part is the whole rate, comes last: bulk has its sixteenth.
const THREE: [Part; 3] = [part(1.0 / 16.0, 1), part(1.0, 0), part(0.25, 2)];
const FOUR: [Part; 4] = [part(1.0 / 16.0, 1), part(1.0, 0), part(0.5, 2), part(0.25, 3)];
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

    /// tc-cake(8), "Priority queue parameters", word by word: codepoints of a tin, its threshold in percent.
    const DIFFSERV4: [(&str, f64); 4] = [
        ("CS1, LE", 6.25),
        ("general", 100.0),
        ("AF4x, AF3x, CS3, AF2x, CS2, TOS4, TOS1", 50.0),
        ("CS7, CS6, EF, VA, CS5, CS4", 25.0),
    ];
    const DIFFSERV3: [(&str, f64); 3] =
        [("CS1, LE", 6.25), ("general", 100.0), ("CS7, CS6, EF, VA, TOS4", 25.0)];

    /// Codepoints of a name: RFC 2474 and RFC 2597 (CSn, AFxy), RFC 3246 (EF), RFC 5865 (VA), RFC 8622 (LE); TOSn has the
    /// bits n of RFC 1349, which stand one higher in its octet than a DSCP does in its own.
    fn codepoints(name: &str) -> Vec<u8> {
        let digit = |at: usize| name.as_bytes()[at] - b'0';
        match name {
            "LE" => vec![1],
            "EF" => vec![46],
            "VA" => vec![44],
            _ if name.starts_with("CS") => vec![8 * digit(2)],
            _ if name.starts_with("AF") => (1..=3).map(|drop| 8 * digit(2) + 2 * drop).collect(),
            _ if name.starts_with("TOS") => vec![digit(3)],
            other => panic!("{other}"),
        }
    }

    /// TOS1 is LE since kernel 5.9, as both are codepoint 1: bulk, which stands before it.
    #[test]
    fn tins_are_those_of_the_manual_page_codepoint_by_codepoint() {
        for (mode, tins) in [(Diffserv::Diffserv3, &DIFFSERV3[..]), (Diffserv::Diffserv4, &DIFFSERV4)] {
            let named = |dscp: u8| {
                let has = |names: &str| {
                    names != "general" && names.split(", ").any(|name| codepoints(name).contains(&dscp))
                };
                tins.iter().position(|(names, _)| has(names)).unwrap_or(1)
            };
            for dscp in 0..64 {
                assert_eq!(mode.tin(dscp) as usize, named(dscp), "{mode:?}: {dscp}");
            }
            let thresholds: Vec<f64> = mode.parts().iter().map(|part| 100.0 * part.share).collect();
            assert_eq!(thresholds, tins.iter().map(|(_, percent)| *percent).collect::<Vec<_>>());
        }
    }

    /// "besteffort: ... placing all traffic in one tin"; "precedence: ... legacy interpretation of TOS Precedence field", which
    /// is the first three bits (RFC 791).
    #[test]
    fn besteffort_has_one_tin_and_precedence_eight() {
        for dscp in 0..64 {
            assert_eq!(Diffserv::Besteffort.tin(dscp), 0);
            assert_eq!(Diffserv::Precedence.tin(dscp), u32::from(dscp / 8));
        }
        assert_eq!((Diffserv::Besteffort.parts().len(), Diffserv::Precedence.parts().len()), (1, 8));
    }

    /// The manual page names no codepoints of diffserv8. RFC 4594, section 2, and RFC 8622 order the classes of service; no
    /// tin is against that order: lower effort, low priority, best effort, bulk data and video, telephony, control.
    #[test]
    fn diffserv8_keeps_the_order_of_service_classes() {
        let tin = |name: &str| Diffserv::Diffserv8.tin(codepoints(name)[0]);
        let order = ["LE", "CS1", "CS0", "AF4x", "CS2", "EF", "CS7"].map(tin);
        assert!(order.is_sorted(), "{order:?}");
        assert_eq!((order[0], order[6]), (0, 7));
        assert_eq!(tin("VA"), tin("EF"));
        assert!((0..64).all(|dscp| Diffserv::Diffserv8.tin(dscp) < 8));
        let shares = Diffserv::Diffserv8.parts();
        for (before, part) in shares.iter().zip(&shares[1..]) {
            assert!((part.share - 0.875 * before.share).abs() < 1e-15 && part.priority > before.priority);
        }
    }
}
