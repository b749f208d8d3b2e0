package dev.doorbell.core.fabric.timed.machine;

/**
 * What joins the HCAs of different ranks.
 *
 * @param nanos one-way latency between two ports
 * @param bytesPerNano rate of a port, each direction
 * @param packetOverhead bytes that a packet adds to its payload on the wire
 */
public record Network(double nanos, double bytesPerNano, int packetOverhead) {}
