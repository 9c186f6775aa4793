//! Max-min fair rates by progressive filling (D. Bertsekas, R. Gallager, "Data Networks", 2nd edition, 1992, 6.5.2).

use super::Network;

/// All rates rise together; those over a link that is full stay. Where `is_present` is false a flow has `floor`.
pub(super) fn fill(network: &Network, floor: f64, is_present: impl Fn(usize) -> bool) -> Vec<f64> {
    let flows = network.flows();
    let mut rates = vec![floor; flows];
    let mut rising: Vec<bool> = (0..flows).map(is_present).collect();
    let mut room: Vec<f64> = network
        .capacities()
        .iter()
        .zip(network.loads(&rates))
        .map(|(capacity, load)| capacity - load)
        .collect();
    let mut counts =
        network.loads(&rising.iter().map(|rises| f64::from(u8::from(*rises))).collect::<Vec<_>>());
    loop {
        let step = |(room, count): (&f64, &f64)| if *count > 0.0 { room / count } else { f64::INFINITY };
        let steps: Vec<f64> = room.iter().zip(&counts).map(step).collect();
        let least = steps.iter().copied().fold(f64::INFINITY, f64::min);
        if least == f64::INFINITY {
            return rates;
        }
        let is_full: Vec<bool> = steps.iter().map(|step| *step <= least * (1.0 + SAME)).collect();
        room.iter_mut().zip(&counts).for_each(|(room, count)| *room -= least * count);
        for flow in 0..flows {
            if !rising[flow] {
                continue;
            }
            rates[flow] += least;
            if network.path(flow).iter().any(|link| is_full[*link as usize]) {
                rising[flow] = false;
                network.path(flow).iter().for_each(|link| counts[*link as usize] -= 1.0);
            }
        }
    }
}

/// Relative difference below which two links are full at once.
const SAME: f64 = 1e-12;
