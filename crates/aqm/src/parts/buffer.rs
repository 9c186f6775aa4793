//! The buffer that a law reckons with: the real one, or one that is given.

use crate::site::Site;
use sojourn_units::{Amount, Fault, Span};

/// The buffer in packets: what is given as the key `buffer`; else the real one; else, where that has no
/// limit, what the link sends in a round-trip time, and at least ten packets.
pub fn buffer(given: Option<Amount>, site: &Site) -> Result<f64, Fault> {
    if let Some(amount) = given {
        let buffer = site.packets(amount);
        if buffer > 0.0 {
            return Ok(buffer);
        }
        let what = format!("{amount} on a link of {} is nothing; legal: more than 0", site.rate);
        return Err(Fault::new("buffer", what));
    }
    if site.limit.is_finite() {
        return Ok(site.limit);
    }
    let rtt = site.base_rtt.unwrap_or(UNKNOWN_RTT);
    Ok(site.packets(Amount::Delay(rtt)).max(FEWEST))
}

/// The round-trip time where nothing is known of it: RFC 8289's interval.
const UNKNOWN_RTT: Span = Span::from_millis(100);
/// Packets of a buffer that takes a burst of a first window (RFC 6928).
const FEWEST: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Rate;

    #[test]
    fn it_is_the_real_one_unless_there_is_none_or_another_is_given() {
        let rate = Rate::from_bits_per_second(8e6);
        let site = Site { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None };
        assert_eq!(buffer(None, &site), Ok(300.0));
        assert_eq!(buffer(Some(Amount::Packets(50.0)), &site), Ok(50.0));
        let endless = Site { limit: f64::INFINITY, ..site };
        assert_eq!(buffer(None, &endless), Ok(100.0));
        assert_eq!(buffer(None, &Site { base_rtt: Some(Span::from_millis(1)), ..endless }), Ok(10.0));
        let standing = Site { rate: Rate::ZERO, ..site };
        let refused = buffer(Some(Amount::Delay(Span::from_millis(10))), &standing).unwrap_err();
        assert_eq!(refused.to_string(), "buffer: 10 ms on a link of 0 bit/s is nothing; legal: more than 0");
    }
}
