//! What follows from the list of congestion controls.

/// Makes the catalogue's entries and [`Curve`](super::Curve) from a list of controls, each with its file.
macro_rules! controls {
    ($($file:ident::$Control:ident,)+) => {
        /// All congestion controls, each told of in its own file.
        pub(crate) const ENTRIES: &[Entry] = &[$($file::ENTRY,)+];

        /// Any congestion control.
        ///
        /// A sender asks at every ACK: the curve lies within it, and the question costs no look elsewhere. Only a
        /// guest, written outside this crate, lies elsewhere.
        #[derive(Clone)]
        pub enum Curve {
            $(
                #[doc = concat!("`", stringify!($file), "`.")]
                $Control($Control),
            )+
            /// One that is not in the catalogue.
            Guest(Box<dyn CongestionControl>),
        }

        /// Asks the control at hand.
        macro_rules! ask {
            ($curve:expr, $control:ident => $question:expr) => {
                match $curve {
                    $(Curve::$Control($control) => $question,)+
                    Curve::Guest($control) => $question,
                }
            };
        }

        impl Curve {
            /// Tells it of an ACK, by which the window grows only if it was used; the window that follows.
            ///
            /// One question, as this is asked at every ACK.
            pub(crate) fn window_after(&mut self, ack: &AckSample<'_>, is_used: bool) -> Bytes {
                ask!(self, control => {
                    if is_used { control.on_ack(ack) } else { control.on_unused(ack) }
                    control.window()
                })
            }
        }

        impl CongestionControl for Curve {
            fn on_ack(&mut self, ack: &AckSample<'_>) {
                ask!(self, control => control.on_ack(ack))
            }
            fn on_feedback(&mut self, ack: &AckSample<'_>) {
                ask!(self, control => control.on_feedback(ack))
            }
            fn on_unused(&mut self, ack: &AckSample<'_>) {
                ask!(self, control => control.on_unused(ack))
            }
            fn on_signal(&mut self, signal: &Signal) {
                ask!(self, control => control.on_signal(signal))
            }
            fn window(&self) -> Bytes {
                ask!(self, control => control.window())
            }
            fn ssthresh(&self) -> Bytes {
                ask!(self, control => control.ssthresh())
            }
            fn set_window(&mut self, window: Bytes) {
                ask!(self, control => control.set_window(window))
            }
            fn set_ssthresh(&mut self, ssthresh: Bytes) {
                ask!(self, control => control.set_ssthresh(ssthresh))
            }
        }
    };
}
