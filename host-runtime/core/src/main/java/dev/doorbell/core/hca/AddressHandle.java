package dev.doorbell.core.hca;

/**
 * The destination of datagrams: the content of the address vector of a WQE ({@code
 * core.mlx5.DatagramSegment}).
 *
 * @param gidHigh the peer's GID, most significant half
 * @param gidLow the other half
 * @param trafficClass traffic class of the packets
 * @param hopLimit hop limit of the packets
 * @param gidIndex place of the sender's own GID in the GID table of its port
 * @param macAddress the next hop's 48-bit Ethernet address; 0 where the HCA needs none
 */
public record AddressHandle(
    long gidHigh, long gidLow, int trafficClass, int hopLimit, int gidIndex, long macAddress) {}
