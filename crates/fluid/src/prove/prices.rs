//! Queues of `sqm` at equilibrium: their weights by utility, and the laws that their prices are.

use super::setting::{self, Setting};
use super::{Assessed, Certificate, EVALUATIONS, Part, PlantModel, assumptions, law_equilibrium};
use crate::linear::equilibrium::Equilibrium;
use crate::linear::meter::Meter;
use crate::read::utilities::{self, PricedLink};
use sojourn_aqm::qdiscs::sqm::fluid::{FlowsOfClass, Priced, Sigmas};
use sojourn_aqm::{Designed, PricedShare};
use sojourn_optim::sqm::margin::QueueLoop;
use sojourn_params::InputError;
use sojourn_scenario::Scenario;

/// Queues of a link whose laws are prices of their shares.
pub(super) struct PricedQueues {
    priced: Priced,
    flows: Vec<FlowsOfClass>,
    shares: Vec<PricedShare>,
    /// Weight of a flow of each class.
    pub(super) quanta: Vec<f64>,
}

impl PricedQueues {
    /// Those of the setting's link; None: its laws are given.
    pub(super) fn of(scenario: &Scenario, setting: &Setting) -> Option<PricedQueues> {
        let all: Vec<(usize, PricedLink)> = scenario
            .topology
            .managed()
            .filter_map(|link| Some((link, priced_link(scenario, link)?)))
            .collect();
        let place = all.iter().position(|(link, _)| *link == setting.number)?;
        let (_, links): (Vec<usize>, Vec<PricedLink>) = all.into_iter().unzip();
        let flows: Vec<FlowsOfClass> =
            (0..scenario.flows.len() as u32).map(|class| utilities::flows(scenario, class)).collect();
        let found = utilities::at_optimum(&links, &flows).swap_remove(place);
        let flows = links[place].flows(&flows);
        let priced = links[place].priced.clone();
        Some(PricedQueues { priced, flows, shares: found.shares, quanta: found.quanta })
    }

    /// Reason why nothing is proven of the price law.
    pub(super) fn unproven(&self) -> Option<&'static str> {
        self.priced.unproven()
    }

    /// Loop of the backlog of the link, where it has one.
    pub(super) fn link_loop(&self) -> Option<QueueLoop> {
        let count: f64 = self.flows.iter().map(|flows| flows.count).sum();
        let frequencies: f64 = self.flows.iter().map(|flows| flows.count / flows.delay).sum();
        self.priced.link_loop(count / frequencies)
    }

    /// Law of the queue of a flow of a class.
    pub(super) fn law(&self, class: usize) -> Designed {
        self.priced.law(self.shares[class])
    }

    /// sigma of that queue beside those of the theory.
    pub(super) fn sigmas(&self, class: usize) -> Option<Sigmas> {
        self.priced.sigmas_of(&self.flows, &self.shares, class as u32)
    }
}

/// Completes the certificate of a link whose backlog has this loop.
///
/// Flows are signalled one by one, so that each has its share x_i, and W_i^2 p_i = 2 with W_i = x_i (D_i + T). An error where the
/// queues, of `most` packets together, do not hold the target.
pub(super) fn of_link(
    mut certificate: Certificate,
    queues: &PricedQueues,
    of: QueueLoop,
    most: f64,
) -> Result<Certificate, InputError> {
    let setting = &certificate.setting;
    let capacity = setting.link.capacity;
    let present = || queues.flows.iter().zip(&queues.shares).filter(|(_, share)| share.rate > 0.0);
    // C D / n with the harmonic mean of the round trips.
    let window = capacity / present().map(|(flows, share)| flows.count / share.delay).sum::<f64>();
    let backlog = queues.priced.predicted_target(capacity, window);
    super::shares::fits(backlog, most, setting)?;
    let target = backlog / capacity;
    let rtts: Vec<f64> = present().map(|(_, share)| share.delay + target).collect();
    let windows: Vec<f64> = present().zip(&rtts).map(|((_, share), rtt)| share.rate * rtt).collect();
    let rates = present().map(|(flows, share)| flows.count * share.rate);
    let signals: f64 =
        rates.zip(&windows).map(|(rate, window)| rate * (2.0 / (window * window)).min(1.0)).sum();
    let equilibrium = Equilibrium { p: signals / capacity, backlog, windows, rtts };
    certificate.network = Some(law_equilibrium::network(setting, &equilibrium));
    let loops =
        Assessed::new((PlantModel::Predicted, Part::Whole, false), Box::new(of), &Meter::new(EVALUATIONS));
    certificate.verdict = loops.verdict();
    certificate.equilibrium = Some(equilibrium);
    certificate.loops = vec![loops];
    certificate.judged = Some(0);
    certificate.assumptions = assumptions::of_prediction(&certificate);
    Ok(certificate)
}

