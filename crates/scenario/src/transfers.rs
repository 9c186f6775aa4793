//! Applications over TCP that have something to send now and then.

use crate::json::of_value;
use serde_json::Value as Json;
use sojourn_units::param::Quantity;
use sojourn_units::{Bytes, Page, Rate, SizeDraw, Span, TimeDraw};

/// What an application over TCP transfers.
#[derive(Clone, Debug, PartialEq)]
pub enum Transfers {
    /// So much, once.
    Once(SizeDraw),
    /// One transfer after the other.
    Mice(Mice),
    /// Pages.
    Web(Web),
    /// A film.
    Video(Video),
    /// A question at each tick.
    Game(Game),
}

/// Short transfers over a connection each.
#[derive(Clone, Debug, PartialEq)]
pub struct Mice {
    /// What each of them has.
    pub size: SizeDraw,
    /// From the end of one to the start of the next.
    pub idle: TimeDraw,
}

/// Pages of objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Web {
    /// Objects of a page.
    pub objects: u32,
    /// What each of them has.
    pub size: SizeDraw,
    /// How many connections fetch them.
    pub connections: u32,
    /// From the end of one page to the start of the next.
    pub idle: TimeDraw,
    /// The IP packet that asks for one.
    pub request: Bytes,
}

/// A film in chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct Video {
    /// The rates that there are, in rising order.
    pub ladder: Vec<Rate>,
    /// How long a chunk plays.
    pub chunk: Span,
    /// Up to so much in its buffer the player asks for the lowest rate.
    pub reservoir: Span,
    /// So much above that, for the highest.
    pub cushion: Span,
    /// The IP packet that asks for one.
    pub request: Bytes,
}

/// Questions and answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Game {
    /// From tick to tick.
    pub every: Span,
    /// What an answer has.
    pub size: SizeDraw,
    /// The IP packet that asks.
    pub request: Bytes,
}

impl Transfers {
    /// Its name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Transfers::Once(_) => "transfer",
            Transfers::Mice(_) => "mice",
            Transfers::Web(_) => "web",
            Transfers::Video(_) => "video",
            Transfers::Game(_) => "game",
        }
    }

    /// In words.
    pub(crate) fn told(&self) -> String {
        match self {
            Transfers::Once(size) => format!("transfer of {size}"),
            Transfers::Mice(Mice { size, idle }) => format!("mice of {size}, idle {idle}"),
            Transfers::Web(Web { objects, size, connections, idle, .. }) => {
                format!(
                    "web pages of {objects} objects of {size}, {connections} connections at a time, idle {idle}"
                )
            }
            Transfers::Video(Video { ladder, chunk, reservoir, cushion, .. }) => {
                let (lowest, highest) = (ladder[0], ladder[ladder.len() - 1]);
                format!(
                    "video in chunks of {chunk}, {} rates from {lowest} to {highest}, reservoir {reservoir}, cushion {cushion}",
                    ladder.len()
                )
            }
            Transfers::Game(Game { every, size, .. }) => {
                format!("game with an answer of {size} each {every}")
            }
        }
    }

    /// Its keys beside `app`, with their values as a file would have them.
    pub(crate) fn to_json(&self) -> Vec<(&'static str, Json)> {
        let size = |size: &SizeDraw| ("size", of_value(&size.write()));
        let idle = |idle: &TimeDraw| ("idle", of_value(&idle.write()));
        let request = |request: &Bytes| ("request", request.to_string().into());
        match self {
            Transfers::Once(of) => vec![size(of)],
            Transfers::Mice(of) => vec![size(&of.size), idle(&of.idle)],
            Transfers::Web(of) => vec![
                ("objects", of.objects.into()),
                size(&of.size),
                ("connections", of.connections.into()),
                idle(&of.idle),
                request(&of.request),
            ],
            Transfers::Video(of) => vec![
                ("ladder", of_value(&of.ladder.write())),
                ("chunk", of.chunk.to_string().into()),
                ("reservoir", of.reservoir.to_string().into()),
                ("cushion", of.cushion.to_string().into()),
                request(&of.request),
            ],
            Transfers::Game(of) => {
                vec![("every", of.every.to_string().into()), size(&of.size), request(&of.request)]
            }
        }
    }
}

/// The applications over TCP that end what they begin.
pub(crate) const NAMES: &[&str] = &["transfer", "mice", "http", "web", "video", "game"];

/// Bytes of an IP packet that asks for something, and of one that asks of a game.
pub(crate) const REQUEST: u64 = 400;
pub(crate) const QUESTION: u64 = 80;
/// Payload of an answer of a game.
pub(crate) const ANSWER: f64 = 200.0;
/// Payload of an object of a page.
pub(crate) const OBJECT: f64 = 10_000.0;
/// Packets of a mouse, the mean.
pub(crate) const MOUSE: f64 = 12.0;
/// The mean pause of http, s.
pub(crate) const HTTP_IDLE: f64 = 3.0;
/// The rates of a film, kbit/s.
pub(crate) const LADDER: &[f64] =
    &[235.0, 375.0, 560.0, 750.0, 1050.0, 1750.0, 2350.0, 3000.0, 4300.0, 5800.0];

