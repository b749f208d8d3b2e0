package dev.doorbell.core.fabric.timed;

/**
 * The stores of the threads of one {@link dev.doorbell.core.agent.Agent#storeGroup} that are not
 * performed yet: what a fence of any of them waits for.
 */
final class Outstanding {
  /** Threads attached. */
  int members;

  /** Picoseconds: the last posted store that left is acknowledged then. */
  private long acknowledged;

  /** Picoseconds: the last drain of stores to the GPU's own memory ends then. */
  private long drained;

  private boolean deviceStores;

  /** A posted store of the group will be acknowledged at {@code when}. */
  void posted(long when) {
    acknowledged = Math.max(acknowledged, when);
  }

  /** A thread of the group stored to the GPU's own memory. */
  void storedToDevice() {
    deviceStores = true;
  }

  /**
   * When the stores to the GPU's own memory are performed for a fence that begins at {@code now}.
   */
  long drainDevice(long now, long price) {
    if (deviceStores) {
      deviceStores = false;
      drained = now + price;
    }
    return Math.max(now, drained);
  }

  /** When the posted stores are acknowledged, seen from {@code now}. */
  long acknowledged(long now) {
    return Math.max(now, acknowledged);
  }
}
