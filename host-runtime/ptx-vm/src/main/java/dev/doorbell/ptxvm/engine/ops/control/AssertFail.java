package dev.doorbell.ptxvm.engine.ops.control;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.engine.machine.Fault;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
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
  public @Nullable Op execute(VmThread t, long[] r) {
    long frame = t.localBase + t.frame;
    AddressSpace memory = t.grid.memory;
    throw new Fault(
        "assertion '%s' failed in %s, %s:%d"
            .formatted(
                CString.read(memory, RawMemory.getLong(frame + message)),
                CString.read(memory, RawMemory.getLong(frame + function)),
                CString.read(memory, RawMemory.getLong(frame + file)),
                RawMemory.getInt(frame + line)));
  }
}
