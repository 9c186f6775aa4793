//! What flows send.

use crate::keys::{SHORT, keys_of, word};
use crate::read::TCP_KEYS;
use crate::transfers::{self, Transfers};
use crate::udp::{self, Datagrams};
use sojourn_units::param::{Kind, Quantity};
use sojourn_units::{Page, Value};

/// What flows send, and how fast where they do not ask the network.
#[derive(Clone, Debug, PartialEq)]
pub enum App {
    /// TCP: there is always data to send.
    Bulk,
    /// TCP: what an application has to send now and then.
    Transfers(Transfers),
    /// UDP: datagrams that do not respond to congestion.
    Datagrams(Datagrams),
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
        transfers::TRANSFER,
        transfers::MICE,
        transfers::HTTP,
        transfers::WEB,
        transfers::VIDEO,
        transfers::GAME,
        RRUL,
        udp::CBR,
        udp::POISSON,
        udp::ON_OFF,
        udp::LRD,
        udp::VOIP,
        udp::PING,
    ];
    /// Their names.
    pub const NAMES: &[&'static str] = &[
        "bulk", "transfer", "mice", "http", "web", "video", "game", "rrul", "cbr", "poisson", "on_off",
        "lrd", "voip", "ping",
    ];

    /// The keys that its group of flows has because of it, what must be given first: `"rate (required)"`.
    pub fn keys(name: &str) -> Vec<String> {
        let is_tcp = is_over_tcp(name);
        let is_for_it = |key: &str| udp::KEYS.iter().all(|(of, apps)| *of != key || apps.contains(&name));
        let required = |key: &str| match key {
            "rate" => is_for_it("rate"),
            "size" => name == "transfer",
            _ => false,
        };
        let own = keys_of("flows").map(|key| key.name).filter(|key| {
            !ANY_APP.contains(key) && !required(key) && is_for_it(key) && (is_tcp || !is_of_tcp(key))
        });
        let first =
            ["rate", "size"].into_iter().filter(|key| required(key)).map(|key| format!("{key} (required)"));
        first.chain(own.map(String::from)).collect()
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self {
            App::Bulk => "bulk",
            App::Transfers(transfers) => transfers.name(),
            App::Datagrams(datagrams) => datagrams.name(),
        }
    }

    /// What it sends over UDP; None where TCP decides.
    pub fn datagrams(&self) -> Option<&Datagrams> {
        match self {
            App::Bulk | App::Transfers(_) => None,
            App::Datagrams(datagrams) => Some(datagrams),
        }
    }

    /// What it has to send over TCP now and then.
    pub fn transfers(&self) -> Option<&Transfers> {
        match self {
            App::Transfers(transfers) => Some(transfers),
            App::Bulk | App::Datagrams(_) => None,
        }
    }

    /// Whether it is carried by TCP.
    pub fn is_tcp(&self) -> bool {
        self.datagrams().is_none()
    }
}

/// Whether the application called so is carried by TCP.
pub(crate) fn is_over_tcp(name: &str) -> bool {
    ["bulk", "rrul"].contains(&name) || transfers::NAMES.contains(&name)
}

/// The word that stands for several classes.
const RRUL: Page = Page {
    stem: "rrul",
    summary: "real-time response under load: four bulk flows up, four down, and pings beside them",
    idea: "It stands for six classes: NAME-up, four bulk flows from `from` to `to`; NAME-down, four the other way; and \
           NAME-ping_be, NAME-ping_bk, NAME-ping_ef and NAME-ping_icmp, a ping from `from` each. With `count` there are \
           so many times as many of each. The test marks the pings and the flows with code points that no disc here \
           looks at; the names tell which is which. What is said of TCP holds for all eight flows.",
    equation: "",
    source: "T. Hoeiland-Joergensen, Flent; D. Taeht, Realtime Response Under Load (RRUL) Test, draft, 2012",
    fields: Vec::new,
};

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
            assert_eq!(
                App::keys(name).join(", "),
                "rate (required), size, ecn, segment, start, stop, arrivals, lifetime"
            );
        }
        assert_eq!(App::keys("ping").join(", "), "size, every, ecn, start, stop, arrivals, lifetime");
        assert!(App::keys("transfer").starts_with(&["size (required)".into(), "cc".into()]));
        let bulk = App::keys("bulk");
        assert!(bulk.contains(&"cc".to_string()) && !bulk.iter().any(|key| key.starts_with("rate")));
    }
}
