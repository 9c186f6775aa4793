//! Applications over TCP that have data to send at times.

use super::App;
use sojourn_params::SizeDraw;

impl App {
    /// Mean payload per burst, with segments of so many bytes; of a video a chunk at the highest rate. Bytes; infinite for
    /// the responsiveness test; None for bulk flows and over UDP.
    pub fn burst(&self, segment: f64) -> Option<f64> {
        let mean = |size: &SizeDraw| size.bytes(segment).mean();
        match self {
            App::Transfer(transfer) => Some(mean(&transfer.size)),
            App::Mice(mice) => Some(mean(&mice.size())),
            App::Http(http) => Some(mean(&http.size)),
            App::Web(web) => Some(f64::from(web.objects) * mean(&web.size)),
            App::Video(video) => {
                let most = video.ladder.0.last();
                Some(most.map_or(0.0, |rate| rate.bits_per_second() / 8.0 * video.chunk.seconds()))
            }
            App::Game(game) => Some(mean(&game.size)),
            // Without load-generating connections it has no more than a few packets.
            App::Rpm(rpm) => (rpm.connections > 0).then_some(f64::INFINITY),
            App::Bulk(_)
            | App::Rrul(_)
            | App::Cbr(_)
            | App::Poisson(_)
            | App::OnOff(_)
            | App::Lrd(_)
            | App::Voip(_)
            | App::Ping(_) => None,
        }
    }
}
