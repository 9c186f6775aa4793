//! The price of a queue, and the signals that carry it.
//!
//! J. Ye et al. 2022, equation (4), with q packets in the queue,
//!
//! ```text
//! p = [(q - beta) / sigma]^+                                                   (4)
//! ```
//!
//! With beta = 0 and sigma = C_i it is the queueing delay, which senders such as FAST and Vegas measure themselves: it needs
//! no signals. As a probability it holds no target: its queue at equilibrium is beta + sigma p*. So the third form has an
//! integral,
//!
//! ```text
//! p = [p^ + K_P e + K_I integral of e]^+,   p^ = 2 / W^2,   W = C_i D                                          (i)
//! e = q - C_i T,   e <= (Q - C T) C_i / C while Q < C T                                                        (ii)
//! K_P = 0.87 / W^2,   K_I = K_P 2 / (W D)                                                                     (iii)
//! ```
//!
//! where the integral counts 3 C_i T of e at most; with the target T, the packets Q of all queues, the rate C of the link. p^
//! is the price at which a Reno flow of round trip D has the rate C_i, so that the integral only corrects it; its zero is at
//! the pole 2 / (W D) of the flow's window. By (ii) no queue pays while the link is not congested: its packets are then those
//! that others did not send. As the integral counts less of a long queue, the mean of q is above C_i T.
//!
//! A price is the probability of a signal per packet. Signals are evenly spaced, without draws: the prices of arrivals add up,
//! and where the sum reaches 1 the packet is signalled; at most one in a round trip, as a flow answers no more, unless the
//! price is 1.

use sojourn_units::Time;

/// Price of a queue by its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PriceLaw {
    /// Signals by prediction of the link's backlog (`predictor.rs`), which has no price of its own.
    Predictive,
    /// Equation (i).
    Pi,
    /// Equation (4).
    Price {
        /// beta, packets.
        beta: f64,
    },
    /// Equation (4) with beta = 0 and sigma = C_i, a price in seconds.
    Delay,
}

/// A queue at the arrival of a packet, which it does not count.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueView {
    /// q, packets.
    pub(super) backlog: f64,
    /// C_i, packets/s.
    pub(super) rate: f64,
    /// D, s.
    pub(super) delay: f64,
    /// sigma, packets; of equation (4) alone.
    pub(super) scale: f64,
}

/// The link at that time.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkView {
    /// Q, packets of all queues.
    pub(super) backlog: f64,
    /// C, packets/s.
    pub(super) rate: f64,
    /// T, s.
    pub(super) target: f64,
}

/// Equation (iii), and p^ of (i).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PiGains {
    /// p^.
    pub(super) usual: f64,
    /// K_P, 1/packet.
    pub(super) by_error: f64,
    /// K_I, 1/(packet s).
    pub(super) by_integral: f64,
}

impl PiGains {
    /// Those of a share, packets/s, and a round trip, s.
    pub(super) fn of(rate: f64, delay: f64) -> PiGains {
        let window = rate * delay;
        let by_error = 0.87 / (window * window);
        PiGains {
            usual: (2.0 / (window * window)).min(1.0),
            by_error,
            by_integral: by_error * 2.0 / (window * delay),
        }
    }
}

/// State of a queue's price.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Price {
    /// p.
    present: f64,
    /// Integral of e, packets s.
    integral: f64,
    /// Time of the last arrival; None: there was none.
    at: Option<Time>,
    /// Sum of the prices of arrivals since the last signal.
    sum: f64,
    /// Time of the last signal.
    signalled: Option<Time>,
}

impl Price {
    /// Price at the last arrival.
    pub(super) fn price(&self) -> f64 {
        self.present
    }

    /// The link has stood still until now, which does not count.
    pub(super) fn resume(&mut self, now: Time) {
        self.at = self.at.map(|_| now);
    }

    /// A packet arrives; true: it is signalled.
    pub(super) fn judge(&mut self, now: Time, law: PriceLaw, queue: &QueueView, link: &LinkView) -> bool {
        let elapsed = self.at.replace(now).map_or(0.0, |at| now.since(at).seconds());
        self.advance(elapsed, law, queue, link);
        let is_signalled = matches!(law, PriceLaw::Pi | PriceLaw::Price { .. });
        is_signalled && self.signals(now, queue.delay)
    }

    /// The price after so many seconds of this queue.
    pub(super) fn advance(&mut self, elapsed: f64, law: PriceLaw, queue: &QueueView, link: &LinkView) {
        self.present = match law {
            PriceLaw::Predictive => 0.0,
            PriceLaw::Pi => self.integrate(elapsed, queue, link),
            PriceLaw::Price { beta } => ((queue.backlog - beta) / queue.scale).clamp(0.0, 1.0),
            PriceLaw::Delay => queue.backlog / queue.rate,
        };
    }