/// A link with its qdisc, if the weights of its queues follow from utilities.
fn priced_link(scenario: &Scenario, number: usize) -> Option<PricedLink> {
    let link = &scenario.topology.links[number];
    let priced = link.qdisc.as_ref()?.unshaped().shares()?.priced?;
    let packet = scenario.context(number).packet;
    let crossing = scenario.flows.iter().map(|flows| flows.route.contains(&number)).collect();
    Some(PricedLink { priced, capacity: setting::capacity(link, packet), packet, crossing })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prove::{Request, Verdict, certificate};

    /// kappa = 1 / (5 D^2), a = 1 / D: its phase margin is 67.7 degrees whatever D, and the general analysis agrees.
    #[test]
    fn a_prediction_has_one_margin_on_every_path() {
        for millis in [5, 25, 60] {
            let text = format!(
                "title = \"t\"\nduration = \"9 s\"\n[bottleneck]\nrate = \"8 Mbit/s\"\ndelay = \"0 ms\"\n\
                 buffer = \"90 packets\"\nqdisc = \"sqm\"\n[[flows]]\ncount = 10\ncc = \"newreno\"\n\
                 segment = \"1000 B\"\naccess = {{ rate = \"1 Gbit/s\", delay = \"{millis} ms\" }}\n"
            );
            let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap();
            let found = certificate(&Request { scenario: &scenario, link: None, own: None }).unwrap();
            assert_eq!(found.verdict, Verdict::Stable);
            let margins = found.judged().unwrap().margins.as_ref().unwrap();
            let lag = margins.lag().unwrap().lag().to_degrees();
            let delay = 4.0 * f64::from(millis) / 1e3;
            let of = QueueLoop { gain: 1.0 / (5.0 * delay * delay), pole: 1.0 / delay, delay };
            assert!((lag - 67.65).abs() < 0.01 && (lag - of.phase_margin()).abs() < 1e-6, "{lag}");
            assert!((margins.gain_up().unwrap() / of.gain_margin() - 1.0).abs() < 1e-6);
            // 100 packets/s each, and the target above the base RTT: 5 packets, and 4 more on a slow link with long windows.
            let target = 5.0 + 4.0 * (100.0 * delay / 4.0).min(1.0);
            let (equilibrium, window) = (found.equilibrium.unwrap(), 100.0 * (delay + target / 1000.0));
            assert!((equilibrium.backlog - target).abs() < 1e-9);
            let p = (2.0 / (window * window)).min(1.0);
            assert!((equilibrium.p - p).abs() < 1e-9, "{}", equilibrium.p);
        }
    }

    #[test]
    fn a_target_that_the_buffer_does_not_hold_is_refused() {
        let text = "title = \"t\"\nduration = \"9 s\"\n[bottleneck]\nrate = \"8 Mbit/s\"\ndelay = \"5 ms\"\n\
                    buffer = \"90 packets\"\nqdisc = \"sqm:target=1s\"\n[[flows]]\ncount = 10\ncc = \"newreno\"\n\
                    segment = \"1000 B\"\n";
        let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap();
        let error = certificate(&Request { scenario: &scenario, link: None, own: None }).err().unwrap();
        assert!(
            error.to_string().contains("would be 1000.0000 packets; expected less than the buffer"),
            "{error}"
        );
    }

    /// The delay of the loop is the harmonic mean of 20 ms and 310 ms, as in the qdisc.
    #[test]
    fn short_round_trips_dominate_the_proof() {
        let flows = |millis: u32| {
            let delay = f64::from(millis) / 4.0;
            format!(
                "[[flows]]\nname = \"f{millis}\"\ncount = 4\ncc = \"newreno\"\nsegment = \"1000 B\"\n\
                 access = {{ rate = \"1 Gbit/s\", delay = \"{delay} ms\" }}\n"
            )
        };
        let text = format!(
            "title = \"t\"\nduration = \"9 s\"\n[bottleneck]\nrate = \"20 Mbit/s\"\ndelay = \"0 ms\"\n\
             buffer = \"200 packets\"\nqdisc = \"sqm:utility=equal\"\n{}{}",
            flows(20),
            flows(310)
        );
        let scenario = Scenario::parse(text.as_bytes(), "test", &[]).unwrap();
        let found = certificate(&Request { scenario: &scenario, link: None, own: None }).unwrap();
        let margins = found.judged().unwrap().margins.as_ref().unwrap();
        let delay = 2.0 / (1.0 / 0.02 + 1.0 / 0.31);
        let of = QueueLoop { gain: 1.0 / (5.0 * delay * delay), pole: 1.0 / delay, delay };
        let found = margins.lag().unwrap().delay_margin();
        assert!((found / of.delay_margin() - 1.0).abs() < 1e-6, "{found}");
    }
}
