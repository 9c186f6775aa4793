//! What flows send.

use crate::keys::{SHORT, keys_of, word};
use crate::read::TCP_KEYS;
use sojourn_units::param::{Kind, Quantity};
use sojourn_units::{Page, Rate, Value};

/// What flows send, and how fast where they do not ask the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum App {
    /// TCP: there is always data to send.
    Bulk,
    /// UDP: datagrams in even steps, at this rate on the wire.
    Cbr(Rate),
    /// UDP: datagrams at random, at this mean rate on the wire.
    Poisson(Rate),
}

impl App {
    /// All applications.
    pub const PAGES: &[Page] = &[
        Page {
            stem: "bulk",
            summary: "always has data to send, over TCP, from its start to its stop",
            idea: "The sender is never without data: what it sends is decided by its window alone.",
            equation: "",
            source: "RFC 7928, section 5.1",
            fields: Vec::new,
        },
        Page {
            stem: "cbr",
            summary: "UDP datagrams of one size in even steps; does not respond to congestion",
            idea: "A constant bit rate, as of a video or voice stream without adaptation. The first datagram \
                   leaves at the flow's start. `rate` counts whole IP packets, `segment` is their size, headers \
                   (28 B) included; with `ecn` they are ECN-capable, and marks change nothing.",
            equation: "gap = 8 segment / rate",
            source: "RFC 8085, section 3.1: traffic that does not respond",
            fields: Vec::new,
        },
        Page {
            stem: "poisson",
            summary: "UDP datagrams of one size at random times; does not respond to congestion",
            idea: "Gaps are independent and exponential, so arrivals look the same at every moment: the traffic \
                   of queueing theory. `rate` is the mean, of whole IP packets; `segment` is their size, headers \
                   (28 B) included; with `ecn` they are ECN-capable, and marks change nothing.",
            equation: "P(gap > t) = exp(-t / m),   m = 8 segment / rate",
            source: "L. Kleinrock, Queueing Systems I, 1975, section 2.4",
            fields: Vec::new,
        },
    ];
    /// Their names.
    pub const NAMES: &[&'static str] = &["bulk", "cbr", "poisson"];

    /// The keys that its group of flows has because of it, what must be given first: `"rate (required)"`.
    pub fn keys(name: &str) -> Vec<String> {
        let is_tcp = name == "bulk";
        let own = keys_of("flows")
            .map(|key| key.name)
            .filter(|key| !ANY_APP.contains(key) && *key != "rate" && (is_tcp || !is_of_tcp(key)));
        let rate = (!is_tcp).then(|| "rate (required)".to_string());
        rate.into_iter().chain(own.map(String::from)).collect()
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            App::Bulk => "bulk",
            App::Cbr(_) => "cbr",
            App::Poisson(_) => "poisson",
        }
    }

    /// The rate of a flow that does not ask the network; None where TCP decides.
    pub fn rate(self) -> Option<Rate> {
        match self {
            App::Bulk => None,
            App::Cbr(rate) | App::Poisson(rate) => Some(rate),
        }
    }

    /// Whether it is carried by TCP.
    pub fn is_tcp(self) -> bool {
        self.rate().is_none()
    }
}

fn is_of_tcp(key: &str) -> bool {
    TCP_KEYS.contains(&key) || SHORT.contains(&key)
}

/// Keys of a group of flows that say nothing of what it sends.
const ANY_APP: &[&str] = &["name", "from", "to", "route", "back", "app", "count", "access"];

/// The name of an application.
pub(crate) struct AppName(pub(crate) &'static str);

impl Quantity for AppName {
    fn kind() -> Kind {
        Kind::Word(App::NAMES)
    }
    fn read(value: &Value) -> Result<AppName, String> {
        word(value, "application", App::NAMES).map(AppName)
    }
    fn write(&self) -> Value {
        Value::Text(self.0.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_applications_and_their_names_agree() {
        let names: Vec<&str> = App::PAGES.iter().map(|page| page.stem).collect();
        assert_eq!(names, App::NAMES);
    }

    #[test]
    fn what_is_not_tcp_has_a_rate_and_no_key_of_tcp() {
        for name in ["cbr", "poisson"] {
            assert_eq!(App::keys(name).join(", "), "rate (required), ecn, segment, start, stop");
        }
        let bulk = App::keys("bulk");
        assert!(bulk.contains(&"cc".to_string()) && !bulk.iter().any(|key| key.starts_with("rate")));
    }
}
