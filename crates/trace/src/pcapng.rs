//! Packet captures: pcapng, the capture format of Wireshark (draft-ietf-opsawg-pcapng).
//!
//! A file is blocks, each with its type and its length at both ends; integers are little-endian, and every part is
//! padded to 32 bits. The types here are those that a capture needs: section header, interface description, enhanced
//! packet, interface statistics. A block is appended to a buffer, whole; who writes the buffer decides when.

use sojourn_units::Time;

/// An interface on which packets are captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface<'a> {
    /// Its name (if_name).
    pub name: &'a str,
    /// Place of the capture, a phrase (if_description).
    pub description: &'a str,
    /// Most bytes captured of a packet; 0: all.
    pub snap_len: u32,
    /// Bits per second (if_speed); None: unknown.
    pub speed: Option<u64>,
}

/// A packet on an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedPacket<'a> {
    /// Number of the interface, in the order of their blocks.
    pub interface: u32,
    /// Time of the capture.
    pub at: Time,
    /// Captured bytes: the first ones of the packet.
    pub bytes: &'a [u8],
    /// Length of the whole packet, bytes.
    pub len: u32,
    /// Direction at the interface (epb_flags).
    pub direction: Direction,
}

/// Direction of a packet at an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Arrives over the link.
    Inbound,
    /// Leaves over the link.
    Outbound,
}

/// Appends the section header, which begins a file; `application` wrote it (shb_userappl).
pub fn section(out: &mut Vec<u8>, application: &str) {
    block(out, SECTION_HEADER, |out| {
        out.extend(BYTE_ORDER.to_le_bytes());
        out.extend(1_u16.to_le_bytes());
        out.extend(0_u16.to_le_bytes());
        // The length of the section is not known while it is written.
        out.extend((-1_i64).to_le_bytes());
        option(out, SHB_USERAPPL, application.as_bytes());
        end_of_options(out);
    });
}

/// Appends the description of the next interface. Its packets are IPv4 without a header of a link (LINKTYPE_IPV4), its
/// times are in nanoseconds.
pub fn interface(out: &mut Vec<u8>, of: &Interface<'_>) {
    block(out, INTERFACE_DESCRIPTION, |out| {
        out.extend(LINKTYPE_IPV4.to_le_bytes());
        out.extend(0_u16.to_le_bytes());
        out.extend(of.snap_len.to_le_bytes());
        option(out, IF_NAME, of.name.as_bytes());
        option(out, IF_DESCRIPTION, of.description.as_bytes());
        if let Some(speed) = of.speed {
            option(out, IF_SPEED, &speed.to_le_bytes());
        }
        option(out, IF_TSRESOL, &[NANOSECONDS]);
        end_of_options(out);
    });
}

/// Appends a packet.
pub fn packet(out: &mut Vec<u8>, packet: &CapturedPacket<'_>) {
    block(out, ENHANCED_PACKET, |out| {
        let nanos = packet.at.nanos();
        let captured = packet.bytes.len() as u32;
        for word in [packet.interface, (nanos >> 32) as u32, nanos as u32, captured, packet.len] {
            out.extend(word.to_le_bytes());
        }
        out.extend(packet.bytes);
        pad(out);
        let direction: u32 = match packet.direction {
            Direction::Inbound => 1,
            Direction::Outbound => 2,
        };
        option(out, EPB_FLAGS, &direction.to_le_bytes());
        end_of_options(out);
    });
}

/// Appends the statistics of an interface at the end of the capture: packets `seen` there (isb_ifrecv), and `missed` by
/// the capture (isb_ifdrop).
pub fn statistics(out: &mut Vec<u8>, number: u32, at: Time, [seen, missed]: [u64; 2]) {
    block(out, INTERFACE_STATISTICS, |out| {
        let nanos = at.nanos();
        for word in [number, (nanos >> 32) as u32, nanos as u32] {
            out.extend(word.to_le_bytes());
        }
        option(out, ISB_IFRECV, &seen.to_le_bytes());
        option(out, ISB_IFDROP, &missed.to_le_bytes());
        end_of_options(out);
    });
}

/// Appends a block of a type: its length stands before and after its body (section 3.1).
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    body(out);
    let len = (out.len() - start + 4) as u32;
    out[start + 4..start + 8].copy_from_slice(&len.to_le_bytes());
    out.extend(len.to_le_bytes());
}

/// Appends an option (section 3.5); what does not fit its length is cut off.
fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    out.extend(value);
    pad(out);
}

fn end_of_options(out: &mut Vec<u8>) {
    out.extend([0; 4]);
}

/// Pads to 32 bits. All blocks are multiples of that, so the length of the buffer is the one to pad.
fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}

/// Types of blocks (sections 4.1 to 4.6).
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
/// Magic number by which a reader detects the byte order.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
/// Raw IPv4 (<https://www.tcpdump.org/linktypes.html>).
const LINKTYPE_IPV4: u16 = 228;
/// Codes of options.
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_SPEED: u16 = 8;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
const ISB_IFRECV: u16 = 4;
const ISB_IFDROP: u16 = 5;
/// A negative power of ten.
const NANOSECONDS: u8 = 9;

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    /// Types and lengths of the blocks of a file.
    fn blocks(bytes: &[u8]) -> Vec<(u32, usize)> {
        let (mut found, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let len = word(bytes, at + 4) as usize;
            assert_eq!(word(bytes, at + len - 4) as usize, len, "the length stands at both ends");
            found.push((word(bytes, at), len));
            at += len;
        }
        found
    }

    #[test]
    fn blocks_are_whole_and_padded() {
        let mut out = Vec::new();
        section(&mut out, "test");
        let link = Interface { name: "bottleneck", description: "", snap_len: 96, speed: Some(10_000_000) };
        interface(&mut out, &link);
        for len in 0..5 {
            let (at, bytes) = (Time::from_nanos((7 << 32) + 9), [1, 2, 3, 4]);
            let direction = Direction::Outbound;
            packet(
                &mut out,
                &CapturedPacket { interface: 0, at, bytes: &bytes[..len], len: 1500, direction },
            );
        }
        statistics(&mut out, 0, Time::from_nanos(1), [5, 0]);
        let found = blocks(&out);
        let kinds: Vec<u32> = found.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [0x0a0d_0d0a, 1, 6, 6, 6, 6, 6, 5]);
        assert!(found.iter().all(|(_, len)| len % 4 == 0), "{found:?}");
        let first = found[0].1 + found[1].1;
        // High half of the time before the low one (section 4.3), then the two lengths.
        assert_eq!([12, 16, 20, 24].map(|at| word(&out, first + at)), [7, 9, 0, 1500]);
    }
}
