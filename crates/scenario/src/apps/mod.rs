//! Applications of flows, a file each.
//!
//! A scenario names an application as an entry of [`APPS`]: `app = "web"`, `app = "web:objects=20"` or
//! `app = { web = { objects = 20 } }`. [`App::traffic`] is what a plant generates.

mod bulk;
mod cbr;
mod datagrams;
mod game;
mod http;
mod lrd;
mod mice;
mod on_off;
mod ping;
mod poisson;
mod rpm;
mod rrul;
mod session;
mod transfer;
mod video;
mod voip;
mod web;

pub use bulk::Bulk;
pub use cbr::Cbr;
pub use datagrams::{DATAGRAM, Datagrams, Source, UDP_HEADER};
pub use game::Game;
pub use http::Http;
pub use lrd::Lrd;
pub use mice::{Mice, Paper};
pub use on_off::OnOff;
pub use ping::{Echo, Ping};
pub use poisson::Poisson;
pub use rpm::Rpm;
pub use rrul::Rrul;
pub use transfer::Transfer;
pub use video::{Ladder, Video};
pub use voip::{PAUSE, SPURT, VOICE_FRAME, Voip};
pub use web::Web;

use crate::ranges::{RATES, within};
use sojourn_params::{
    At, Bounds, Catalogue, Edge, EntryParams, Errors, InputError, Kind, Quantity, SizeDraw, Value, entries,
};
use sojourn_random::Draw;
use sojourn_units::{Bytes, Rate};

/// All applications.
pub static APPS: Catalogue = Catalogue {
    a_kind: "an application",
    kind: "application",
    example: "\"web\"",
    tag: None,
    pages: || App::ENTRIES.iter().map(|entry| entry.page).collect(),
    problem: |_| None,
    elsewhere: &[],
};

entries! {
    /// Application of a flow, with its parameters.
    pub enum App {
        /// Always has data to send.
        Bulk,
        /// A volume, once.
        Transfer,
        /// Short transfers and the pauses between them.
        Mice,
        /// One request and its answer.
        Http,
        /// Pages of many objects.
        Web,
        /// Video whose rate follows the player's buffer.
        Video,
        /// A request at each tick, and an answer.
        Game,
        /// Load-generating connections and probes: the responsiveness test.
        Rpm,
        /// Bulk flows both ways and pings; expands into several classes.
        Rrul,
        /// Datagrams in even steps.
        Cbr,
        /// Datagrams at random.
        Poisson,
        /// Datagrams in on-periods, with pauses between them.
        OnOff,
        /// Datagrams of many on/off sources whose sum is long-range dependent.
        Lrd,
        /// Frames of speech.
        Voip,
        /// Datagrams that the receiver sends back.
        Ping,
    }
}

/// Applications over UDP.
const UDP: [&str; 6] =
    [Cbr::PAGE.stem, Poisson::PAGE.stem, OnOff::PAGE.stem, Lrd::PAGE.stem, Voip::PAGE.stem, Ping::PAGE.stem];

/// Traffic of an application, as a plant generates it.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// TCP that always has data to send.
    Bulk,
    /// TCP that has data to send at times.
    Session,
    /// UDP: datagrams that do not respond to congestion.
    Datagrams(Datagrams),
}

impl App {
    /// True over TCP.
    pub fn is_tcp(&self) -> bool {
        App::is_tcp_named(self.name())
    }

    /// True for all names but those of applications over UDP.
    pub(crate) fn is_tcp_named(name: &str) -> bool {
        !UDP.contains(&name)
    }

    /// True for applications that are, or expand into, flows that always have data.
    pub fn is_greedy(&self) -> bool {
        matches!(self, App::Bulk(_) | App::Rrul(_))
    }

    /// True without traffic in reverse.
    pub fn is_one_way(&self) -> bool {
        !self.is_tcp() && !matches!(self, App::Ping(_))
    }