pub(crate) const TRANSFER: Page = Page {
    stem: "transfer",
    summary: "a fixed volume over TCP, once; ends by itself",
    idea: "The sender has all of it at its start, connects, and sends; its completion time lasts from there until the \
           receiver's application has all, the handshake included. `size` is payload, or a distribution of it; in packets \
           it is whole full segments, rounded up. With `arrivals` one comes after the other: each has a slot (a flow \
           with its own links) to itself, the lowest that was free before, and a fresh connection. A slot is free again \
           when all is acknowledged; no FIN is sent for that.",
    equation: "",
    source: "RFC 6349: the time of a TCP transfer",
    fields: Vec::new,
};

pub(crate) const MICE: Page = Page {
    stem: "mice",
    summary: "short transfers over TCP, one after the other, each over a fresh connection",
    idea: "Each flow is a place for mice: when one has all its data acknowledged, the next begins after `idle` with a \
           fresh state (windows, timers, round-trip times), handshake included. So their number at a time is constant. \
           The defaults are those of the PI-PD paper's experiments as ns-2 is run for them: an exponential number of \
           packets, mean 12, one after the other, which makes a life of about a second there. Completion times are \
           from a mouse's start until its data are with the receiver.",
    equation: "",
    source: "PI-PD paper: short-lived flows of about 1 s; peers/ns2/parts.tcl: mouse",
    fields: Vec::new,
};

pub(crate) const HTTP: Page = Page {
    stem: "http",
    summary: "mice with a pause between them, exponential of mean 3 s: the http flows of the ARM-PFC paper",
    idea: "The same as mice with `idle = { exponential = \"3 s\" }`. The paper says nothing of how much a session \
           transfers; as of mice it is an exponential number of packets, mean 12, unless `size` says otherwise.",
    equation: "",
    source: "ARM-PFC paper, experiment 7",
    fields: Vec::new,
};

pub(crate) const WEB: Page = Page {
    stem: "web",
    summary: "pages of 50 objects over six connections at a time, the next page after the last object",
    idea: "Each of `count` users fetches one page after the other. A page has `objects` objects of `size` payload each; \
           `connections` connections, new ones for each page, fetch them: each asks for the next one when the last has \
           come. The next page begins when the last object of all has come, or `idle` after that. The completion time is \
           the page's. A request is a packet of `request` bytes on the way of acknowledgments; the first over a \
           connection stands for the handshake's first half, so that an object takes as many round trips as by HTTP. \
           A request is repeated after 1 s without an answer, then after 2 s, 4 s and so on. The initial window is the \
           profile's: 10 by default. Acknowledgments and requests go from `to` to `from`.",
    equation: "",
    source: "RFC 7928, section 7.2: at least 50 objects of at least 1 KB, six connections, IW 10",
    fields: Vec::new,
};

pub(crate) const VIDEO: Page = Page {
    stem: "video",
    summary: "adaptive video: chunks whose rate follows the player's buffer (BBA-0)",
    idea: "The player asks for one chunk of `chunk` seconds after the other, over one connection; the rate of each, one of \
           `ladder`, follows from the seconds in its buffer alone: the lowest up to the reservoir, the highest from \
           the cushion's end on, in between along a line; the rate stays until the line has come to the next one, up or \
           down. At nine tenths the line is at its end; the player asks for nothing that would find no room. It plays from the \
           first chunk on, and stands still where the buffer is empty until the next one has come. `stall_ratio` is \
           the time that it stands still, over that and the time that it plays; the completion time is a chunk's. \
           Requests travel as those of web.",
    equation: "f(B) = R_min + (R_max - R_min) (B - reservoir) / cushion",
    source: "T.-Y. Huang, R. Johari, N. McKeown, M. Trunnell, M. Watson, A Buffer-Based Approach to Rate Adaptation, \
             SIGCOMM 2014, algorithm 1; the default ladder: The Netflix Tech Blog, Per-Title Encode Optimization, 2015",
    fields: Vec::new,
};

pub(crate) const GAME: Page = Page {
    stem: "game",
    summary: "a small question each tick and an answer, over TCP; what counts is how long an answer takes",
    idea: "At each tick of `every` the receiver's application asks with a packet of `request` bytes, and the other end \
           answers with `size` of payload over a connection that stays. A tick at which the last answer is still to \
           come is passed over. The completion time is from a question to its answer. Requests travel as those of web.",
    equation: "",
    source: "K.-T. Chen, P. Huang, C.-L. Lei, Game Traffic Analysis: An MMORPG Perspective, Computer Networks 50, 2006",
    fields: Vec::new,
};
