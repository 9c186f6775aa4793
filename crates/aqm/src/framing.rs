//! Framing: the size of a packet on the wire.
//!
//! Rate and utilization of a link are those of its wire: a full link has a utilization of one. Buffers and laws count
//! IP packets.

use sojourn_params::{
    Bounds, Described, Edge, Errors, Expected, Field, InputError, Kind, Page, Quantity, Value, params, word,
};
use sojourn_units::Bytes;
use std::fmt;

/// Size of a packet on the wire: overhead, a minimum, then a coding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Framing {
    /// Headers, trailers and gaps of a packet, bytes.
    pub overhead: u32,
    /// Least size with them, bytes.
    pub least: u32,
    /// Coding of the frame.
    pub coding: Coding,
}

params! {
    /// A framing by numbers.
    pub struct Numbers {
        /// headers, trailers and gaps of a packet
        overhead: Bytes = Bytes::ZERO, within SIZES, "the IP packet alone";
        /// least size of a packet with them
        least: Bytes = Bytes::ZERO, within SIZES, "IP has none";
        /// ATM: 53 bytes carry 48, and the last cell is filled up
        cells: bool = false, "most links have none", "ITU-T I.361, I.363.5";
        /// PTM: 65 bytes carry 64
        blocks: bool = false, "most links have none", "IEEE 802.3, 61.3.3; ITU-T G.992.3, annex N";
    }
}

/// Line coding of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coding {
    /// Nothing.
    #[default]
    None,
    /// ATM cells: 53 bytes carry 48, and the last one is filled up (ITU-T I.361, I.363.5).
    Cells,
    /// PTM: 65 bytes carry 64 (IEEE 802.3, 61.3.3; ITU-T G.992.3, annex N).
    Blocks,
}

impl Framing {
    /// The IP packet alone.
    pub const IP: Framing = frames(0, 0);
    /// Mahimahi's: the packet as a TUN device hands it over, with four bytes before it.
    pub const TUN: Framing = frames(4, 0);

    /// The bytes that a packet of `len` bytes takes on the wire.
    pub fn on_wire(&self, len: u32) -> u32 {
        let frame = len.saturating_add(self.overhead).max(self.least);
        match self.coding {
            Coding::None => frame,
            Coding::Cells => frame.div_ceil(CELL_PAYLOAD).saturating_mul(CELL),
            Coding::Blocks => frame.saturating_add(frame.div_ceil(BLOCK)),
        }
    }

    /// Its name, where it has one.
    fn name(&self) -> Option<&'static str> {
        NAMED.iter().find(|(_, framing)| framing == self).map(|(page, _)| page.stem)
    }

    /// All that have a name.
    pub fn named() -> impl Iterator<Item = &'static (Page, Framing)> {
        NAMED.iter()
    }

    /// Keys of a framing by numbers.
    pub fn fields() -> Vec<Field> {
        Numbers::fields()
    }
}

impl Numbers {
    fn of(framing: Framing) -> Numbers {
        let Framing { overhead, least, coding } = framing;
        Numbers {
            overhead: Bytes::new(overhead.into()),
            least: Bytes::new(least.into()),
            cells: coding == Coding::Cells,
            blocks: coding == Coding::Blocks,
        }
    }

    fn framing(&self) -> Result<Framing, InputError> {
        let coding = match (self.cells, self.blocks) {
            (false, false) => Coding::None,
            (true, false) => Coding::Cells,
            (false, true) => Coding::Blocks,
            (true, true) => {
                let error = InputError::conflict(true, "stands beside cells = true", "one of them");
                return Err(error.at("blocks"));
            }
        };
        Ok(Framing { overhead: self.overhead.get() as u32, least: self.least.get() as u32, coding })
    }
}

/// Bytes of a cell, and of its payload.
const CELL: u32 = 53;
const CELL_PAYLOAD: u32 = 48;
/// Bytes of a PTM codeword without its first.
const BLOCK: u32 = 64;
/// Bytes of `overhead` and of `least`.
const SIZES: Bounds = Bounds::at_least(Edge::Text("0 B")).to(Edge::Text("1000 B"));

