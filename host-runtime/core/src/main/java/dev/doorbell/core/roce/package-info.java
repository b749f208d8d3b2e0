/**
 * RoCE on the wire, byte by byte: Ethernet, IPv4, IPv6, UDP, the InfiniBand transport headers and
 * the invariant CRC.
 *
 * <p>One descriptor a header, static accessors over native addresses, all fields big-endian but the
 * ICRC. Sources: InfiniBand Architecture Specification volume 1, chapter 9 and annexes A16 (RoCE)
 * and A17 (RoCEv2); RFC 768, 791, 8200. What is malformed is a verdict, never an exception.
 */
@NullMarked
package dev.doorbell.core.roce;

import org.jspecify.annotations.NullMarked;
