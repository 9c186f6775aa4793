//! Applications over TCP that have something to send now and then.

use crate::json::of_value;
use serde_json::Value as Json;
use sojourn_units::param::Kind;
use sojourn_units::param::Quantity;
use sojourn_units::{Bytes, Draw, Page, Rate, SizeDraw, Span, TimeDraw, Value};
use std::fmt;

/// What a flow has to send.
#[derive(Clone, Debug, PartialEq)]
pub enum Session {
    /// A fixed volume of payload, once.
    Transfer(SizeDraw),
    /// One transfer after the other, each over a connection of its own.
    Mice(Mice),
    /// Pages of a site.
    Web(Web),
    /// A film whose rate follows what the player has.
    Video(Video),
    /// A question at each tick, and an answer.
    Game(Game),
}

/// Short transfers and the pauses between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Mice {
    /// Payload of each.
    pub size: SizeDraw,
    /// From the end of one to the start of the next.
    pub idle: TimeDraw,
}

/// Pages, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Web {
    /// Objects of a page.
    pub objects: u32,
    /// Payload of each.
    pub size: SizeDraw,
    /// Over so many connections at a time, new ones for each page.
    pub connections: u32,
    /// From the end of one page to the start of the next.
    pub idle: TimeDraw,
    /// A request, as an IP packet.
    pub request: Bytes,
}

/// A film in chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// The rates that there are.
    pub ladder: Ladder,
    /// How long a chunk plays.
    pub chunk: Span,
    /// Up to so much in the buffer the lowest rate is asked for.
    pub reservoir: Span,
    /// So much above that, the highest.
    pub cushion: Span,
    /// A request, as an IP packet.
    pub request: Bytes,
}

/// Questions and answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Game {
    /// From tick to tick.
    pub every: Span,
    /// Payload of an answer.
    pub size: SizeDraw,
    /// A question, as an IP packet.
    pub request: Bytes,
}

/// Rates of a film, in rising order.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder(pub Vec<Rate>);

impl Quantity for Ladder {
    fn kind() -> Kind {
        Kind::Form("[\"500 kbit/s\", \"2 Mbit/s\"]")
    }
    fn read(value: &Value) -> Result<Ladder, String> {
        let legal = "legal: one to twenty rates in rising order, such as [\"500 kbit/s\", \"2 Mbit/s\"]";
        let Value::List(items) = value else { return Err(format!("{value} is no list of rates; {legal}")) };
        let rates = items.iter().map(Rate::read).collect::<Result<Vec<Rate>, String>>()?;
        let bits: Vec<f64> = rates.iter().map(|rate| rate.bits_per_second()).collect();
        let rises = bits.windows(2).all(|pair| pair[0] < pair[1]);
        if (1..=20).contains(&bits.len()) && rises && bits.iter().all(|rate| (1e3..=1e12).contains(rate)) {
            return Ok(Ladder(rates));
        }
        Err(format!("{value} is no ladder of rates; {legal}, 1 kbit/s to 1 Tbit/s"))
    }
    fn write(&self) -> Value {
        Value::List(self.0.iter().map(|rate| Value::Text(rate.to_string())).collect())
    }
}

impl Session {
    /// Payload that it has to send at a time, the mean, with segments of so many bytes; of a film a chunk at the highest
    /// rate. Bytes.
    pub(crate) fn burst(&self, segment: f64) -> f64 {
        let mean = |size: &SizeDraw| size.bytes(segment).mean();
        match self {
            Session::Transfer(size) => mean(size),
            Session::Mice(mice) => mean(&mice.size),
            Session::Web(web) => f64::from(web.objects) * mean(&web.size),
            Session::Video(video) => {
                video.ladder.0.last().map_or(0.0, |rate| rate.bits_per_second() / 8.0 * video.chunk.seconds())
            }
            Session::Game(game) => mean(&game.size),
        }
    }

    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Session::Transfer(_) => "transfer",
            Session::Mice(_) => "mice",
            Session::Web(_) => "web",
            Session::Video(_) => "video",
            Session::Game(_) => "game",
        }
    }

    /// Its keys beside `app`, with their values as a file would have them.
    pub(crate) fn to_json(&self) -> Vec<(&'static str, Json)> {
        let size = |size: &SizeDraw| ("size", of_value(&size.write()));
        match self {
            Session::Transfer(volume) => vec![size(volume)],
            Session::Mice(mice) => vec![size(&mice.size), ("idle", of_value(&mice.idle.write()))],
            Session::Web(web) => vec![
                ("objects", web.objects.into()),
                size(&web.size),
                ("connections", web.connections.into()),
                ("idle", of_value(&web.idle.write())),
                ("request", web.request.to_string().into()),
            ],
            Session::Video(video) => vec![
                ("ladder", of_value(&video.ladder.write())),
                ("chunk", video.chunk.to_string().into()),
                ("reservoir", video.reservoir.to_string().into()),
                ("cushion", video.cushion.to_string().into()),
                ("request", video.request.to_string().into()),
            ],
            Session::Game(game) => vec![
                ("every", game.every.to_string().into()),
                size(&game.size),
                ("request", game.request.to_string().into()),
            ],
        }
    }
}

