//! Common parts of the two RFCs of PIE: the step of p, and derandomized drops.
//!
//! R. Pan and others, RFC 8033, 2017; G. White, R. Pan, RFC 8034, 2017. Delays are in seconds.

/// Step of p before tuning, RFC 8033, section 4.2; the gains are in Hz.
pub fn step(alpha: f64, beta: f64, delay: f64, old: f64, target: f64) -> f64 {
    alpha * (delay - target) + beta * (delay - old)
}

/// Divisor of the step at a small p, in both RFCs; from 0.1 on they differ.
pub fn tuning(p: f64) -> Option<f64> {
    LADDER.iter().find(|(below, _)| p < *below).map(|(_, divisor)| *divisor)
}

/// Limits the rise of a large p, RFC 8033, section 5.5.
pub fn capped(step: f64, p: f64) -> f64 {
    if p >= CAP_FROM && step > CAP { CAP } else { step }
}

/// Verdict forced by the sum of probabilities since the last drop, RFC 8033, section 5.4; None: random.
pub fn forced(sum: f64) -> Option<bool> {
    if sum < PROB_LOW {
        Some(false)
    } else if sum >= PROB_HIGH {
        Some(true)
    } else {
        None
    }
}

/// Share of drops under [`forced`] verdicts.
///
/// After x = 0.85/p packets, rounded down, that always pass, a drop takes 1/p more on average. p varies, so the
/// staircase is approximated by lines: x - 1/2, and from x = 3/2 down to 0 at x = 1 a second one. The error is half a
/// packet, there one packet. The sum of 8.5 is neglected: one drop in 2000 reaches it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Derandomized {
    /// Share of packets dropped.
    pub share: f64,
    /// Derivative of the share by p.
    pub slope: f64,
}

impl Derandomized {
    /// Index of dispersion of the drops: 1/p packets on average, independent of each other, after the first PROB_LOW / p.
    pub const DISPERSION: f64 = 1.0 / ((1.0 + PROB_LOW) * (1.0 + PROB_LOW));

    /// Share at a constant p.
    pub fn of(p: f64) -> Derandomized {
        let [rises, less] = LINES[if p < LINES_MEET { 0 } else { usize::from(p >= PROB_LOW) + 1 }];
        let packets = rises / p - less;
        Derandomized { share: 1.0 / packets, slope: rises / (p * packets * p * packets) }
    }

    /// p of a share.
    pub fn p_of(share: f64) -> f64 {
        let [line, down, none] = LINES.map(|[rises, less]| rises / (1.0 / share + less));
        line.min(down.max(none))
    }
}

/// Sum of probabilities below which no packet is dropped; also the largest probability scaled by size (RFC 8034).
pub const PROB_LOW: f64 = 0.85;
/// Sum of probabilities from which a drop is certain.
const PROB_HIGH: f64 = 8.5;
/// Decay factor of p at an update without congestion (RFC 8033, section 4.2).
pub const DECAY: f64 = 0.98;
/// Largest p at which a small delay exempts packets (RFC 8033, section 4.1).
pub const SAFE_BELOW: f64 = 0.2;
/// Backlog without drops, packets of mean size (RFC 8033, section 4.1).
pub const SAFE_PACKETS: f64 = 2.0;
/// Packets per drop as a/p - b, for each line (a, b).
const LINES: [[f64; 2]; 3] = [[1.0 + PROB_LOW, 0.5], [1.0 + 2.0 * PROB_LOW, 2.0], [1.0, 0.0]];
/// p at x = 3/2.
const LINES_MEET: f64 = PROB_LOW / 1.5;
const CAP: f64 = 0.02;
const CAP_FROM: f64 = 0.1;
const LADDER: [(f64, f64); 6] =
    [(0.000_001, 2048.0), (0.000_01, 512.0), (0.000_1, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_divisor_follows_the_decade_of_p() {
        // RFC 8033, section 4.2, each line of the table and its border.
        let table = [0.0, 1e-6, 9e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.0999, 0.1, 1.0].map(tuning);
        let divisors = [2048.0, 512.0, 512.0, 128.0, 32.0, 8.0, 2.0, 2.0];
        assert_eq!(table[..8], divisors.map(Some));
        assert_eq!(table[8..], [None, None]);
    }

    /// Packets of a drop, added up: each is dropped when its sum forces it, or by a draw.
    fn packets_of_a_drop(p: f64) -> f64 {
        let (mut packets, mut left, mut sum) = (0.0, 1.0, 0.0);
        while left > 1e-12 {
            sum += p;
            packets += left;
            left *= forced(sum).map_or(1.0 - p, |drop| f64::from(u8::from(!drop)));
        }
        packets
    }

    #[test]
    fn the_derandomized_share_is_that_of_simulated_packets() {
        for p in [1e-4, 0.003, 0.02, 0.1, 0.25, 0.55, 0.7, 0.86, 1.0] {
            let Derandomized { share, slope } = Derandomized::of(p);
            let off = 1.0 / share - packets_of_a_drop(p);
            let stair = if p < LINES_MEET { 0.5 } else { 1.0 };
            assert!(off.abs() <= stair + 1e-3 / p, "{p}: {off} packets");
            assert!((Derandomized::p_of(share) / p - 1.0).abs() < 1e-12, "{p}");
            let rise = (Derandomized::of(p * (1.0 + 1e-6)).share - share) / (1e-6 * p);
            assert!((rise / slope - 1.0).abs() < 1e-4, "{p}: {rise} {slope}");
        }
    }

    #[test]
    fn a_step_is_weights_times_error_and_trend() {
        // 20 ms after 12 ms, target 15 ms: 5 ms / 8 + 8 ms * 1.25.
        assert!((step(0.125, 1.25, 0.020, 0.012, 0.015) - 0.010_625).abs() < 1e-15);
    }

    #[test]
    fn only_large_steps_up_at_large_p_are_capped() {
        assert_eq!((capped(0.05, 0.1), capped(0.05, 0.0999), capped(-0.05, 0.5)), (0.02, 0.05, -0.05));
    }
}
