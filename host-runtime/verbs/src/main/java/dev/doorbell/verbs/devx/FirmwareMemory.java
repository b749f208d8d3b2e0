package dev.doorbell.verbs.devx;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.prm.Umem;
import dev.doorbell.verbs.device.DeviceContext;
import dev.doorbell.verbs.generated.mlx5dv.Mlx5dv;
import dev.doorbell.verbs.generated.mlx5dv.mlx5dv_devx_umem;
import dev.doorbell.verbs.generated.mlx5dv.mlx5dv_devx_umem_in;
import dev.doorbell.verbs.library.Libraries;
import dev.doorbell.verbs.library.Mlx5Functions;
import dev.doorbell.verbs.library.NativeFunction;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** Host or GPU memory that is registered for queues (umem). */
final class FirmwareMemory implements AutoCloseable {
  private static final int LOCAL_WRITE = 1;
  private static final long ALL_PAGE_SIZES = -1L << 12;

  /** Registers a dma-buf as umem; rdma-core 41. */
  private static final @Nullable NativeFunction UMEM_REG_EX =
      NativeFunction.find(
          Libraries.MLX5, "mlx5dv_devx_umem_reg_ex", Mlx5dv::mlx5dv_devx_umem_reg_ex$descriptor);

  private static final Failure HOST =
      new Failure(
          "place a queue in host memory",
          errno ->
              errno == Errno.ENOMEM
                  ? "raise the limit of locked memory (ulimit -l unlimited, or --ulimit memlock=-1"
                      + " for a container)"
                  : "see dmesg for what the driver says");
  private static final Failure PEERMEM =
      Failure.of(
          "place a queue in GPU memory",
          "the GPU's driver exports no dma-buf here, so the NIC needs nvidia-peermem (modprobe"
              + " nvidia-peermem); or place rings in host memory");
  private static final Failure DMA_BUF =
      Failure.of(
          "place a queue in GPU memory by dma-buf",
          "this takes Linux 5.12 or later and no IOMMU between NIC and GPU in the way; or place"
              + " rings in host memory");
  private static final Failure CLOSE =
      Failure.of("release a queue's memory", "this is a fault in Doorbell: a queue still uses it");

  private final Memory memory;
  private final MemorySegment handle;
  private final int id;
  private boolean closed;

  private FirmwareMemory(Memory memory, MemorySegment handle) {
    this.memory = memory;
    this.handle = handle;
    this.id = mlx5dv_devx_umem.umem_id(handle.reinterpret(mlx5dv_devx_umem.layout().byteSize()));
  }

  /** Registers {@code memory} and takes ownership; frees it if that fails. */
  static FirmwareMemory of(DeviceContext context, Memory memory) {
    try {
      return new FirmwareMemory(memory, register(context, memory));
    } catch (RuntimeException e) {
      memory.close();
      throw e;
    }
  }

  private static MemorySegment register(DeviceContext context, Memory memory) {
    if (memory.kind() != MemoryKind.DEVICE) {
      return register(context, memory, HOST);
    }
    OptionalInt exported = memory.exportDmaBuf();
    if (exported.isEmpty()) {
      return register(context, memory, PEERMEM);
    }
    try (Arena arena = Arena.ofConfined()) {
      NativeFunction function = UMEM_REG_EX;
      if (function == null) {
        throw new HcaException(
            "cannot place a queue in GPU memory: this libmlx5 has no mlx5dv_devx_umem_reg_ex;"
                + " update rdma-core to 41 or later, or place rings in host memory",
            Errno.ENOSYS);
      }
      MemorySegment in = arena.allocate(mlx5dv_devx_umem_in.layout());
      mlx5dv_devx_umem_in.size(in, memory.size());
      mlx5dv_devx_umem_in.access(in, LOCAL_WRITE);
      mlx5dv_devx_umem_in.pgsz_bitmap(in, ALL_PAGE_SIZES);
      mlx5dv_devx_umem_in.comp_mask(in, Mlx5dv.MLX5DV_UMEM_MASK_DMABUF());
      mlx5dv_devx_umem_in.dmabuf_fd(in, exported.getAsInt());
      return function.pointer(DMA_BUF, context.context, in);
    } finally {
      Libraries.close(exported.getAsInt());
    }
  }

  private static MemorySegment register(DeviceContext context, Memory memory, Failure failure) {
    return Mlx5Functions.DEVX_UMEM_REG.pointer(
        failure,
        context.context,
        MemorySegment.ofAddress(memory.address()),
        memory.size(),
        LOCAL_WRITE);
  }

  long address() {
    return memory.address();
  }

  Memory memory() {
    return memory;
  }

  /** Its first byte, as firmware commands name it. */
  Umem start() {
    return new Umem(id, 0);
  }

  @Override
  public void close() {
    if (!closed) {
      Mlx5Functions.DEVX_UMEM_DEREG.require(CLOSE, handle);
      closed = true;
      memory.close();
    }
  }
}
