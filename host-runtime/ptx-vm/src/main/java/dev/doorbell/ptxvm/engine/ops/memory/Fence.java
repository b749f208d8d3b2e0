package dev.doorbell.ptxvm.engine.ops.memory;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.ptxvm.engine.decode.Assembler;
import dev.doorbell.ptxvm.engine.decode.Assembler.Unsupported;
import dev.doorbell.ptxvm.engine.machine.Op;
import dev.doorbell.ptxvm.engine.machine.VmThread;
import dev.doorbell.ptxvm.ir.Instruction;
import org.jspecify.annotations.Nullable;

/** {@code fence} and {@code membar}. On sm_70 and later a membar is a fence.sc. */
public final class Fence extends Op {
  public final int access;

  private final boolean proxy;

  Fence(int access, boolean proxy) {
    this.access = access;
    this.proxy = proxy;
  }

  public static Op make(Instruction i, Assembler a) throws Unsupported {
    if (i.modifiers().stream().anyMatch(modifier -> modifier.startsWith("proxy"))) {
      // All proxies see the same memory here; what is left is the ordering.
      return new Fence(Access.ACQ_REL | Access.GPU, i.has("async"));
    }
    if (i.has("mbarrier_init")) {
      return new Fence(Access.RELEASE | Access.CLUSTER, false);
    }
    int ifNone = i.name().equals("membar") ? Access.SC : Access.ACQ_REL;
    return new Fence(MemoryOp.access(i, ifNone), false);
  }

  @Override
  public @Nullable Op execute(VmThread t, long[] r) {
    t.account();
    t.port.fence(access);
    if (proxy) {
      t.port.fenceAsyncProxy();
    }
    return t.port.parked ? t.park(this) : next;
  }
}
