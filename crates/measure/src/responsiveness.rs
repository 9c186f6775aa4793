//! Responsiveness under working conditions: draft-ietf-ippm-responsiveness-09, section 5.3.1.

use crate::queue_stats::in_seconds;
use crate::{Histogram, Metrics};
use sojourn_units::Span;

/// Duration that a probe measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProbeTime {
    /// `tcp_f`: the handshake of a foreign probe.
    Tcp,
    /// `tls_f`: a round trip of its TLS handshake.
    Tls,
    /// `http_f`: its request and answer.
    Http,
    /// `http_l`: request and answer of a self probe, over a load-generating connection.
    Loaded,
}

/// Durations of the probes of responsiveness tests, ns: in buckets of a thousandth.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProbeTimes([Histogram<10>; 4]);

/// One in so many samples, the longest ones, is no part of a trimmed mean: TMP, 95 %.
const TRIMMED: u64 = 20;

impl ProbeTimes {
    pub(crate) fn add(&mut self, of: ProbeTime, duration: Span) {
        self.0[of as usize].add(duration.nanos(), 1);
    }

    pub(crate) fn merge(&mut self, other: &ProbeTimes) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| mine.merge(other));
    }

    /// TM: the mean without the longest 5 %, s.
    fn trimmed_mean(&self, of: ProbeTime) -> Option<f64> {
        let times = &self.0[of as usize];
        let count = times.total();
        times.mean_of_lowest(count - count / TRIMMED).map(in_seconds)
    }

    /// Trimmed means, and the responsiveness by them.
    pub(crate) fn metrics(&self) -> Metrics {
        let [tcp, tls, http, loaded] = [ProbeTime::Tcp, ProbeTime::Tls, ProbeTime::Http, ProbeTime::Loaded]
            .map(|of| self.trimmed_mean(of));
        let foreign = tcp.zip(http).map(|(tcp, http)| match tls {
            Some(tls) => per_minute((tcp + tls + http) / 3.0),
            None => per_minute(f64::midpoint(tcp, http)),
        });
        let loaded_rpm = loaded.map(per_minute);
        let both = foreign.zip(loaded_rpm).map(|(foreign, loaded)| f64::midpoint(foreign, loaded));
        vec![
            ("tcp_f_s", tcp.into()),
            ("tls_f_s", tls.into()),
            ("http_f_s", http.into()),
            ("http_l_s", loaded.into()),
            ("foreign_rpm", foreign.into()),
            ("loaded_rpm", loaded_rpm.into()),
            ("responsiveness_rpm", both.into()),
        ]
    }
}

/// Round trips of so many seconds in a minute.
pub(crate) fn per_minute(round_trip: f64) -> f64 {
    60.0 / round_trip
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reading;

    fn times(of: &[(ProbeTime, &[u64])]) -> ProbeTimes {
        let mut times = ProbeTimes::default();
        for (probe, millis) in of {
            millis.iter().for_each(|millis| times.add(*probe, Span::from_millis(*millis)));
        }
        times
    }

    fn number(times: &ProbeTimes, name: &str) -> Option<f64> {
        match times.metrics().into_iter().find(|(key, _)| *key == name)?.1 {
            Reading::Number(number) => Some(number),
            _ => None,
        }
    }

    /// By hand: 60000 / ((40 + 50 + 60) / 3) = 1200, 60000 / 100 = 600, and (1200 + 600) / 2 = 900.
    #[test]
    fn responsiveness_is_the_mean_of_foreign_and_loaded() {
        let of = times(&[
            (ProbeTime::Tcp, &[30, 50]),
            (ProbeTime::Tls, &[50]),
            (ProbeTime::Http, &[60, 60, 60]),
            (ProbeTime::Loaded, &[80, 120]),
        ]);
        for (name, by_hand) in [("foreign_rpm", 1200.0), ("loaded_rpm", 600.0), ("responsiveness_rpm", 900.0)]
        {
            let found = number(&of, name).unwrap();
            assert!((found / by_hand - 1.0).abs() < 5e-4, "{name}: {found}");
        }
    }

    /// By hand: 60000 / ((40 + 60) / 2) = 1200.
    #[test]
    fn without_tls_foreign_probes_have_two_round_trips() {
        let of = times(&[(ProbeTime::Tcp, &[40]), (ProbeTime::Http, &[60])]);
        assert!((number(&of, "foreign_rpm").unwrap() / 1200.0 - 1.0).abs() < 5e-4);
        assert_eq!((number(&of, "loaded_rpm"), number(&of, "responsiveness_rpm")), (None, None));
    }

    #[test]
    fn the_longest_twentieth_is_trimmed() {
        let twenty: Vec<u64> = (1..=19).chain([1000]).collect();
        let trimmed = times(&[(ProbeTime::Loaded, &twenty)]);
        assert!((number(&trimmed, "http_l_s").unwrap() / 0.010 - 1.0).abs() < 5e-4);
        let nineteen = times(&[(ProbeTime::Loaded, &twenty[1..])]);
        assert!((number(&nineteen, "http_l_s").unwrap() / (1.189 / 19.0) - 1.0).abs() < 5e-4);
    }
}
