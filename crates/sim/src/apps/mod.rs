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

use crate::network::{AppPlan, SizePlan};
use game::Game;
use mice::Mice;
use sojourn_units::{Span, Stream, Time};
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

/// An application at work, or one that always has data; its streams are those of the run with this seed under this name.
pub(crate) fn of_plan(plan: Option<&AppPlan>, seed: u64, name: &str) -> Box<dyn TcpApp> {
    let stream = |what: &str| Stream::named(seed, &format!("{name}/{what}"));
    match plan {
        None => Box::new(Always::new()),
        Some(AppPlan::Transfer(size)) => Box::new(Transfer::new(size.clone(), stream("size"))),
        Some(AppPlan::Mice(size, idle)) => {
            Box::new(Mice::new((size.clone(), stream("size")), (idle.clone(), stream("idle"))))
        }
        Some(AppPlan::Web(web)) => Box::new(Web::new(web.clone(), stream("size"), stream("idle"))),
        Some(AppPlan::Video(video)) => Box::new(Video::new(video.clone())),
        Some(AppPlan::Game(game)) => Box::new(Game::new(game.clone(), stream("size"))),
    }
}

impl AppPlan {
    /// The size of what is one transfer.
    pub(crate) fn transfer(&self) -> Option<&SizePlan> {
        match self {
            AppPlan::Transfer(size) => Some(size),
            _ => None,
        }
    }
}

impl SizePlan {
    /// Bytes; at least one.
    pub(crate) fn draw(&self, draws: &mut Stream) -> u64 {
        let unit = f64::from(self.unit);
        let units = (self.bytes.sample(draws) / unit).round().max(1.0);
        (units * unit) as u64
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
