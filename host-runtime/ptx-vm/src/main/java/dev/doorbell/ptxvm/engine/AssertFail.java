package dev.doorbell.ptxvm.engine;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import org.jspecify.annotations.Nullable;

/** {@code __assertfail(message, file, line, function, charSize)}: what {@code assert} calls. */
final class AssertFail extends Op {
  private final long message;
  private final long file;
  private final long line;
  private final long function;

  AssertFail(long message, long file, long line, long function) {
    this.message = message;
    this.file = file;
    this.line = line;
    this.function = function;
  }

  @Override
  @Nullable Op execute(VmThread t, long[] r) {
    long frame = t.localBase + t.frame;
    AddressSpace memory = t.cta.grid.fabric.memory();
    throw new Fault(
        "assertion '%s' failed in %s, %s:%d"
            .formatted(
                CText.read(memory, RawMemory.getLong(frame + message)),
                CText.read(memory, RawMemory.getLong(frame + function)),
                CText.read(memory, RawMemory.getLong(frame + file)),
                RawMemory.getInt(frame + line)));
  }
}