/// Ethernet on the wire.
const ETHERNET: Framing = frames(FRAME + SPACE, LEAST_FRAME + SPACE);
/// Ethernet's header and its check sequence (IEEE 802.3, 3.1.1).
const FRAME: u32 = 14 + FCS;
const FCS: u32 = 4;
/// Preamble with the start of the frame, and the gap behind it (IEEE 802.3, 3.1.1 and 4.4.2).
const SPACE: u32 = 8 + 12;
/// The least Ethernet frame.
const LEAST_FRAME: u32 = 64;
/// PPPoE's header and PPP's protocol number (RFC 2516, section 4).
const PPPOE: u32 = 6 + PPP;
const PPP: u32 = 2;
/// The trailer of AAL5 (ITU-T I.363.5).
const AAL5: u32 = 8;
/// Headers of a routed packet and of a bridged frame (RFC 2684, sections 5 and 6).
const SNAP: u32 = 8;
const SNAP_BRIDGED: u32 = SNAP + PAD;
const PAD: u32 = 2;
/// An Ethernet frame without its check sequence in AAL5, behind the header of the bridge.
const BRIDGED: u32 = FRAME - FCS + AAL5;
/// Header of PPP in AAL5 (RFC 2364, section 6).
const LLC_NLPID: u32 = 4;
/// A PTM frame's first and last byte, and its check sequence (IEEE 802.3, 61.3.3).
const PTM: u32 = 1 + 1 + 2;

/// A framing with a name.
const fn named(
    stem: &'static str,
    framing: Framing,
    summary: &'static str,
    source: &'static str,
) -> (Page, Framing) {
    (Page { stem, summary, idea: "", equation: "", source, fields: Vec::new }, framing)
}

/// Frames as they are.
const fn frames(overhead: u32, least: u32) -> Framing {
    Framing { overhead, least, coding: Coding::None }
}

/// Frames in ATM cells.
const fn cells(overhead: u32) -> Framing {
    Framing { overhead, least: 0, coding: Coding::Cells }
}

/// Frames in PTM blocks.
const fn blocks(overhead: u32) -> Framing {
    Framing { overhead, least: 0, coding: Coding::Blocks }
}

/// The framings that have a name.
static NAMED: &[(Page, Framing)] = &[
    named("ip", Framing::IP, "the IP packet alone", "RFC 791"),
    named("ethernet", ETHERNET, "header, check sequence, preamble and gap", "IEEE 802.3, clauses 3 and 4"),
    named("pppoe", frames(PPPOE + ETHERNET.overhead, ETHERNET.least), "PPPoE on Ethernet", "RFC 2516"),
    named(
        "docsis",
        frames(FRAME, LEAST_FRAME),
        "a cable modem's frames, as its operator counts",
        "tc-cake(8)",
    ),
    named("ptm", blocks(FRAME + PTM), "VDSL2: Ethernet frames in PTM", "IEEE 802.3, 61.3; ITU-T G.993.2"),
    named("pppoe_ptm", blocks(PPPOE + FRAME + PTM), "VDSL2: PPPoE in PTM", "RFC 2516; IEEE 802.3, 61.3"),
    named("ipoa_vcmux", cells(AAL5), "ADSL: IP in ATM cells, VC-multiplexed", "RFC 2684, section 6"),
    named("ipoa_llc", cells(SNAP + AAL5), "ADSL: IP in ATM cells, LLC/SNAP", "RFC 2684, section 5"),
    named("pppoa_vcmux", cells(PPP + AAL5), "ADSL: PPP in ATM cells, VC-multiplexed", "RFC 2364, section 5"),
    named("pppoa_llc", cells(LLC_NLPID + PPP + AAL5), "ADSL: PPP in ATM cells, LLC", "RFC 2364, section 6"),
    named(
        "bridged_vcmux",
        cells(PAD + BRIDGED),
        "ADSL: Ethernet in ATM cells without its check sequence, VC-multiplexed",
        "RFC 2684, section 6",
    ),
    named(
        "bridged_llc",
        cells(SNAP_BRIDGED + BRIDGED),
        "ADSL: Ethernet in ATM cells without its check sequence, LLC/SNAP",
        "RFC 2684, section 5",
    ),
    named(
        "pppoe_vcmux",
        cells(PPPOE + PAD + BRIDGED),
        "ADSL: PPPoE in ATM cells, VC-multiplexed",
        "RFC 2516; RFC 2684, section 6",
    ),
    named(
        "pppoe_llc",
        cells(PPPOE + SNAP_BRIDGED + BRIDGED),
        "ADSL: PPPoE in ATM cells, LLC/SNAP",
        "RFC 2516; RFC 2684, section 5",
    ),
    named("tun", Framing::TUN, "four bytes before the packet, as Mahimahi counts", "mm-link(1)"),
];

impl Quantity for Framing {
    const RULE: &'static str = "a name, or { overhead = SIZE, least = SIZE, cells = true }";

    fn kind() -> Kind {
        Kind::Form("\"ethernet\"")
    }

