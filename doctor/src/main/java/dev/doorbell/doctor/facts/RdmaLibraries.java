package dev.doorbell.doctor.facts;

import java.util.Optional;

/**
 * rdma-core's user space.
 *
 * @param verbs release of rdma-core that {@code libibverbs.so.1} belongs to, such as 44; its file
 *     name says so. Empty where the library was not found
 * @param mlx5Provider whether libibverbs has a driver for mlx5
 */
public record RdmaLibraries(Optional<Integer> verbs, boolean mlx5Provider) {}
