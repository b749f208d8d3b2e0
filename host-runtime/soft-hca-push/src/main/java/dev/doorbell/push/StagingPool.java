package dev.doorbell.push;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.push.generated.PushRingView;

/**
 * Slots in on-chip memory that several rings of an engine share. Producers divide them up: a ring
 * takes another slot while it holds less than {@code share / 8} of what is free (Choudhury and
 * Hahne, Dynamic queue length thresholds for shared-memory packet switches, 1998), so that one
 * whose peer does not acknowledge leaves some to the others. The engine only reads where headers
 * say, and is told when slots are free again by nobody: it says so itself, by credits.
 */
public final class StagingPool {
  private static final int UNIT = 16;
  private static final int EIGHTHS = 8;

  private final int slots;
  final int slotBytes;
  private final int share;
  private final Allocation memory;

  StagingPool(AddressSpace space, Locus nic, int slots, int slotBytes, int share) {
    if (slots < 1 || slots > PushRingView.POOL_SLOTS || slotBytes <= 0 || slotBytes % UNIT != 0) {
      throw new IllegalArgumentException(
          "a pool of %d slots of %d bytes: 1 to %d of a multiple of %d"
              .formatted(slots, slotBytes, PushRingView.POOL_SLOTS, UNIT));
    }
    if (share < 0) {
      throw new IllegalArgumentException("a share of %d eighths".formatted(share));
    }
    this.slots = slots;
    this.slotBytes = slotBytes;
    this.share = share;
    this.memory =
        space.allocate(MemoryKind.NIC, nic, (long) slots * slotBytes, "push staging pool");
  }

  public int slots() {
    return slots;
  }

  /** In eighths of what is free; 0: no limit. */
  public int share() {
    return share;
  }

  /** On-chip memory of the pool: where it begins and how long it is. */
  public Allocation onChip() {
    return memory;
  }

  /**
   * Slots that a ring may ever hold. It takes one while held < share / 8 * free, where held + free
   * <= slots; so held < share * slots / (8 + share) before, and one more after.
   */
  public int most() {
    return share == 0 ? slots : Math.ceilDiv(share * slots, EIGHTHS + share);
  }

  long slot(int slot) {
    return memory.address() + (long) slot * slotBytes;
  }

  boolean has(int slot) {
    return slot < slots;
  }

  void close(AddressSpace space) {
    space.free(memory);
  }
}
