package dev.doorbell.interop.serve;

import dev.doorbell.core.fault.FaultPlan;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a served HCA.
 *
 * @param address IPv4 or IPv6 address to listen on, which is also its GID
 * @param port UDP port for packets and TCP port for requests; 0 for free ones
 * @param controlHost address for requests; the default accepts those of this machine
 * @param mtu path MTU in bytes
 * @param memoryBytes limit of all clients together, queues included
 * @param queuePairs limit of all clients together
 * @param clients limit of connected clients
 * @param faults of its packets
 * @param capture file for a capture of all packets, or null
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

  /** For processes of this machine, on any free port. */
  public static final ServeOptions LOCAL =
      new ServeOptions(
          "127.0.0.1", 0, "127.0.0.1", 4096, 256L << 20, 1024, 64, FaultPlan.NONE, null);

  /** These options with a fault plan. */
  public ServeOptions withFaults(FaultPlan plan) {
    return new ServeOptions(
        address, port, controlHost, mtu, memoryBytes, queuePairs, clients, plan, capture);
  }
}
