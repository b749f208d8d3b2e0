package dev.doorbell.core.mlx5.prm;

/**
 * The way to a peer, as the primary address path of a queue pair's context has it.
 *
 * @param ethernet RoCE v2; false: InfiniBand
 * @param port of the device, from 1
 * @param gidIndex place of the own GID in the port's table
 * @param peerGidHigh the peer's GID, most significant half
 * @param peerGidLow the other half
 * @param peerLid the peer's local identifier on InfiniBand; 0 on Ethernet
 * @param mac Ethernet address of the next hop, 48 bits; 0 on InfiniBand
 * @param trafficClass traffic class; its upper six bits are the DSCP on Ethernet
 * @param hopLimit hop limit
 * @param sourcePort UDP source port on Ethernet, which routers spread flows by
 */
public record RoutePath(
    boolean ethernet,
    int port,
    int gidIndex,
    long peerGidHigh,
    long peerGidLow,
    int peerLid,
    long mac,
    int trafficClass,
    int hopLimit,
    int sourcePort) {}