    /// Number of flows of `count` members, counting each connection and each source of datagrams.
    pub fn flows(&self, count: u32) -> u64 {
        let each = match self {
            App::Web(web) => web.connections,
            App::Rpm(rpm) => rpm.slots(),
            App::Lrd(lrd) => lrd.sources,
            _ => 1,
        };
        u64::from(count) * u64::from(each)
    }

    /// Read rate at each receiver, where segments have this size; None: all data at once.
    pub fn reads(&self, segment: Bytes) -> Option<Rate> {
        let (App::Bulk(Bulk { reads }) | App::Rrul(Rrul { reads })) = self else { return None };
        reads.map(|rate| rate.bits(segment.get() as f64))
    }

    /// Its traffic in a class whose segments have this size.
    pub fn traffic(&self, segment: Bytes) -> Traffic {
        match self.datagrams(segment) {
            Some(datagrams) => Traffic::Datagrams(datagrams),
            None if self.is_greedy() => Traffic::Bulk,
            None => Traffic::Session,
        }
    }

    /// Checks the rates in a class whose segments have this size; errors are at the application's keys.
    pub fn check(&self, segment: Bytes) -> Result<(), InputError> {
        match self {
            App::Bulk(Bulk { reads: Some(rate) }) | App::Rrul(Rrul { reads: Some(rate) }) => {
                within(*rate, segment.get() as f64, RATES).at("reads")?;
            }
            App::Cbr(Cbr { rate, .. })
            | App::Poisson(Poisson { rate, .. })
            | App::OnOff(OnOff { rate, .. })
            | App::Lrd(Lrd { rate, .. }) => {
                within(*rate, self.packet(segment), RATES).at("rate")?;
            }
            _ => {}
        }
        self.datagrams(segment).map_or(Ok(()), |datagrams| datagrams.check())
    }
}

impl Default for App {
    fn default() -> App {
        App::Bulk(Bulk::default())
    }
}

impl Quantity for App {
    fn kind() -> Kind {
        Kind::Entry(&APPS)
    }

    fn read(value: &Value) -> Result<App, Errors> {
        App::read_chosen(APPS.choose(value)?)
    }

    fn write(&self) -> Value {
        self.written()
    }
}

/// Always so many bytes.
fn bytes(count: f64) -> SizeDraw {
    SizeDraw::of_bytes(Draw::constant(count).expect("a size is finite"))
}

/// True for sizes of transfers.
fn is_volume(size: &SizeDraw) -> bool {
    let mean = size.bytes(1.0).mean();
    mean > 0.0 && mean <= MOST_VOLUME
}

