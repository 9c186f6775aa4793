//! Weighted max-min rates.
//!
//! D. Bertsekas and R. Gallager, Data Networks, 1992, section 6.5.2: of demands d_i and weights w_i before one link of
//! C, each has min(d_i, w_i v), with the least v for which their sum is min(C, sum of d_i).

/// A demand, with its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// w, above 0.
    pub weight: f64,
    /// d, packets/s; infinite: all that there is.
    pub rate: f64,
}

/// Rates of demands before a link of `capacity`.
pub fn rates(capacity: f64, demands: &[Demand]) -> Vec<f64> {
    let mut is_met = vec![false; demands.len()];
    loop {
        let (mut left, mut open) = (capacity, 0.0);
        for (demand, is_met) in demands.iter().zip(&is_met) {
            if *is_met { left -= demand.rate } else { open += demand.weight }
        }
        let level = left.max(0.0) / open;
        let mut changes = false;
        for (demand, is_met) in demands.iter().zip(&mut is_met) {
            if !*is_met && demand.rate <= demand.weight * level {
                (*is_met, changes) = (true, true);
            }
        }
        if !changes {
            let rate =
                |(demand, is_met): (&Demand, bool)| if is_met { demand.rate } else { demand.weight * level };
            return demands.iter().zip(is_met).map(rate).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wants_less_than_its_part_leaves_the_rest() {
        let demand = |weight, rate| Demand { weight, rate };
        let found = rates(10.0, &[demand(1.0, 2.0), demand(1.0, 2.6), demand(1.0, 4.0), demand(1.0, 5.0)]);
        assert_eq!(found, [2.0, 2.6, 2.7, 2.7], "the usual example of max-min fairness");
        assert_eq!(rates(8.0, &[demand(3.0, f64::INFINITY), demand(1.0, f64::INFINITY)]), [6.0, 2.0]);
        assert_eq!(rates(8.0, &[demand(3.0, 2.0), demand(1.0, f64::INFINITY)]), [2.0, 6.0]);
        assert_eq!(rates(8.0, &[demand(3.0, 2.0), demand(1.0, 3.0)]), [2.0, 3.0]);
    }
}
