//! Segments in a script: in bytes, as in packetdrill, or in full-sized segments.
//!
//! ```text
//! [ect0] W. 1001:2001(1000) ack 1 win 65535 <sack 3001:4001,nop,nop>
//! [ect0] W data 2          E ack 3 sack 5..6 8..8 room 4 ecr 100
//! ```

use super::{Packet, Stamps, Window, number};
use sojourn_tcp::Flags;
use sojourn_units::Ecn;

/// Reads the segments of a line, with `mss` bytes in full-sized ones.
pub(super) fn read(text: &str, mss: u64) -> Result<Vec<Packet>, String> {
    let (text, options) = split_options(text)?;
    let mut words = text.split_whitespace().peekable();
    let ecn = words.next_if(|word| word.starts_with('[')).map(codepoint).transpose()?;
    let flags = words.next_if(|word| !["data", "ack"].contains(word)).map(flags).transpose()?;
    let words: Vec<&str> = words.collect();
    let mut packets = match (&words[..], flags) {
        (["data", rest @ ..], flags) => counted_data(flags.unwrap_or(Flags::NONE) | Flags::ACK, rest, mss)?,
        (["ack", rest @ ..], flags) => counted_ack(flags.unwrap_or(Flags::NONE) | Flags::ACK, rest, mss)?,
        ([place, rest @ ..], Some(flags)) => vec![in_bytes(flags, place, rest)?],
        _ => return Err(format!("\"{}\" is no segment", text.trim())),
    };
    for packet in &mut packets {
        packet.ecn = ecn;
        options.iter().try_for_each(|option| add_option(packet, option))?;
    }
    Ok(packets)
}

/// Text before `<…>`, and the options within.
fn split_options(text: &str) -> Result<(&str, Vec<&str>), String> {
    let Some((before, options)) = text.split_once('<') else { return Ok((text, Vec::new())) };
    let options = options.trim().strip_suffix('>').ok_or("the options end with >")?;
    Ok((before, options.split(',').map(str::trim).collect()))
}

fn codepoint(word: &str) -> Result<Ecn, String> {
    match word {
        "[noecn]" => Ok(Ecn::NotEct),
        "[ect0]" => Ok(Ecn::Ect0),
        "[ect1]" => Ok(Ecn::Ect1),
        "[ce]" => Ok(Ecn::Ce),
        _ => Err(format!("{word} is not [noecn], [ect0], [ect1] or [ce]")),
    }
}

fn flags(word: &str) -> Result<Flags, String> {
    word.chars().try_fold(Flags::NONE, |flags, letter| {
        let flag = match letter {
            'S' => Flags::SYN,
            'F' => Flags::FIN,
            '.' => Flags::ACK,
            'E' => Flags::ECE,
            'W' => Flags::CWR,
            // PSH is ignored.
            'P' => Flags::NONE,
            _ => return Err(format!("\"{word}\" is neither flags (S, F, P, E, W, .) nor data nor ack")),
        };
        Ok(flags | flag)
    })
}

/// `1001:2001(1000) ack 1 win 65535`.
fn in_bytes(flags: Flags, place: &str, words: &[&str]) -> Result<Packet, String> {
    let wrong = || format!("\"{place}\" is not FIRST:END(BYTES)");
    let (seq, rest) = place.split_once(':').ok_or_else(wrong)?;
    let (end, len) = rest.split_once('(').ok_or_else(wrong)?;
    let len = number(len.strip_suffix(')').ok_or_else(wrong)?)?;
    let (seq, end) = (number(seq)?, number(end)?);
    if seq.checked_add(len) != Some(end) {
        return Err(format!("{seq} and {len} bytes are not {end}"));
    }
    let mut packet = Packet { flags, seq, len, ..Packet::default() };
    let mut acknowledges = false;
    for pair in words.chunks(2) {
        match *pair {
            ["ack", ack] => (packet.ack, acknowledges) = (number(ack)?, true),
            ["win", window] => packet.window = Some(Window::Field(number(window)?)),
            _ => return Err(format!("\"{}\" is not ack N or win N", pair.join(" "))),
        }
    }
    if acknowledges == flags.has(Flags::ACK) { Ok(packet) } else { Err("ack N goes with the flag .".into()) }
}

/// `data 1..8`, `data 3 val 100`.
fn counted_data(flags: Flags, words: &[&str], mss: u64) -> Result<Vec<Packet>, String> {
    let [numbers, rest @ ..] = words else { return Err("data N, or data N..M".into()) };
    let (from, through) = range(numbers)?;
    let stamp = match rest {
        [] => None,
        ["val", value] => Some(Stamps { value: Some(number(value)?), echo: None }),
        _ => return Err(format!("\"{}\" does not go with data", rest.join(" "))),
    };
    if from == 0 {
        return Err("segments are numbered from 1".into());
    }
    let packet =
        |number| Packet { flags, seq: (number - 1) * mss + 1, len: mss, ack: 1, stamp, ..Packet::default() };
    Ok((from..=through).map(packet).collect())
}

