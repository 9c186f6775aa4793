//! Applications over TCP that have data to send at times.

use sojourn_params::Kind;
use sojourn_params::Quantity;
use sojourn_params::{Page, SizeDraw, TimeDraw, Value};
use sojourn_random::Draw;
use sojourn_units::{Bytes, Rate, Span};

/// Application of a flow that is not always backlogged.
#[derive(Clone, Debug, PartialEq)]
pub enum Session {
    /// A fixed volume of payload, once.
    Transfer(SizeDraw),
    /// One transfer after the other, each over a connection of its own.
    Mice(Mice),
    /// Web pages.
    Web(Web),
    /// Video whose rate follows the player's buffer.
    Video(Video),
    /// A request at each tick, and an answer.
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
    /// Concurrent connections, new ones for each page.
    pub connections: u32,
    /// From the end of one page to the start of the next.
    pub idle: TimeDraw,
    /// A request, as an IP packet.
    pub request: Bytes,
}

/// Video in chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// Available rates.
    pub ladder: Ladder,
    /// Play time of a chunk.
    pub chunk: Span,
    /// Buffer level up to which the lowest rate is requested.
    pub reservoir: Span,
    /// Buffer above the reservoir from which the highest rate is requested.
    pub cushion: Span,
    /// A request, as an IP packet.
    pub request: Bytes,
}

/// Requests and answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Game {
    /// Interval of ticks.
    pub every: Span,
    /// Payload of an answer.
    pub size: SizeDraw,
    /// A request, as an IP packet.
    pub request: Bytes,
}

/// Rates of a video, in rising order.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder(pub Vec<Rate>);

impl Quantity for Ladder {
    fn kind() -> Kind {
        Kind::Form("[\"500 kbit/s\", \"2 Mbit/s\"]")
    }
    fn read(value: &Value) -> Result<Ladder, String> {
        let expected = "expected one to twenty rates in rising order, such as [\"500 kbit/s\", \"2 Mbit/s\"]";
        let Value::List(items) = value else {
            return Err(format!("{value} is no list of rates; {expected}"));
        };
        let rates = items.iter().map(Rate::read).collect::<Result<Vec<Rate>, String>>()?;
        let bits: Vec<f64> = rates.iter().map(|rate| rate.bits_per_second()).collect();
        let rises = bits.windows(2).all(|pair| pair[0] < pair[1]);
        if (1..=20).contains(&bits.len()) && rises && bits.iter().all(|rate| (1e3..=1e12).contains(rate)) {
            return Ok(Ladder(rates));
        }
        Err(format!("{value} is no ladder of rates; {expected}, 1 kbit/s to 1 Tbit/s"))
    }
    fn write(&self) -> Value {
        Value::List(self.0.iter().map(|rate| Value::Text(rate.to_string())).collect())
    }
}

impl Session {
    /// Mean payload per burst, with segments of so many bytes; of a video a chunk at the highest rate. Bytes.
    pub fn burst(&self, segment: f64) -> f64 {
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
}

impl Mice {
    /// The mice of a paper.
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
           start, its SYN included, until the receiver's application has all of it. With `arrivals` flows arrive during \
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
           those of two papers. pi_pd: exponential sizes of 12 packets on average, which last about a second \
           there, and no pause, so that each slot is always busy. arm_pfc: pauses exponential with a mean of 3 s; that \
           paper does not state the sizes, and 12 packets are taken here, too. `size` and `idle` beside a preset replace \
           its own.",
    equation: "",
    source: "S. Ryu et al., Simulation, 2005, section 4; N. Bigdeli, M. Haeri, IJST B 31(B6), 2007, experiment 7",
    fields: Vec::new,
};

pub(crate) const WEB: Page = Page {
    stem: "web",
    summary: "pages of many objects over several TCP connections, one page after the other",
    idea: "The receiver sends requests, the sender answers: `connections` at a time, new ones for each page, fetch its \
    `objects` of `size`, each requesting the next one when the last has arrived. The next page begins `idle` after the \
    last object of all. The flow completion time is the page's, from its first request. A request is a datagram of \
    `request` bytes on the way back, repeated after 1 s, 2 s more, 4 s more and so on while it is unanswered; the \
    first over a connection replaces the first half of the handshake, so that an object takes as many round \
    trips as by HTTP. `count` is the number of users.",
    equation: "",
    source: "RFC 7928, section 7.2: at least 50 objects of at least 1 KB, six connections, initial window 10",
    fields: Vec::new,
};

pub(crate) const VIDEO: Page = Page {
    stem: "video",
    summary: "adaptive video over TCP: chunks whose rate follows the player's buffer",
    idea: "The player requests one chunk of `chunk` seconds after the other over one connection, at a rate of the \
    `ladder` that follows from the level of its buffer: the lowest up to `reservoir`, the highest from \
    `reservoir` + `cushion`, in between along a line; the rate stays until the line reaches the next one, up \
    or down (BBA-0). The line ends where the buffer is nine tenths full. The player plays from the first chunk \
    on and stalls while its buffer is empty: `stall_ratio` is the share of the time that it stalls. A chunk's \
    completion time is measured. The paper's player has a reservoir of 90 s and a cushion of 126 s; the defaults are \
    shorter, as runs are.",
    equation: "",
    source: "T.-Y. Huang et al., SIGCOMM 2014, algorithm 1",
    fields: Vec::new,
};

pub(crate) const GAME: Page = Page {
    stem: "game",
    summary: "a request at each tick and an answer, over one TCP connection",
    idea: "At each tick the receiver sends a request of `request` bytes, and the sender answers with `size`. Where the \
    last answer is still missing at a tick, that tick has no request. The flow completion time is that from \
    request to answer: the lag of players.",
    equation: "",
    source: "RFC 7928, section 2.6: latency of applications",
    fields: Vec::new,
};

pub(crate) const RRUL: Page = Page {
    stem: "rrul",
    summary: "the realtime response under load: bulk flows both ways, and pings between them",
    idea: "Expands into several classes: NAME-up, `count` bulk flows (4 by default) along the route of the class; \
    NAME-down, as many in the other direction; NAME-ping and NAME-ping-be, NAME-ping-bk, NAME-ping-ef, a ping each \
    200 ms, of ICMP and of UDP with the code points best effort, background and expedited forwarding. No qdisc uses \
    them yet: the classes only have round-trip times of their own.",
    equation: "",
    source: "D. Taht, the RRUL test of flent (T. Hoiland-Jorgensen et al., Flent: The Flexible Network Tester, ValueTools 2017)",
    fields: Vec::new,
};
