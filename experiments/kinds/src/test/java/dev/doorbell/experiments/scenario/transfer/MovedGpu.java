package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.cuda.KernelMover;
import dev.doorbell.ptxvm.launch.VmGpu;

/** A virtual machine whose memory devices reach only by a mover kernel, as that of a real GPU. */
final class MovedGpu extends ForwardingGpu {
  private static final int THREADS = 64;
  private static final int STAGING_BYTES = 8 << 20;

  private final DirectFabric fabric;
  private final KernelMover mover;

  MovedGpu(DirectFabric fabric, Locus locus, long idleNanos) {
    this(fabric, new VmGpu(fabric, locus), idleNanos);
  }

  private MovedGpu(DirectFabric fabric, VmGpu gpu, long idleNanos) {
    super(gpu);
    this.fabric = fabric;
    this.mover = new KernelMover(gpu, THREADS, STAGING_BYTES, idleNanos);
    fabric.reach(mover);
  }

  KernelMover mover() {
    return mover;
  }

  @Override
  public Memory allocate(MemoryKind kind, long bytes, String label) {
    Memory memory = super.allocate(kind, bytes, label);
    if (kind == MemoryKind.DEVICE) {
      mover.add(memory.address(), bytes, false);
    }
    return memory;
  }

  @Override
  public void close() {
    fabric.forget(mover);
    mover.close();
    super.close();
  }
}