/// `ack 3 sack 5..6 8..8 room 4 ecr 100`, `ack 1..4`, `ack 0 times 3`.
fn counted_ack(flags: Flags, words: &[&str], mss: u64) -> Result<Vec<Packet>, String> {
    let [numbers, rest @ ..] = words else { return Err("ack N, or ack N..M".into()) };
    let (from, through) = range(numbers)?;
    let mut packet = Packet { flags, seq: 1, ..Packet::default() };
    let mut times = 1;
    let mut rest = rest.iter().copied().peekable();
    while let Some(word) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{word} N")).and_then(number);
        match word {
            "times" => times = value()?,
            "win" => packet.window = Some(Window::Field(value()?)),
            "room" => packet.window = Some(Window::Room(value()?.saturating_mul(mss))),
            "ecr" => packet.stamp = Some(Stamps { value: None, echo: Some(value()?) }),
            "sack" => {
                while let Some(block) = rest.next_if(|word| word.contains("..")) {
                    let (from, through) = range(block)?;
                    packet.sack.push((from.saturating_sub(1) * mss + 1, through * mss + 1));
                }
            }
            _ => return Err(format!("\"{word}\" does not go with ack")),
        }
    }
    if (through - from + 1).saturating_mul(times) > MOST_SEGMENTS {
        return Err(format!("too many segments; expected {MOST_SEGMENTS} at most"));
    }
    let acks = (from..=through).flat_map(|last| (0..times).map(move |_| last * mss + 1));
    Ok(acks.map(|ack| Packet { ack, ..packet.clone() }).collect())
}

/// `3`, or `1..8`, both bounds included.
fn range(text: &str) -> Result<(u64, u64), String> {
    let (from, through) = text.split_once("..").unwrap_or((text, text));
    let (from, through) = (number(from)?, number(through)?);
    if from <= through && through < MOST_SEGMENTS {
        Ok((from, through))
    } else {
        Err(format!("\"{text}\" is no range"))
    }
}

/// Reads one option of `<…>`.
fn add_option(packet: &mut Packet, option: &str) -> Result<(), String> {
    let words: Vec<&str> = option.split_whitespace().collect();
    let mut offer = packet.offer.unwrap_or_default();
    match words[..] {
        ["nop" | "eol"] => return Ok(()),
        ["sack", ref blocks @ ..] => {
            for block in blocks {
                let (from, to) =
                    block.split_once(':').ok_or_else(|| format!("\"{block}\" is not FIRST:END"))?;
                packet.sack.push((number(from)?, number(to)?));
            }
            return Ok(());
        }
        ["TS", "val", value, "ecr", echo] => {
            packet.stamp = Some(Stamps { value: Some(number(value)?), echo: Some(number(echo)?) });
            return Ok(());
        }
        ["mss", bytes] => offer.mss = Some(number(bytes)?),
        ["sackOK"] => offer.sack = true,
        ["wscale", shift] => {
            let shift = shift.parse().ok().filter(|shift| *shift <= MOST_SHIFT);
            offer.scale = Some(shift.ok_or("wscale is 0 to 14 (RFC 7323, section 2.3)")?);
        }
        _ => return Err(format!("\"{option}\" is not mss, sackOK, wscale, TS, sack, nop or eol")),
    }
    packet.offer = Some(offer);
    Ok(())
}

/// Most segments in a range.
const MOST_SEGMENTS: u64 = 100_000;
const MOST_SHIFT: u8 = 14;

#[cfg(test)]
mod tests {
    use super::super::Offer;
    use super::*;

    fn one(text: &str) -> Packet {
        let packets = read(text, 1000).unwrap();
        assert_eq!(packets.len(), 1);
        packets[0].clone()
    }

    #[test]
    fn both_forms_are_equivalent() {
        for (bytes, counted) in [
            (". 2001:3001(1000) ack 1", "data 3"),
            ("[ect0] PW. 2001:3001(1000) ack 1", "[ect0] W data 3"),
            (". 1:1(0) ack 3001", "ack 3"),
            ("E. 1:1(0) ack 1 win 500 <nop,nop,sack 4001:6001 7001:8001>", "E ack 0 sack 5..6 8..8 win 500"),
        ] {
            assert_eq!(one(bytes), one(counted), "{counted}");
        }
    }

    #[test]
    fn a_syn_and_its_options() {
        let syn = one("SEW 0:0(0) win 65535 <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 7>");
        assert_eq!(syn.flags, Flags::SYN | Flags::ECE | Flags::CWR);
        assert_eq!(syn.offer, Some(Offer { mss: Some(1460), sack: true, scale: Some(7) }));
        assert_eq!(syn.stamp, Some(Stamps { value: Some(100), echo: Some(0) }));
        assert_eq!(syn.window, Some(Window::Field(65535)));
    }

    #[test]
    fn inconsistent_segments_are_refused() {
        for (text, hint) in [
            (". 1:1001(999) ack 1", "are not 1001"),
            (". 1:1001(1000)", "goes with"),
            ("X. 1:1(0) ack 1", "flags"),
            ("[ect2] data 1", "[ect2]"),
            (". 1:1(0) ack 1 <wscale 15>", "wscale"),
            (". 1:1(0) ack 1 <sack 1>", "FIRST:END"),
            ("ack 3 sack 5..6 room", "room"),
            ("data 8..1", "range"),
            ("", "no segment"),
        ] {
            let message = read(text, 1000).unwrap_err();
            assert!(message.contains(hint), "{text}: {message}");
        }
    }
}