    /// Equations (i) to (iii).
    fn integrate(&mut self, elapsed: f64, queue: &QueueView, link: &LinkView) -> f64 {
        let PiGains { usual, by_error, by_integral } = PiGains::of(queue.rate, queue.delay);
        let error = excess(queue, link);
        // A queue cannot be as far below the target as above it: the integral would wind up in each overshoot.
        self.integral += error.min(MOST_ERROR * queue.rate * link.target) * elapsed;
        // No windup: with the integral alone p is within 0 to 1.
        self.integral = self.integral.clamp(-usual / by_integral, (1.0 - usual) / by_integral);
        (usual + by_error * error + by_integral * self.integral).clamp(0.0, 1.0)
    }

    /// Evenly spaced signals.
    fn signals(&mut self, now: Time, delay: f64) -> bool {
        self.sum += self.present;
        if self.sum < 1.0 {
            return false;
        }
        let is_answered = |at: Time| now.since(at).seconds() >= delay;
        if self.present < 1.0 && !self.signalled.is_none_or(is_answered) {
            // The prices of a round trip do not add up to a burst after it.
            self.sum = 1.0;
            return false;
        }
        self.sum = (self.sum - 1.0).min(1.0);
        self.signalled = Some(now);
        true
    }
}

/// Most of e, by the target of the queue, that the integral counts.
const MOST_ERROR: f64 = 3.0;

/// Equation (ii), packets.
fn excess(queue: &QueueView, link: &LinkView) -> f64 {
    let error = queue.backlog - queue.rate * link.target;
    let of_all = link.backlog - link.rate * link.target;
    if of_all < 0.0 { error.min(of_all * queue.rate / link.rate) } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Span;

    /// W = 10 packets, of a tenth of the link.
    const QUEUE: QueueView = QueueView { backlog: 3.0, rate: 100.0, delay: 0.1, scale: 100.0 };
    /// C T = 5 packets.
    const LINK: LinkView = LinkView { backlog: 10.0, rate: 1000.0, target: 0.005 };

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn assert_near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }

    /// p^ = 0.02, K_P = 0.0087, K_I = 0.0174, e = 2.5.
    #[test]
    fn the_integral_corrects_the_price_of_the_share() {
        let mut price = Price::default();
        assert!(!price.judge(at(0), PriceLaw::Pi, &QUEUE, &LINK));
        assert_near(price.price(), 0.02 + 0.0087 * 2.5);
        price.judge(at(100), PriceLaw::Pi, &QUEUE, &LINK);
        // The integral counts 3 C_i T = 1.5 packets.
        assert_near(price.price(), 0.02 + 0.0087 * 2.5 + 0.0174 * 0.15);
        // Below C T, e is -0.3, whatever the queue has.
        let empty = LinkView { backlog: 2.0, ..LINK };
        price.judge(at(100), PriceLaw::Pi, &QUEUE, &empty);
        assert_near(price.price(), 0.02 - 0.0087 * 0.3 + 0.0174 * 0.15);
        // No windup: the integral of an hour below and of an hour above ends at the bounds.
        for (link, expected) in [(&empty, 0.0), (&LINK, 1.0)] {
            price.judge(at(3_600_000), PriceLaw::Pi, &QUEUE, link);
            price.at = Some(Time::ZERO);
            price.judge(at(3_600_000), PriceLaw::Pi, &QUEUE, link);
            assert_near(price.price(), expected);
            price.at = Some(Time::ZERO);
        }
    }

    #[test]
    fn time_in_which_the_link_stands_still_does_not_count() {
        let mut price = Price::default();
        price.judge(at(0), PriceLaw::Pi, &QUEUE, &LINK);
        price.resume(at(5000));
        price.judge(at(5000), PriceLaw::Pi, &QUEUE, &LINK);
        assert_near(price.price(), 0.02 + 0.0087 * 2.5);
    }

    #[test]
    fn equation_4_and_the_delay_are_prices() {
        let long = QueueView { backlog: 30.0, delay: 0.0, ..QUEUE };
        let law = PriceLaw::Price { beta: 5.0 };
        let mut price = Price::default();
        // 25 packets by 100: every fourth packet.
        let signals: Vec<bool> = (0..8).map(|place| price.judge(at(place), law, &long, &LINK)).collect();
        assert_eq!(signals, [false, false, false, true, false, false, false, true]);
        assert_near(price.price(), 0.25);
        price.judge(at(9), law, &QueueView { backlog: 4.0, ..long }, &LINK);
        assert_near(price.price(), 0.0);
        assert!((0..1000).all(|place| !price.judge(at(place), PriceLaw::Delay, &long, &LINK)));
        assert_near(price.price(), 0.3);
    }

    /// One signal in a round trip of 100 ms, and none owed after it; at a price of 1 every packet.
    #[test]
    fn a_flow_is_signalled_once_in_a_round_trip() {
        let law = PriceLaw::Price { beta: 0.0 };
        let half = QueueView { backlog: 50.0, ..QUEUE };
        let mut price = Price::default();
        let signalled: Vec<u64> =
            (0..301).filter(|place| price.judge(at(*place), law, &half, &LINK)).collect();
        assert_eq!(signalled, [1, 101, 201]);
        let full = QueueView { backlog: 200.0, ..QUEUE };
        assert!((301..310).all(|place| price.judge(at(place), law, &full, &LINK)));
    }
}
