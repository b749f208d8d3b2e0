package dev.doorbell.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Functions of the driver that JCuda 12.6 does not have. They share the process's one driver with
 * JCuda, and the thread's current context.
 */
final class DriverFunctions {
  /** CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX. */
  private static final int CURRENT_CONTEXT = 0;

  /** CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER. */
  private static final int TO_OWNER = 100;

  private static final MethodHandle FLUSH =
      handle(
          "cuFlushGPUDirectRDMAWrites",
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

  /** CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD. */
  private static final int DMA_BUF = 1;

  private static final MethodHandle EXPORT =
      handle(
          "cuMemGetHandleForAddressRange",
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG));

  private DriverFunctions() {}

  /**
   * Exports memory of a GPU as a dma-buf.
   *
   * @param out native address that the file descriptor is written to, 4 bytes
   * @param bytes whole pages
   */
  static int exportDmaBuf(long out, long address, long bytes) {
    try {
      return (int) EXPORT.invokeExact(out, address, bytes, DMA_BUF, 0L);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("cuMemGetHandleForAddressRange", e);
    }
  }

  /** Makes writes of other devices to the current context's GPU visible to that GPU. */
  static int flushRemoteWritesOfOwner() {
    try {
      return (int) FLUSH.invokeExact(CURRENT_CONTEXT, TO_OWNER);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("cuFlushGPUDirectRDMAWrites", e);
    }
  }

  @SuppressWarnings("restricted")
  private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
    SymbolLookup library = SymbolLookup.libraryLookup(CudaProbe.LIBRARY, Arena.global());
    return Linker.nativeLinker().downcallHandle(library.findOrThrow(name), descriptor);
  }
}
