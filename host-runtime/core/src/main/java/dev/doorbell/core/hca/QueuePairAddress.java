package dev.doorbell.core.hca;

/**
 * The data that a peer needs to connect.
 *
 * @param hca identifies the HCA on the wire: a GID as text, or the name of an in-process HCA
 * @param number 24-bit queue pair number
 * @param startPsn 24-bit first packet sequence number
 * @param mtu path MTU in bytes: 256, 512, 1024, 2048 or 4096
 */
public record QueuePairAddress(String hca, int number, int startPsn, int mtu) {}