/// Sizes of transfers, in words.
const VOLUMES: &str = "more than 0, at most 1 PB on average";
/// The largest mean transfer, bytes.
const MOST_VOLUME: f64 = 1e15;
/// Sizes of requests: from the headers of a datagram to the MTU of Ethernet.
const REQUEST: Bounds = Bounds::at_least(Edge::Text("28 B")).to(Edge::Text("1500 B"));
/// Times between pings, or between ticks.
const INTERVAL: Bounds = Bounds::at_least(Edge::Text("1 us")).to(Edge::Text("1 h"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::value;
    use sojourn_params::EntryOf;
    use sojourn_units::LinkRate;

    fn read(text: &str) -> Result<App, Errors> {
        App::read(&value(text))
    }

    /// The segment of classes by default.
    const SEGMENT: Bytes = Bytes::new(1500);

    #[test]
    fn applications_are_read_as_they_are_written() {
        for text in [
            "'bulk'",
            "{ bulk = { reads = '1 Mbit/s' } }",
            "{ transfer = { size = { pareto = '10 kB', shape = 1.2 } } }",
            "{ mice = { preset = 'arm_pfc', size = '5000 B' } }",
            "{ http = { size = '50 kB', request = '300 B' } }",
            "{ web = { objects = 20, idle = { exponential = '3 s' } } }",
            "{ video = { ladder = ['1 Mbit/s', '2 Mbit/s'], chunk = '2 s' } }",
            "'game'",
            "{ rpm = { connections = 4, tls = false } }",
            "'rrul'",
            "{ cbr = { rate = '1 Mbit/s' } }",
            "{ poisson = { rate = '100 packets/s', size = '200 B' } }",
            "{ on_off = { rate = '1 Mbit/s', on = '1 s' } }",
            "{ lrd = { rate = '1 Mbit/s', hurst = 0.7 } }",
            "{ voip = { spurts = true } }",
            "'ping'",
        ] {
            let app = read(text).unwrap();
            assert_eq!(App::read(&app.write()), Ok(app));
        }
        assert_eq!(read("{ bulk = {} }").unwrap().write(), value("'bulk'"));
        assert_eq!(read("'web:objects=20'").unwrap().write(), value("{ web = { objects = 20 } }"));
        assert_eq!(read("'web:objects=20,size=1 kB'"), read("{ web = { objects = 20, size = '1 kB' } }"));
        assert_eq!(read("'mice'"), Ok(App::Mice(Mice::default())));
    }

    #[test]
    fn every_default_is_in_range() {
        for entry in App::ENTRIES {
            for field in (entry.page.fields)().iter().filter(|field| field.default != Value::Absent) {
                let given = (field.key.to_string(), field.default.clone());
                for error in (entry.read)(&[given]).err().into_iter().flatten() {
                    assert!(error.problem == "is missing", "{}: {error}", entry.page.stem);
                }
            }
        }
    }

    #[test]
    fn an_error_has_its_key_and_the_expected_form() {
        for (text, message) in [
            ("'wbe'", "\"wbe\" is not an application; did you mean \"web\"? (expected bulk, "),
            ("7", "7 is not an application; write it like \"web\""),
            ("{ web = { objcts = 20 } }", "web.objcts: unknown key; did you mean \"objects\"?"),
            ("'web:objects=0'", "web.objects: 0 is out of range; expected 1 to 10000"),
            (
                "'transfer'",
                "transfer.size: is missing; expected a size or distribution of sizes such as \"1500 B\"",
            ),
            (
                "{ transfer = { size = '0 B' } }",
                "transfer.size: \"0 B\" is out of range; expected more than 0, at most 1 PB",
            ),
            ("'cbr'", "cbr.rate: is missing; expected a rate such as \"8 Mbit/s\""),
            (
                "'ping:size=2 packets'",
                "ping.size: \"2 packets\" is out of range; expected 28 B to 65535 B on average",
            ),
            (
                "'cbr:rate=0 bit/s'",
                "cbr.rate: \"0 bit/s\" is out of range; expected 1 bit/s to 10 Tbit/s; at most the access",
            ),
            ("'lrd:rate=1 Mbit/s,on=0 s'", "lrd.on: \"0 s\" is out of range; expected more than 0"),
            ("'mice:preset=pi'", "mice.preset: \"pi\" is none of the words"),
            (
                "{ video = { chunk = '20 s' } }",
                "video.chunk: 20 s is too long: the buffer of 28 s does not hold two",
            ),
            (
                "{ video = { ladder = '1 Mbit/s' } }",
                "video.ladder: \"1 Mbit/s\" is not a list of rates; expected 1 to",
            ),
            (
                "{ video = { ladder = ['2 Mbit/s', '1 Mbit/s'] } }",
                "is not a ladder of rates; expected 1 to 20 rates",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(message) || error.contains(&format!(" {message}")), "{text}: {error}");
        }
    }

    #[test]
    fn the_segment_resolves_rates_and_sizes() {
        let datagrams = |text: &str| read(text).unwrap().datagrams(SEGMENT).unwrap();
        let cbr = datagrams("'cbr:rate=100 packets/s'");
        assert_eq!((cbr.rate().bits_per_second(), cbr.mean_size()), (1.2e6, 1500.0));
        let cbr = datagrams("'cbr:rate=100 packets/s,size=200 B'");
        assert_eq!((cbr.rate().bits_per_second(), cbr.mean_size()), (160e3, 200.0));
        assert_eq!(datagrams("'voip'").rate().bits_per_second(), 80e3);
        assert_eq!(datagrams("'ping'").rate().bits_per_second(), 8.0 * 84.0 / 0.2);
        assert_eq!(datagrams("'on_off:rate=1 Mbit/s,on=1 s,off=3 s'").share_on(), 0.25);
        let slow = read("'bulk:reads=10 packets/s'").unwrap();
        assert_eq!(slow.reads(SEGMENT).map(Rate::bits_per_second), Some(120e3));
        assert_eq!(slow.traffic(SEGMENT), Traffic::Bulk);
    }

    #[test]
    fn rates_are_checked_with_the_segment() {
        let checked = |text: &str| read(text).unwrap().check(SEGMENT).map_err(|error| error.to_string());
        for text in ["'bulk'", "'cbr:rate=100 packets/s'", "'on_off:rate=1 Mbit/s'", "'lrd:rate=1 Mbit/s'"] {
            assert_eq!(checked(text), Ok(()));
        }
        for (text, message) in [
            ("'cbr:rate=0 packets/s'", "rate: 0 packets/s is out of range; expected 1 bit/s to 10 Tbit/s"),
            ("'bulk:reads=1e12 packets/s'", "reads: 1000000000000 packets/s is out of range"),
            (
                "'on_off:rate=1 bit/s'",
                "rate: 1 bit/s is too low: a source fills a datagram in 12000 s, in periods of 500 ms on average",
            ),
        ] {
            let error = checked(text).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn the_mice_of_a_paper_have_its_size_and_pauses() {
        let mice = |text: &str| match read(text) {
            Ok(App::Mice(mice)) => [mice.size().write(), mice.idle().write()],
            other => panic!("{other:?}"),
        };
        let twelve = value("{ exponential = '12 packets' }");
        assert_eq!(mice("'mice'"), [twelve.clone(), value("'0 s'")]);
        assert_eq!(mice("'mice:preset=arm_pfc'"), [twelve, value("{ exponential = '3 s' }")]);
        assert_eq!(mice("'mice:size=5 kB,idle=1 s'"), [value("'5000 B'"), value("'1 s'")]);
    }

    #[test]
    fn properties_follow_from_the_application() {
        let names = |has: fn(&EntryOf<App>) -> bool| {
            let entries = App::ENTRIES.iter().filter(|entry| has(entry));
            entries.map(|entry| entry.page.stem).collect::<Vec<_>>()
        };
        assert_eq!(names(|entry| entry.has("reads")), ["bulk", "rrul"]);
        let is_udp = |entry: &EntryOf<App>| {
            let required = [("rate".into(), Value::Text("1 Mbit/s".into()))];
            (entry.read)(&[]).or_else(|_| (entry.read)(&required)).is_ok_and(|app| !app.is_tcp())
        };
        assert_eq!(names(is_udp), ["cbr", "poisson", "on_off", "lrd", "voip", "ping"]);
        let of = |text: &str| {
            let app = read(text).unwrap();
            (app.is_greedy(), app.is_one_way(), app.has_segments(), app.flows(2))
        };
        assert_eq!(of("'bulk'"), (true, false, true, 2));
        assert_eq!(of("'web'"), (false, false, true, 12));
        assert_eq!(of("'lrd:rate=1 Mbit/s'"), (false, true, true, 100));
        assert_eq!(of("'voip'"), (false, true, false, 2));
        assert_eq!(of("'ping'"), (false, false, false, 2));
    }

    #[test]
    fn rrul_expands_into_bulk_flows_and_pings() {
        let parts = Rrul { reads: Some(LinkRate::Packets(10.0)) }.parts();
        let [(_, up), (_, down), pings @ ..] = &parts;
        assert_eq!((up, up.reads(SEGMENT).is_some()), (down, true));
        let ping = |protocol| App::Ping(Ping { protocol, ..Ping::default() });
        assert_eq!(pings[0].1, App::Ping(Ping::default()));
        assert!(pings[1..].iter().all(|(_, app)| *app == ping(Echo::Udp)));
    }
}
