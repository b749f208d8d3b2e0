/**
 * Packet captures on disk: pcapng is written and read, classic pcap is read, so that what a wire
 * carried opens in Wireshark and what Wireshark or tcpdump saved opens here. Source: IETF draft
 * draft-ietf-opsawg-pcapng.
 */
@NullMarked
package dev.doorbell.core.pcap;

import org.jspecify.annotations.NullMarked;
