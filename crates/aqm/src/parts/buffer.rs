//! Buffer size in a law's equations: the actual one, or the parameter `buffer`.

use crate::link_context::LinkContext;
use sojourn_params::InputError;
use sojourn_units::{Amount, Span};

/// Buffer size, packets: the value of the key `buffer`; else the actual one; else, if that is unlimited, the
/// bandwidth-delay product, at least ten packets.
pub fn buffer(given: Option<Amount>, context: &LinkContext) -> Result<f64, InputError> {
    if let Some(amount) = given {
        let buffer = context.packets(amount);
        if buffer > 0.0 {
            return Ok(buffer);
        }
        let found = format!("{amount} on a link of {}", context.rate);
        return Err(InputError::conflict(found, "is 0 packets", "more than 0").at("buffer"));
    }
    if context.limit.is_finite() {
        return Ok(context.limit);
    }
    let rtt = context.base_rtt.unwrap_or(UNKNOWN_RTT);
    Ok(context.packets(Amount::Delay(rtt)).max(FEWEST))
}

/// Default base RTT: RFC 8289's interval.
const UNKNOWN_RTT: Span = Span::from_millis(100);
/// Smallest default buffer, packets: one initial window (RFC 6928).
const FEWEST: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Rate;

    #[test]
    fn the_default_is_the_actual_buffer_or_the_bandwidth_delay_product() {
        let rate = Rate::from_bits_per_second(8e6);
        let context = LinkContext { rate, packet: 1000.0, limit: 300.0, flows: None, base_rtt: None };
        assert_eq!(buffer(None, &context), Ok(300.0));
        assert_eq!(buffer(Some(Amount::Packets(50.0)), &context), Ok(50.0));
        let endless = LinkContext { limit: f64::INFINITY, ..context };
        assert_eq!(buffer(None, &endless), Ok(100.0));
        assert_eq!(buffer(None, &LinkContext { base_rtt: Some(Span::from_millis(1)), ..endless }), Ok(10.0));
    }
}