impl fmt::Display for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Session::Transfer(size) => write!(f, "of {size}"),
            Session::Mice(Mice { size, idle }) => write!(f, "of {size}, idle {idle} between them"),
            Session::Web(Web { objects, size, connections, idle, .. }) => {
                write!(f, "pages of {objects} objects of {size} over {connections} connections, idle {idle}")
            }
            Session::Video(Video { ladder, chunk, .. }) => {
                let [lowest, highest] =
                    [ladder.0.first(), ladder.0.last()].map(|rate| rate.copied().unwrap_or_default());
                write!(f, "of {lowest} to {highest} in chunks of {chunk}")
            }
            Session::Game(Game { every, size, .. }) => write!(f, "with an answer of {size} each {every}"),
        }
    }
}

impl Mice {
    /// Those of a paper.
    pub(crate) fn of_paper(name: &str) -> Option<Mice> {
        let packets = |mean| Draw::exponential(mean).ok().map(SizeDraw::of_packets);
        let pause = |draw: Result<Draw, String>| draw.ok().map(TimeDraw::of_seconds);
        match name {
            "pi_pd" => Some(Mice { size: packets(12.0)?, idle: pause(Draw::constant(0.0))? }),
            "arm_pfc" => Some(Mice { size: packets(12.0)?, idle: pause(Draw::exponential(3.0))? }),
            _ => None,
        }
    }
}

/// The papers whose mice are known by name.
pub(crate) const PRESETS: &[&str] = &["pi_pd", "arm_pfc"];

pub(crate) const TRANSFER: Page = Page {
    stem: "transfer",
    summary: "a fixed volume over TCP, once; then the flow is over",
    idea: "`size` counts payload; in packets it counts full segments. The flow completion time is from the flow's \
           start, its SYN included, until the receiver's application has all of it. With `arrivals` flows come during \
           the run, each with a size of its own.",
    equation: "FCT = 8 size / goodput",
    source: "RFC 7928, section 2.1",
    fields: Vec::new,
};

pub(crate) const MICE: Page = Page {
    stem: "mice",
    summary: "short transfers over TCP, one after the other, each over a connection of its own",
    idea: "A flow is a slot: a transfer of `size`, then `idle`, then the next with a fresh connection and fresh state. \
           A size in packets is a whole number of them, at least one. The presets are \
           those of two papers. pi_pd: exponential sizes of 12 packets on average, which is about a second of life \
           there, and no pause, so that each slot is always busy. arm_pfc: pauses exponential with a mean of 3 s; that \
           paper does not tell the sizes, and 12 packets are taken here, too. `size` and `idle` beside a preset stand \
           in the place of its own.",
    equation: "",
    source: "S. Ryu et al., Simulation, 2005, section 4; N. Bigdeli, M. Haeri, IJST B 31(B6), 2007, experiment 7",
    fields: Vec::new,
};

pub(crate) const WEB: Page = Page {
    stem: "web",
    summary: "pages of many objects over several TCP connections, one page after the other",
    idea: "The receiver asks, the sender answers: `connections` at a time, new ones for each page, fetch its `objects` of \
           `size`, each asking for the next one when the last has come. The next page begins `idle` after the last \
           object of all. The flow completion time is the page's, from its first request. A request is a datagram of \
           `request` bytes on the way back, repeated after 1 s, 2 s more, 4 s more and so on where nothing is heard of it; the \
           first over a connection stands for the first half of the handshake, so that an object takes as many round \
           trips as by HTTP. `count` is the number of people who browse.",
    equation: "",
    source: "RFC 7928, section 7.2: at least 50 objects of at least 1 KB, six connections, initial window 10",
    fields: Vec::new,
};

pub(crate) const VIDEO: Page = Page {
    stem: "video",
    summary: "adaptive video over TCP: chunks whose rate follows the player's buffer",
    idea: "The player asks for one chunk of `chunk` seconds after the other over one connection, at a rate of the \
           `ladder` that follows from what it has in its buffer: the lowest up to `reservoir`, the highest from \
           `reservoir` + `cushion`, in between along a line; the rate stays until the line has come to the next one, up \
           or down (BBA-0). The line ends where the buffer is nine tenths full. The player plays from the first chunk \
           on and stands still where its buffer is empty: `stall_ratio` is the share of the time that it does. A chunk's \
           completion time is told. The paper's player has a reservoir of 90 s and a cushion of 126 s; the defaults are shorter, as runs are.",
    equation: "",
    source: "T.-Y. Huang et al., SIGCOMM 2014, algorithm 1",
    fields: Vec::new,
};

pub(crate) const GAME: Page = Page {
    stem: "game",
    summary: "a question at each tick and an answer, over one TCP connection",
    idea: "At each tick the receiver sends a question of `request` bytes, and the sender answers with `size`. Where the \
           last answer is still missing at a tick, that tick has no question. The flow completion time is that from \
           question to answer: what players call lag.",
    equation: "",
    source: "RFC 7928, section 2.6: latency of applications",
    fields: Vec::new,
};

pub(crate) const RRUL: Page = Page {
    stem: "rrul",
    summary: "the realtime response under load: bulk flows both ways, and pings between them",
    idea: "Stands for several classes: NAME-up, `count` bulk flows (4 where nothing is said) the way of the class; NAME-down, as many the other \
           way; NAME-ping and NAME-ping-be, NAME-ping-bk, NAME-ping-ef, a ping each 200 ms, of ICMP and of UDP with the marks \
           best effort, background and expedited forwarding. No disc looks at marks yet: the classes keep their \
           round-trip times apart.",
    equation: "",
    source: "D. Taht, the RRUL test of flent (T. Hoiland-Jorgensen et al., Flent: The Flexible Network Tester, ValueTools 2017)",
    fields: Vec::new,
};
