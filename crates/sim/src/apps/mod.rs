//! What flows send: datagrams that nobody waits for, and applications over TCP.
//!
//! An application is a state machine without input or output, as TCP is: it is told what
//! happened, and is then asked for what it wants done until there is nothing. Either it is
//! at the sender and has data there (`Send`), each time over a connection of its own; or at
//! the receiver, and asks the other end for data over connections that stay (`Ask`).

pub(crate) mod datagrams;

mod game;
mod mice;
mod transfer;
mod video;
mod web;

use crate::network::SourcePlan;
use game::Game;
use mice::Mice;
use sojourn_scenario::Session;
use sojourn_units::{Draw, SizeDraw, Span, Stream, Time};
use transfer::Transfer;
use video::Video;
use web::Web;

/// What an application wants done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wish {
    /// The sender has so many bytes for the receiver, over a new connection.
    Send(u64),
    /// The receiver asks for data.
    Ask(Ask),
    /// What was begun then is complete.
    Complete(Time),
    /// A player has played for so long since it told last, and stood still for so long.
    Played(Span, Span),
    /// It does nothing more.
    Leave,
}

/// What a receiver asks the other end for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ask {
    /// Over which of its connections; only where nothing is awaited over it.
    pub(crate) connection: u32,
    /// Whether that is to be a new one.
    pub(crate) anew: bool,
    /// Bytes of the request, as an IP packet.
    pub(crate) request: u16,
    /// Bytes of payload of the answer.
    pub(crate) bytes: u64,
}

/// An application over TCP.
pub(crate) trait TcpApp: Send {
    /// It begins; `bytes` is what there is to transfer, where the arrival tells.
    fn start(&mut self, now: Time, bytes: Option<u64>);
    /// What was sent is acknowledged, all of it.
    fn acknowledged(&mut self, _now: Time) {}
    /// What was asked for over a connection is there, all of it.
    fn answered(&mut self, _now: Time, _connection: u32) {}
    /// When it wants to be woken; NEVER where not.
    fn wakes_at(&self) -> Time {
        Time::NEVER
    }
    /// That time has come.
    fn wake(&mut self, _now: Time) {}
    /// What it wants done now; to be asked until there is nothing.
    fn next(&mut self, now: Time) -> Option<Wish>;
}

/// The application of what sends, or one that always has data; its streams are those of the run with this seed under
/// this name.
pub(crate) fn of_source(source: &SourcePlan, seed: u64, name: &str) -> Box<dyn TcpApp> {
    let SourcePlan::App(config, session) = source else { return Box::new(Always::new()) };
    let stream = |what: &str| Stream::named(seed, &format!("{name}/{what}"));
    let sizes = |size: &SizeDraw| Sizes::new(size, config.mss, stream("size"));
    match session {
        Session::Transfer(size) => Box::new(Transfer::new(sizes(size))),
        Session::Mice(mice) => Box::new(Mice::new(sizes(&mice.size), (mice.idle.clone(), stream("idle")))),
        Session::Web(web) => Box::new(Web::new(web.clone(), sizes(&web.size), stream("idle"))),
        Session::Video(video) => Box::new(Video::new(video.clone())),
        Session::Game(game) => Box::new(Game::new(game.clone(), sizes(&game.size))),
    }
}

/// How much is transferred, one time after the other.
pub(crate) struct Sizes {
    bytes: Draw,
    /// Sizes are whole multiples of this, at least one, the nearest.
    unit: f64,
    draws: Stream,
}

impl Sizes {
    /// Sizes that are drawn so, where full segments carry `mss` bytes.
    pub(crate) fn new(size: &SizeDraw, mss: u32, draws: Stream) -> Sizes {
        let packet = f64::from(mss);
        let unit = if size.is_in_packets() { packet } else { 1.0 };
        Sizes { bytes: size.bytes(packet), unit, draws }
    }

    /// Bytes; at least one.
    pub(crate) fn draw(&mut self) -> u64 {
        let units = (self.bytes.sample(&mut self.draws) / self.unit).round().max(1.0);
        (units * self.unit) as u64
    }
}

/// Always data to send, as long as it is there.
pub(crate) struct Always(Option<Wish>);

impl Always {
    pub(crate) fn new() -> Always {
        Always(None)
    }
}

impl TcpApp for Always {
    fn start(&mut self, _now: Time, _bytes: Option<u64>) {
        self.0 = Some(Wish::Send(u64::MAX));
    }
    fn next(&mut self, _now: Time) -> Option<Wish> {
        self.0.take()
    }
}
