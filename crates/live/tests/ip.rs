//! Ports, ECN bits and marks of IP packets, beside another implementation of the headers.

use etherparse::{Ipv4Header, Ipv4HeaderSlice, PacketBuilder};
use sojourn_live::ip::{Echo, bits, bleach, echo, ecn, ports, segment, set_ce};
use sojourn_units::Ecn;

const CODEPOINTS: [(u8, Ecn); 4] = [(0, Ecn::NotEct), (1, Ecn::Ect1), (2, Ecn::Ect0), (3, Ecn::Ce)];

fn v4(traffic: u8) -> Vec<u8> {
    let (dscp, bits) = (traffic >> 2, traffic & 3);
    let mut header =
        Ipv4Header::new(0, 64, etherparse::IpNumber::TCP, [10, 90, 0, 1], [10, 90, 0, 2]).unwrap();
    header.dscp = dscp.try_into().unwrap();
    header.ecn = bits.try_into().unwrap();
    let mut packet = Vec::new();
    PacketBuilder::ip(etherparse::IpHeaders::Ipv4(header, etherparse::Ipv4Extensions::default()))
        .tcp(40_000, 10_003, 7, 1000)
        .write(&mut packet, &[0; 100])
        .unwrap();
    packet
}

fn v6(traffic: u8) -> Vec<u8> {
    let mut packet = Vec::new();
    PacketBuilder::ipv6([1; 16], [2; 16], 64)
        .tcp(40_000, 10_003, 7, 1000)
        .write(&mut packet, &[0; 100])
        .unwrap();
    packet[0] = 0x60 | traffic >> 4;
    packet[1] = packet[1] & 0x0f | traffic << 4;
    packet
}

#[test]
fn ports_are_those_of_the_header() {
    assert_eq!(ports(&v4(0)), Some((40_000, 10_003)));
    assert_eq!(ports(&v6(0)), Some((40_000, 10_003)));
}

#[test]
fn later_fragments_and_other_protocols_have_no_ports() {
    let mut fragment = v4(0);
    fragment[7] = 1;
    assert_eq!(ports(&fragment), None);
    let mut icmp = v4(0);
    icmp[9] = 1;
    assert_eq!(ports(&icmp), None);
    assert_eq!(ports(&[]), None);
    assert_eq!(ports(&v4(0)[..22]), None);
}

#[test]
fn echoes_have_an_identifier_and_data() {
    let built = |reply: bool| {
        let builder = PacketBuilder::ipv4([10, 90, 0, 1], [10, 90, 0, 2], 64);
        let mut packet = Vec::new();
        let of =
            if reply { builder.icmpv4_echo_reply(20_003, 7) } else { builder.icmpv4_echo_request(20_003, 7) };
        of.write(&mut packet, &[0; 56]).unwrap();
        packet
    };
    for packet in [built(false), built(true)] {
        assert_eq!(packet.len(), 84);
        assert_eq!(echo(&packet), Some(Echo { id: 20_003, payload: 56 }));
        assert_eq!(ports(&packet), None);
        let mut other = packet.clone();
        other[20] = 3;
        assert_eq!(echo(&other), None, "an error is no echo");
        assert_eq!(echo(&packet[..26]), None);
    }
    assert_eq!(echo(&v4(0)), None);
}

#[test]
fn all_codepoints_are_read_and_marked_and_the_checksum_stays_right() {
    for dscp in 0..64 {
        for (bits, codepoint) in CODEPOINTS {
            for packet in [v4(dscp << 2 | bits), v6(dscp << 2 | bits)] {
                assert_eq!(ecn(&packet), codepoint);
                let mut marked = packet.clone();
                set_ce(&mut marked);
                assert_eq!(ecn(&marked), Ecn::Ce);
                if packet[0] >> 4 == 4 {
                    let header = Ipv4HeaderSlice::from_slice(&marked).unwrap();
                    assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
                    assert_eq!(u8::from(header.dcp()), dscp);
                    assert_eq!(marked[12..], packet[12..]);
                } else {
                    assert_eq!(marked[2..], packet[2..]);
                    assert_eq!(marked[0], packet[0]);
                }
            }
        }
    }
}

#[test]
fn what_is_no_packet_is_left_alone() {
    for bytes in [vec![], vec![0x45; 10], vec![0x60; 20], vec![0; 40]] {
        let mut marked = bytes.clone();
        set_ce(&mut marked);
        assert_eq!(marked, bytes);
        assert_eq!(ecn(&bytes), Ecn::NotEct);
    }
}

#[test]
fn a_bleached_packet_is_not_capable_and_its_checksum_stays_right() {
    for (codepoint, known) in CODEPOINTS {
        assert_eq!(bits(known), codepoint);
        let mut packet = v4(0b1010_1000 | codepoint);
        bleach(&mut packet);
        assert_eq!(ecn(&packet), Ecn::NotEct);
        let header = Ipv4HeaderSlice::from_slice(&packet).unwrap();
        assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
        let mut packet = v6(0b1010_1000 | codepoint);
        bleach(&mut packet);
        assert_eq!(packet, v6(0b1010_1000));
    }
}

#[test]
fn segments_have_their_flags_and_payload() {
    for mut packet in [v4(0), v6(0)] {
        let found = segment(&packet).unwrap();
        assert_eq!((found.is_syn, found.is_ack, found.payload), (false, false, 100));
        let flags = packet.len() - 100 - 20 + 13;
        packet[flags] |= 0x12;
        let found = segment(&packet).unwrap();
        assert_eq!((found.is_syn, found.is_ack), (true, true));
    }
    assert_eq!(segment(&[0; 40]), None);
}
