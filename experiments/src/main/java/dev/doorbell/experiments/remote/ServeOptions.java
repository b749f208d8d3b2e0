package dev.doorbell.experiments.remote;

import dev.doorbell.core.fault.FaultPlan;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a served HCA is like.
 *
 * @param address IPv4 or IPv6 address to listen on, which is also its GID
 * @param port UDP port for packets and TCP port for questions; 0 for any that are free
 * @param controlHost where questions are heard: this machine alone unless it is asked otherwise
 * @param mtu path MTU in bytes
 * @param memoryBytes that all clients together may have, their queues included
 * @param queuePairs that all clients together may have
 * @param clients connected at once
 * @param faults that happen to its packets
 * @param capture where packets are captured to from the start, or null
 */
public record ServeOptions(
    String address,
    int port,
    String controlHost,
    int mtu,
    long memoryBytes,
    int queuePairs,
    int clients,
    FaultPlan faults,
    @Nullable Path capture) {

  /** On this machine alone, on any free port. */
  public static final ServeOptions LOCAL =
      new ServeOptions(
          "127.0.0.1", 0, "127.0.0.1", 4096, 256L << 20, 1024, 64, FaultPlan.NONE, null);

  /** The same under a plan of faults. */
  public ServeOptions withFaults(FaultPlan plan) {
    return new ServeOptions(
        address, port, controlHost, mtu, memoryBytes, queuePairs, clients, plan, capture);
  }
}
