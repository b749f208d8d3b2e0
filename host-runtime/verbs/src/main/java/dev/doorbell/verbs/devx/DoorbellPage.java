package dev.doorbell.verbs.devx;

import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.verbs.device.DeviceContext;
import dev.doorbell.verbs.generated.mlx5dv.mlx5dv_devx_uar;
import dev.doorbell.verbs.library.Mlx5Functions;
import dev.doorbell.verbs.library.NativeFunction;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A UAR page of the device with its stand-in, a page of the fabric: what a kernel of the PTX VM or
 * a proxy stores there is stored to the device. A GPU maps the device's register itself.
 */
public final class DoorbellPage implements MmioTarget, AutoCloseable {
  /** Kinds of pages, best first: a GPU needs one that does not combine stores and is not shared. */
  public enum Kind {
    /** Not cached, for this user alone; newer rdma-core. */
    NC_DEDICATED(1 << 31),
    /** Not cached, one for the whole process. */
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
  private final long register;
  private final Allocation page;
  private boolean closed;

  private DoorbellPage(MemorySegment handle, Kind kind, Allocation page) {
    MemorySegment uar = handle.reinterpret(mlx5dv_devx_uar.layout().byteSize());
    this.handle = handle;
    this.kind = kind;
    this.number = mlx5dv_devx_uar.page_id(uar);
    this.register = mlx5dv_devx_uar.reg_addr(uar).address();
    this.page = page;
  }

  /**
   * Allocates a page of the best kind available.
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

  /**
   * Allocates a BlueFlame page for one queue pair, which stores whole WQEs to it.
   *
   * @param standIn page of the fabric
   * @return null if the device has none left
   */
  static @Nullable DoorbellPage openBlueFlame(DeviceContext context, Allocation standIn) {
    MemorySegment handle =
        Mlx5Functions.DEVX_ALLOC_UAR.call(context.context, Kind.BLUEFLAME.flag).pointer();
    return handle.address() == 0 ? null : new DoorbellPage(handle, Kind.BLUEFLAME, standIn);
  }

  public Kind kind() {
    return kind;
  }

  /** The number by which firmware commands name the page. */
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

  Allocation page() {
    return page;
  }

  /**
   * Repeats a store at the device; earlier stores to memory are visible to the device before it.
   * Stores of 16 bytes are parts of a WQE, whose blocks leave the write-combining buffer whole.
   */
  @Override
  public void mmioWrite(long address, long source, int bytes) {
    long offset = address - page.address();
    if (offset >= Doorbell.REGISTER_OFFSET && (bytes & (Doorbell.BYTES - 1)) == 0) {
      long target = register + offset - Doorbell.REGISTER_OFFSET;
      if (bytes == Doorbell.BYTES) {
        ring(target, source);
      } else {
        storeWqePart(target, source, bytes);
      }
    }
  }

  private static void ring(long target, long source) {
    VarHandle.fullFence();
    RawMemory.putLongOpaque(target, RawMemory.getLong(source));
    // Flushes a write-combining buffer.
    VarHandle.fullFence();
  }

  private static void storeWqePart(long target, long source, int bytes) {
    if ((target & (SendQueue.BLOCK - 1)) == 0) {
      VarHandle.fullFence();
    }
    for (int at = 0; at < bytes; at += Long.BYTES) {
      RawMemory.putLongOpaque(target + at, RawMemory.getLong(source + at));
    }
    if ((target + bytes & (SendQueue.BLOCK - 1)) == 0) {
      VarHandle.fullFence();
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      Mlx5Functions.DEVX_FREE_UAR.callVoid(handle);
    }
  }
}
