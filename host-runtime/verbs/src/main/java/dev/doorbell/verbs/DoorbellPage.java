package dev.doorbell.verbs;

import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.verbs.generated.mlx5dv.mlx5dv_devx_uar;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * A UAR page of the device, and a page of the fabric that stands for it: what a kernel of the PTX
 * VM or a proxy stores there is stored to the device. A GPU maps the device's register itself.
 */
final class DoorbellPage implements MmioTarget, AutoCloseable {
  /** Kinds of pages, best first: the GPU needs one that combines no stores and nobody shares. */
  enum Kind {
    /** Not cached, ours alone; newer rdma-core. */
    NC_DEDICATED(1 << 31),
    /** Not cached, one for all of the process. */
    NC(1),
    /** BlueFlame: write-combining. */
    BLUEFLAME(0);

    private final int flag;

    Kind(int flag) {
      this.flag = flag;
    }
  }

  private final MemorySegment handle;
  private final Kind kind;
  private final int number;
  private final long base;
  private final long register;
  private final Allocation page;
  private boolean closed;

  private DoorbellPage(MemorySegment handle, Kind kind, Allocation page) {
    MemorySegment uar = handle.reinterpret(mlx5dv_devx_uar.layout().byteSize());
    this.handle = handle;
    this.kind = kind;
    this.number = mlx5dv_devx_uar.page_id(uar);
    this.base = mlx5dv_devx_uar.base_addr(uar).address();
    this.register = mlx5dv_devx_uar.reg_addr(uar).address();
    this.page = page;
  }

  /**
   * Allocates the best page there is.
   *
   * @param standIn page of the fabric
   */
  static DoorbellPage open(DeviceContext context, Allocation standIn) {
    List<String> refusals = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      NativeFunction.Answer answer = Mlx5Functions.DEVX_ALLOC_UAR.call(context.context, kind.flag);
      if (answer.pointer().address() != 0) {
        return new DoorbellPage(answer.pointer(), kind, standIn);
      }
      refusals.add(kind + ": " + Errno.describe(answer.errno()));
    }
    throw new HcaException(
        "cannot allocate a doorbell page of %s (%s); in a container DEVX needs CAP_NET_RAW (--cap-add=NET_RAW or --privileged), in a VM the function's UARs must be passed through"
            .formatted(context.name, String.join(", ", refusals)),
        Errno.EPERM);
  }

  /** The kind that was to be had. */
  Kind kind() {
    return kind;
  }

  /** Its number, for commands. */
  int number() {
    return number;
  }

  /** Host address of the device's doorbell register. */
  long register() {
    return register;
  }

  /** The stand-in's doorbell register. */
  long standInRegister() {
    return page.address() + Doorbell.REGISTER_OFFSET;
  }

  /** The stand-in's arm doorbell. */
  long standInArm() {
    return page.address() + Doorbell.ARM_OFFSET;
  }

  Allocation page() {
    return page;
  }

  /** Repeats a store of 8 bytes at the device: what came before it in memory is visible there. */
  @Override
  public void mmioWrite(long address, long source, int bytes) {
    if (bytes != Doorbell.BYTES) {
      return;
    }
    long offset = address - page.address();
    long target = offset == Doorbell.ARM_OFFSET ? base + Doorbell.ARM_OFFSET : register;
    long value = RawMemory.getLong(source);
    VarHandle.fullFence();
    RawMemory.putLongOpaque(target, value);
    // Flushes a write-combining buffer.
    VarHandle.fullFence();
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      Mlx5Functions.DEVX_FREE_UAR.callVoid(handle);
    }
  }
}
