//! The normal distribution function, and its inverse to about 16 digits.
//!
//! The inverse is PPND16 of M. J. Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution",
//! Applied Statistics 37, 1988: rational functions near the middle, in the tails, and far out.

#![allow(clippy::excessive_precision, reason = "the digits are the published ones")]

use sojourn_units::math;

/// Quantile of the standard normal distribution at the probability `p` from [0, 1).
pub(crate) fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * polynomial(&A, r) / polynomial(&B, r);
    }
    // Zero has no logarithm: replaced by half the smallest draw.
    let tail = if q < 0.0 { p.max(f64::EPSILON / 4.0) } else { 1.0 - p };
    let r = (-math::ln(tail)).sqrt();
    let z = if r <= 5.0 {
        polynomial(&C, r - 1.6) / polynomial(&D, r - 1.6)
    } else {
        polynomial(&E, r - 5.0) / polynomial(&F, r - 5.0)
    };
    if q < 0.0 { -z } else { z }
}

/// Standard normal distribution function.
pub(crate) fn below(x: f64) -> f64 {
    math::erfc(-x / std::f64::consts::SQRT_2) / 2.0
}

/// Polynomial by Horner's rule, the constant first.
fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

const A: [f64; 8] = [
    3.387_132_872_796_366_608,
    133.141_667_891_784_377_45,
    1_971.590_950_306_551_442_7,
    13_731.693_765_509_461_125,
    45_921.953_931_549_871_457,
    67_265.770_927_008_700_853,
    33_430.575_583_588_128_105,
    2_509.080_928_730_122_672_7,
];
const B: [f64; 8] = [
    1.0,
    42.313_330_701_600_911_252,
    687.187_007_492_057_908_3,
    5_394.196_021_424_751_107_7,
    21_213.794_301_586_595_867,
    39_307.895_800_092_710_61,
    28_729.085_735_721_942_674,
    5_226.495_278_852_854_561,
];
const C: [f64; 8] = [
    1.423_437_110_749_683_577_34,
    4.630_337_846_156_545_295_9,
    5.769_497_221_460_691_405_5,
    3.647_848_324_763_204_605_04,
    1.270_458_252_452_368_382_58,
    0.241_780_725_177_450_611_77,
    0.022_723_844_989_269_184_583_3,
    7.745_450_142_783_414_076_4e-4,
];
const D: [f64; 8] = [
    1.0,
    2.053_191_626_637_758_821_87,
    1.676_384_830_183_803_849_4,
    0.689_767_334_985_100_004_55,
    0.148_103_976_427_480_074_59,
    0.015_198_666_563_616_457_196_6,
    5.475_938_084_995_344_946e-4,
    1.050_750_071_644_416_843_24e-9,
];
const E: [f64; 8] = [
    6.657_904_643_501_103_777_2,
    5.463_784_911_164_114_369_9,
    1.784_826_539_917_291_335_8,
    0.296_560_571_828_504_891_23,
    0.026_532_189_526_576_123_093,
    0.001_242_660_947_388_078_438_6,
    2.711_555_568_743_487_578_15e-5,
    2.010_334_399_292_288_132_65e-7,
];
const F: [f64; 8] = [
    1.0,
    0.599_832_206_555_887_937_69,
    0.136_929_880_922_735_805_31,
    0.014_875_361_290_850_614_852_5,
    7.868_691_311_456_132_591e-4,
    1.846_318_317_510_054_681_8e-5,
    1.421_511_758_316_445_888_7e-7,
    2.044_263_103_389_939_785_64e-15,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Check values of AS 241, the tabulated quantile of 97.5 %, and far tails.
    #[test]
    fn the_inverse_normal_is_the_published_one() {
        let known: [(f64, f64); 4] = [
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_813_5),
            (0.975, 1.959_963_984_540_054),
            (1.0 / (1_u64 << 54) as f64, -8.292_361_075_813_595),
        ];
        for (p, z) in known {
            assert!((quantile(p) - z).abs() < 4e-15, "{p}: {}", quantile(p));
        }
        assert_eq!(quantile(0.5), 0.0);
        // The smallest and the greatest draw are finite.
        assert!(quantile(0.0) == known[3].1 && quantile(1.0 - f64::EPSILON / 2.0) > 8.1);
    }
}
