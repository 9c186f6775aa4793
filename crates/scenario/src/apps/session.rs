//! Applications over TCP that have data to send at times.

use super::{App, Game, Mice, Transfer, Video, Web};
use sojourn_params::SizeDraw;

/// Application over TCP that is not always backlogged.
#[derive(Clone, Debug, PartialEq)]
pub enum Session {
    /// A volume, once.
    Transfer(Transfer),
    /// One transfer after the other, each over a connection of its own.
    Mice(Mice),
    /// Web pages.
    Web(Web),
    /// Video whose rate follows the player's buffer.
    Video(Video),
    /// A request at each tick, and an answer.
    Game(Game),
}

impl App {
    /// The session of an application over TCP that is not always backlogged.
    pub fn session(&self) -> Option<Session> {
        Some(match self {
            App::Transfer(transfer) => Session::Transfer(transfer.clone()),
            App::Mice(mice) => Session::Mice(mice.clone()),
            App::Web(web) => Session::Web(web.clone()),
            App::Video(video) => Session::Video(video.clone()),
            App::Game(game) => Session::Game(game.clone()),
            _ => return None,
        })
    }
}

impl Session {
    /// Mean payload per burst, with segments of so many bytes; of a video a chunk at the highest rate. Bytes.
    pub fn burst(&self, segment: f64) -> f64 {
        let mean = |size: &SizeDraw| size.bytes(segment).mean();
        match self {
            Session::Transfer(transfer) => mean(&transfer.size),
            Session::Mice(mice) => mean(&mice.size()),
            Session::Web(web) => f64::from(web.objects) * mean(&web.size),
            Session::Video(video) => {
                video.ladder.0.last().map_or(0.0, |rate| rate.bits_per_second() / 8.0 * video.chunk.seconds())
            }
            Session::Game(game) => mean(&game.size),
        }
    }
}
