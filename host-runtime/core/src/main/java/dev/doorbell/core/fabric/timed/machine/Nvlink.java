package dev.doorbell.core.fabric.timed.machine;

import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import java.util.List;

/**
 * NVLink between the GPUs of a node: consecutive ranks, each with its own GPU and HCA, whose first
 * GPUs are joined by a switch. A GPU's loads, stores and atomics reach the memory of the others.
 *
 * @param ranks of a node
 * @param nanos one-way latency between two GPUs without serialisation
 * @param bytesPerNano rate of one GPU's port in each direction, for payload
 * @param maxPayload largest payload of a packet, in bytes
 * @param requestBytes what a request without payload takes of a port, in bytes at that rate
 * @param reduces whether the switch copies and reduces (NVLink SHARP)
 */
public record Nvlink(
    int ranks,
    double nanos,
    double bytesPerNano,
    int maxPayload,
    int requestBytes,
    boolean reduces) {
  private static final String GPU = "gpu0";
  private static final String SWITCH = "nvswitch";

  public Nvlink {
    if (ranks < 2) {
      throw new IllegalArgumentException("NVLink between %d ranks".formatted(ranks));
    }
  }

  /** A GPU's port. */
  public Link port() {
    return new Link("nvlink", GPU, SWITCH, 0, 0, bytesPerNano, maxPayload, true, false, 1, null);
  }

  /** From one GPU to another: up its port, and down the other's. */
  public Path path() {
    return Path.of(GPU, GPU, List.of(hop(), hop()));
  }

  private Hop hop() {
    return new Hop("nvlink", nanos / 2);
  }
}
