package dev.doorbell.ptxvm.engine.ops.control;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.machine.Fault;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import org.jspecify.annotations.Nullable;

/**
 * {@code free(pointer)}: what destructors name. Nothing is ever allocated, so only null is free.
 */
final class Free extends Op {
  private final long pointer;

  Free(long pointer) {
    this.pointer = pointer;
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    long address = RawMemory.getLong(t.localBase + t.frame + pointer);
    if (address != 0) {
      throw new Fault("free of 0x%x, which no malloc returned".formatted(address));
    }
    return next;
  }
}
