//! Applications over TCP, each a state machine.
//!
//! An application handles the events of its user and is then polled for actions until there are none. Either it is at
//! the sender and has data ([`Action::Send`]), each time over a new connection; or at the receiver, and requests data
//! over connections that persist ([`Action::Request`]).

mod game;
mod http;
mod mice;
mod rpm;
mod transfer;
mod video;
mod web;

use crate::datagrams::DatagramsPlan;
use crate::transaction::Purpose;
use game::Game;
use http::Http;
use mice::Mice;
pub use rpm::Probe as RpmProbe;
use rpm::Rpm;
use sojourn_params::SizeDraw;
use sojourn_random::{Draw, Stream};
use sojourn_scenario as scenario;
use sojourn_units::{Span, Time};
use transfer::Transfer;
use video::Video;
use web::Web;

/// Plan of an application.
#[derive(Clone)]
pub enum AppPlan {
    /// Always has data to send.
    Bulk,
    /// Requests and transfers; a full segment carries this many bytes.
    Session(scenario::App, u32),
    /// Datagrams that do not respond to congestion.
    Datagrams(DatagramsPlan),
}

impl AppPlan {
    /// Number of connection slots.
    pub fn connections(&self) -> u32 {
        match self {
            AppPlan::Session(scenario::App::Web(web), _) => web.connections,
            AppPlan::Session(scenario::App::Rpm(rpm), _) => rpm.slots(),
            _ => 1,
        }
    }

    /// Requests over one of its connections.
    pub fn requests(&self) -> Requests {
        use scenario::App::{Game, Http, Rpm, Video, Web};
        match self {
            AppPlan::Session(Http(http), _) if !http.late_binding => Requests::One,
            AppPlan::Session(Http(_) | Web(_) | Video(_) | Game(_) | Rpm(_), _) => Requests::Several,
            _ => Requests::None,
        }
    }

    /// Distribution of the sizes that arrivals bring along, where each is one transfer, and the payload of a full segment.
    pub(crate) fn size_of_arrivals(&self) -> Option<(&SizeDraw, u32)> {
        match self {
            AppPlan::Session(scenario::App::Transfer(transfer), mss) => Some((&transfer.size, *mss)),
            AppPlan::Session(scenario::App::Http(http), mss) => Some((&http.size, *mss)),
            _ => None,
        }
    }
}

/// Requests over a connection; an application that sends some is at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requests {
    /// The application is at the sender.
    None,
    /// One, with which the connection ends.
    One,
    /// More may follow when all data are acknowledged.
    Several,
}

/// Action of an application.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Action {
    /// Send bytes to the receiver over a new connection.
    Send(u64),
    /// Request data from the sender.
    Request(Request),
    /// Let a request for this payload, bytes, wait for the first connection of the class that is free.
    Wait(u64),
    /// The user's connection is established, or the answer over it has arrived.
    Free {
        /// The answer has arrived.
        is_answered: bool,
    },
    /// Record the completion of the transfer that began then.
    Complete(Time),
    /// Record how long a player has played, and stalled, since the last record.
    Played(Span, Span),
    /// Record the duration of a probe of the responsiveness test.
    Probed(rpm::Probe, Span),
    /// Leave for good.
    Leave,
}

/// Request for data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Request {
    /// Number of the connection slot; nothing may be pending over it.
    pub(crate) connection: u32,
    /// Opens a new connection.
    pub(crate) is_new: bool,
    /// Size of the request as an IP packet, bytes.
    pub(crate) size: u16,
    /// Its purpose; of data also the payload.
    pub(crate) purpose: Purpose,
}

/// An application.
pub(crate) trait App: Send {
    /// The user starts; `bytes` is the transfer size where the arrival has one.
    fn start(&mut self, now: Time, bytes: Option<u64>);
    /// All data sent are acknowledged.
    fn acknowledged(&mut self, _now: Time) {}
    /// All data requested over a connection have arrived.
    fn answered(&mut self, _now: Time, _connection: u32) {}
    /// Its connection is free, and takes the request for this payload that began then.
    fn serve(&mut self, _began: Time, _bytes: u64) {}
    /// No request is left for its connection.
    fn close(&mut self) {}
    /// Time of the next [`App::wake`]; NEVER: none.
    fn wakes_at(&self) -> Time {
        Time::NEVER
    }
    /// That time has come.
    fn wake(&mut self, _now: Time) {}
    /// The next action; call it until there is none.
    fn next(&mut self, now: Time) -> Option<Action>;
}

/// The application of a plan; its streams are those of the run with this seed under this name.
pub(crate) fn of_plan(plan: &AppPlan, seed: u64, name: &str) -> Box<dyn App> {
    let AppPlan::Session(app, mss) = plan else { return Box::new(Always(None)) };
    let stream = |purpose: &str| Stream::named(seed, &format!("{name}/{purpose}"));
    let sizes = |size: &SizeDraw| Sizes::new(size, *mss, stream("size"));
    match app {
        scenario::App::Transfer(transfer) => Box::new(Transfer::new(sizes(&transfer.size))),
        scenario::App::Mice(mice) => Box::new(Mice::new(sizes(&mice.size()), (mice.idle(), stream("idle")))),
        scenario::App::Http(http) => Box::new(Http::new(http.clone(), sizes(&http.size))),
        scenario::App::Web(web) => Box::new(Web::new(web.clone(), sizes(&web.size), stream("idle"))),
        scenario::App::Video(video) => Box::new(Video::new(video.clone())),
        scenario::App::Rpm(rpm) => Box::new(Rpm::new(rpm.clone(), stream("probe"))),
        scenario::App::Game(game) => Box::new(Game::new(game.clone(), sizes(&game.size))),
        scenario::App::Bulk(_)
        | scenario::App::Rrul(_)
        | scenario::App::Cbr(_)
        | scenario::App::Poisson(_)
        | scenario::App::OnOff(_)
        | scenario::App::Lrd(_)
        | scenario::App::Voip(_)
        | scenario::App::Ping(_) => Box::new(Always(None)),
    }
}

/// Draws of transfer sizes.
pub(crate) struct Sizes {
    bytes: Draw,
    /// Sizes are rounded to whole multiples of this, at least one.
    unit: f64,
    draws: Stream,
}

impl Sizes {
    /// Draws of `size`, where full segments carry `mss` bytes.
    pub(crate) fn new(size: &SizeDraw, mss: u32, draws: Stream) -> Sizes {
        let packet = f64::from(mss);
        let unit = if size.is_in_packets() { packet } else { 1.0 };
        Sizes { bytes: size.bytes(packet), unit, draws }
    }

    /// The next size, bytes; at least one.
    pub(crate) fn draw(&mut self) -> u64 {
        let units = (self.bytes.sample(&mut self.draws) / self.unit).round().max(1.0);
        (units * self.unit) as u64
    }
}

/// Always has data to send.
struct Always(Option<Action>);

impl App for Always {
    fn start(&mut self, _now: Time, _bytes: Option<u64>) {
        self.0 = Some(Action::Send(u64::MAX));
    }
    fn next(&mut self, _now: Time) -> Option<Action> {
        self.0.take()
    }
}