    fn read(value: &Value) -> Result<Framing, Errors> {
        if let Value::Table(_) = value {
            return Ok(Numbers::read(value)?.framing()?);
        }
        let names: Vec<&str> = NAMED.iter().map(|(page, _)| page.stem).collect();
        let place = word(value, &names, "is not a framing").map_err(|error| InputError {
            expected: Expected::one_of(names.iter().copied().chain([BY_NUMBERS])),
            ..error
        })?;
        Ok(NAMED[place].1)
    }

    fn write(&self) -> Value {
        match self.name() {
            Some(name) => Value::Text(name.into()),
            None => Numbers::of(*self).write(),
        }
    }
}

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.write() {
            Value::Text(name) => f.write_str(&name),
            other => other.fmt(f),
        }
    }
}

/// Form of a framing by numbers.
const BY_NUMBERS: &str = "{ overhead = \"44 B\", least = \"84 B\", cells = true }";

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Framing {
        Framing::read(&Value::Text(name.into())).unwrap()
    }

    /// The table of keywords in tc-cake(8), an independent reference: overhead, least, cells (53) or blocks (65).
    #[test]
    fn the_names_agree_with_tc_cake() {
        for (name, overhead, least, coding) in [
            ("ethernet", 38, 84, 0),
            ("docsis", 18, 64, 0),
            ("pppoe_ptm", 30, 0, 65),
            ("ptm", 22, 0, 65),
            ("pppoa_vcmux", 10, 0, 53),
            ("pppoa_llc", 14, 0, 53),
            ("pppoe_vcmux", 32, 0, 53),
            ("pppoe_llc", 40, 0, 53),
            ("bridged_vcmux", 24, 0, 53),
            ("bridged_llc", 32, 0, 53),
            ("ipoa_vcmux", 8, 0, 53),
            ("ipoa_llc", 16, 0, 53),
        ] {
            let coding = match coding {
                53 => Coding::Cells,
                65 => Coding::Blocks,
                _ => Coding::None,
            };
            assert_eq!(named(name), Framing { overhead, least, coding }, "{name}");
        }
    }

    /// Gigabit Ethernet carries 1 488 095 least frames and 81 274 of 1500 B a second.
    #[test]
    fn ethernet_has_the_published_frame_rates() {
        let rate = |len| (1e9 / 8.0 / f64::from(named("ethernet").on_wire(len))) as u32;
        assert_eq!((rate(40), rate(46), rate(1500)), (1_488_095, 1_488_095, 81_274));
    }

    /// A TCP ACK of 40 B: 40 + 8 = 48 is one cell, 50 are two.
    #[test]
    fn a_cell_is_filled_up() {
        assert_eq!(named("ipoa_vcmux").on_wire(40), 53);
        assert_eq!(named("pppoa_vcmux").on_wire(40), 2 * 53);
        assert_eq!(named("pppoa_vcmux").on_wire(1478), 31 * 53);
        assert_eq!(named("pppoa_vcmux").on_wire(1479), 32 * 53);
    }

    #[test]
    fn a_65th_byte_precedes_64() {
        assert_eq!(named("ptm").on_wire(42), 65);
        assert_eq!(named("ptm").on_wire(43), 67);
        assert_eq!(named("ptm").on_wire(1500), 1522 + 24);
    }

    #[test]
    fn framings_are_read_as_they_are_written() {
        for (_, framing) in NAMED {
            assert_eq!(Framing::read(&framing.write()), Ok(*framing));
        }
        for coding in [Coding::None, Coding::Cells, Coding::Blocks] {
            let framing = Framing { overhead: 44, least: 84, coding };
            assert_eq!(Framing::read(&framing.write()), Ok(framing));
        }
    }

    #[test]
    fn an_error_names_the_expected_form() {
        let table = |key: &str, value: Value| Value::Table(vec![(key.into(), value)]);
        for (value, hint) in [
            (Value::Text("ethrenet".into()), "did you mean \"ethernet\"? (expected ip, ethernet"),
            (Value::Whole(44), "44 is not a framing (expected ip"),
            (
                table("overhead", Value::Text("2 kB".into())),
                "overhead: \"2 kB\" is out of range; expected 0 B to 1000 B",
            ),
            (table("least", Value::Whole(3)), "least: \"3\" needs a unit"),
            (table("atm", Value::Flag(true)), "atm: unknown key"),
        ] {
            let text = Framing::read(&value).unwrap_err().to_string();
            assert!(text.contains(hint), "{text}");
        }
        let both =
            Value::Table(vec![("cells".into(), Value::Flag(true)), ("blocks".into(), Value::Flag(true))]);
        let error = Framing::read(&both).unwrap_err().to_string();
        assert_eq!(error, "blocks: true stands beside cells = true; expected one of them");
    }
}
