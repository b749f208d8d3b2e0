package dev.doorbell.experiments.plan;

import org.jspecify.annotations.Nullable;

/**
 * One of the two processes that run an experiment together, each of them one rank of it.
 *
 * @param rank 0 or 1; process 0 has the samples
 * @param host where the processes meet; process 0 listens there
 * @param port TCP port of that
 * @param token that a process shows there, or null
 * @param address IPv4 or IPv6 address of this process's HCA, which is its GID
 * @param patienceNanos for the other process
 */
public record Pairing(
    int rank, String host, int port, @Nullable String token, String address, long patienceNanos) {}
