package dev.doorbell.experiments.scenario.world;

import dev.doorbell.core.memory.MemoryKind;

/** Places of a connection's queues, each in GPU or host memory. */
public record Placement(MemoryKind sendRing, MemoryKind completionRing, MemoryKind record) {
  public static final Placement GPU =
      new Placement(MemoryKind.DEVICE, MemoryKind.DEVICE, MemoryKind.DEVICE);

  public static final Placement HOST =
      new Placement(MemoryKind.HOST, MemoryKind.HOST, MemoryKind.HOST);

  /** The kind that a config's word names. */
  public static MemoryKind kind(String word) {
    return switch (word) {
      case "gpu" -> MemoryKind.DEVICE;
      case "host" -> MemoryKind.HOST;
      default ->
          throw new IllegalArgumentException("queues lie in 'gpu' or 'host', not '" + word + "'");
    };
  }

  /** The kind of memory that a config's word for the payload names. */
  public static MemoryKind payload(String word) {
    return word.equals("managed") ? MemoryKind.MANAGED : kind(word);
  }

  /** True when an HCA has to reach memory of the GPU for its queues. */
  public boolean touchesGpu() {
    return sendRing != MemoryKind.HOST
        || completionRing != MemoryKind.HOST
        || record != MemoryKind.HOST;
  }

  /** True when a poster has to order for memory outside the GPU. */
  public boolean touchesHost() {
    return sendRing == MemoryKind.HOST || record == MemoryKind.HOST;
  }
}
