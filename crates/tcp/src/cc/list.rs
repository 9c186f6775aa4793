//! Items derived from the list of congestion controls.

/// Generates the catalogue's entries and [`Curve`](super::Curve) from a list of controls and their files.
macro_rules! controls {
    ($($file:ident::$Control:ident,)+) => {
        /// Entries of all congestion controls.
        pub(crate) const ENTRIES: &[Entry] = &[$($file::ENTRY,)+];

        /// Any congestion control.
        ///
        /// It is called at every ACK, and so stored inline in the sender and dispatched without a virtual call. Only a
        /// custom control, written outside this crate, is boxed.
        #[derive(Clone)]
        pub enum Curve {
            $(
                #[doc = concat!("`", stringify!($file), "`.")]
                $Control($Control),
            )+
            /// One that is not in the catalogue.
            Custom(Box<dyn CongestionControl>),
        }

        /// Calls the contained control.
        macro_rules! dispatch {
            ($curve:expr, $control:ident => $call:expr) => {
                match $curve {
                    $(Curve::$Control($control) => $call,)+
                    Curve::Custom($control) => $call,
                }
            };
        }

        impl Curve {
            /// Passes on an ACK, on which the window grows only if `is_used`, returning the window.
            ///
            /// One dispatch instead of two, at every ACK.
            pub(crate) fn window_after(&mut self, ack: &AckSample<'_>, is_used: bool) -> Bytes {
                dispatch!(self, control => {
                    if is_used { control.on_ack(ack) } else { control.on_unused(ack) }
                    control.window()
                })
            }
        }

        impl CongestionControl for Curve {
            fn on_ack(&mut self, ack: &AckSample<'_>) {
                dispatch!(self, control => control.on_ack(ack))
            }
            fn on_feedback(&mut self, ack: &AckSample<'_>) {
                dispatch!(self, control => control.on_feedback(ack))
            }
            fn on_unused(&mut self, ack: &AckSample<'_>) {
                dispatch!(self, control => control.on_unused(ack))
            }
            fn on_signal(&mut self, signal: &Signal) {
                dispatch!(self, control => control.on_signal(signal))
            }
            fn window(&self) -> Bytes {
                dispatch!(self, control => control.window())
            }
            fn ssthresh(&self) -> Bytes {
                dispatch!(self, control => control.ssthresh())
            }
            fn set_window(&mut self, window: Bytes) {
                dispatch!(self, control => control.set_window(window))
            }
            fn set_ssthresh(&mut self, ssthresh: Bytes) {
                dispatch!(self, control => control.set_ssthresh(ssthresh))
            }
        }
    };
}
