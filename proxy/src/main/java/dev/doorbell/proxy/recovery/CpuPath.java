package dev.doorbell.proxy.recovery;

import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.proxy.ProxyPrices;

/**
 * What it takes for the CPU to post for a kernel, should it have to.
 *
 * @param memory where command queues are allocated: the kernel's GPU
 * @param connections on which the CPU posts
 * @param locus the CPU
 * @param prices what its work costs
 * @param policy when it gives a connection up
 */
public record CpuPath(
    MemoryProvider memory,
    PeerConnection.Source connections,
    Locus locus,
    ProxyPrices prices,
    RecoveryPolicy policy) {}
