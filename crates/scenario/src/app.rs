//! Applications of flows.

use crate::sessions::{self, Session};
use crate::udp::{self, Datagrams};
use sojourn_params::Page;

/// Application of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum App {
    /// TCP that always has data to send.
    Bulk,
    /// TCP that has data to send at times.
    Session(Session),
    /// UDP: datagrams that do not respond to congestion.
    Datagrams(Datagrams),
}

/// Properties of an application, by its name.
struct Row {
    page: Page,
    is_tcp: bool,
    /// Keys of its group of flows that are required.
    required: &'static [&'static str],
    /// Optional ones, beside those of every group.
    keys: &'static [&'static str],
}

/// All applications, in the order of help.
static ROWS: [Row; 13] = [
    tcp(BULK, &[], &["reads", "segment"]),
    tcp(sessions::TRANSFER, &["size"], &["segment"]),
    tcp(sessions::MICE, &[], &["size", "idle", "preset", "segment"]),
    tcp(sessions::WEB, &[], &["size", "idle", "objects", "connections", "request", "segment"]),
    tcp(sessions::VIDEO, &[], &["ladder", "chunk", "reservoir", "cushion", "request", "segment"]),
    tcp(sessions::GAME, &[], &["size", "request", "every", "segment"]),
    tcp(sessions::RRUL, &[], &["reads", "segment"]),
    udp(udp::CBR, &["rate"], &["size", "segment"]),
    udp(udp::POISSON, &["rate"], &["size", "segment"]),
    udp(udp::ON_OFF, &["rate"], &["size", "on", "off", "segment"]),
    udp(udp::LRD, &["rate"], &["size", "on", "off", "hurst", "sources", "segment"]),
    udp(udp::VOIP, &[], &["spurts"]),
    udp(udp::PING, &[], &["size", "every"]),
];

const fn tcp(page: Page, required: &'static [&'static str], keys: &'static [&'static str]) -> Row {
    Row { page, is_tcp: true, required, keys }
}

const fn udp(page: Page, required: &'static [&'static str], keys: &'static [&'static str]) -> Row {
    Row { page, is_tcp: false, required, keys }
}

impl Row {
    fn has(&self, key: &str) -> bool {
        self.required.contains(&key) || self.keys.contains(&key)
    }
}

fn row(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.page.stem == name)
}

impl App {
    /// All applications.
    pub const PAGES: &[Page] = &{
        let mut pages = [BULK; ROWS.len()];
        let mut place = 0;
        while place < ROWS.len() {
            pages[place] = ROWS[place].page;
            place += 1;
        }
        pages
    };
    /// Their names.
    pub const NAMES: &[&'static str] = &{
        let mut names = [""; ROWS.len()];
        let mut place = 0;
        while place < ROWS.len() {
            names[place] = ROWS[place].page.stem;
            place += 1;
        }
        names
    };

    /// True for applications over TCP.
    pub(crate) fn is_tcp_named(name: &str) -> bool {
        row(name).is_some_and(|row| row.is_tcp)
    }

    /// True for applications that are, or expand into, flows that always have data.
    pub(crate) fn is_greedy_named(name: &str) -> bool {
        [BULK.stem, sessions::RRUL.stem].contains(&name)
    }

    /// True for applications without traffic in reverse.
    pub fn is_one_way(name: &str) -> bool {
        !App::is_tcp_named(name) && name != udp::PING.stem
    }

    /// True where the key belongs to this application.
    pub(crate) fn has_key(name: &str, key: &str) -> bool {
        row(name).is_some_and(|row| row.has(key))
    }

    /// True where this application requires the key.
    pub(crate) fn requires(name: &str, key: &str) -> bool {
        row(name).is_some_and(|row| row.required.contains(&key))
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self {
            App::Bulk => "bulk",
            App::Session(session) => session.name(),
            App::Datagrams(datagrams) => datagrams.name(),
        }
    }

    /// Number of flows of `count` members, counting each connection and each source of datagrams.
    pub(crate) fn flows(&self, count: u32) -> u64 {
        let each = match self {
            App::Session(Session::Web(web)) => web.connections,
            App::Datagrams(Datagrams { source: udp::Source::Lrd(lrd), .. }) => lrd.sources,
            _ => 1,
        };
        u64::from(count) * u64::from(each)
    }

    /// Datagrams of an application over UDP; None over TCP.
    pub fn datagrams(&self) -> Option<&Datagrams> {
        match self {
            App::Bulk | App::Session(_) => None,
            App::Datagrams(datagrams) => Some(datagrams),
        }
    }

    /// True over TCP.
    pub fn is_tcp(&self) -> bool {
        self.datagrams().is_none()
    }
}

/// Names of the applications with a key.
pub(crate) fn apps_with(key: &str) -> impl Iterator<Item = &'static str> {
    ROWS.iter().filter(|row| row.has(key)).map(|row| row.page.stem)
}

/// True for keys that only some applications have.
pub(crate) fn is_of_an_app(key: &str) -> bool {
    apps_with(key).next().is_some()
}

const BULK: Page = Page {
    stem: "bulk",
    summary: "always has data to send, over TCP, from its start to its stop",
    idea: "The sender always has data: its window alone limits what it sends.",
    equation: "",
    source: "RFC 7928, section 5.1",
    fields: Vec::new,
};

/// Name suffixes of the classes that RRUL expands into.
pub(crate) const RRUL_PARTS: [&str; 6] = ["up", "down", "ping", "ping-be", "ping-bk", "ping-ef"];
/// Keys of a group of flows that apply to TCP; so do those of [`SHORT`].
pub(crate) const TCP_KEYS: &[&str] = &["cc", "profile", "tcp"];
