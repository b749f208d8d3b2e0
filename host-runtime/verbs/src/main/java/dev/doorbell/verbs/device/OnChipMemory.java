package dev.doorbell.verbs.device;

import dev.doorbell.core.memory.Memory;
import java.lang.foreign.MemorySegment;

/** Memory of the device itself (MEMIC), as memory regions need it. */
public interface OnChipMemory extends Memory {
  /** The {@code struct ibv_dm}. */
  MemorySegment handle();

  /** Adds a memory region, which has to be closed before this memory. */
  void use();

  /** Removes a memory region of {@link #use}. */
  void unuse();
}
