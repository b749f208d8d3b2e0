package dev.doorbell.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Functions of the driver that JCuda 12.6 lacks, and those of the data path, for which JCuda
 * allocates an object per address. Addresses and handles are numbers, results are {@code CUresult}.
 * They share the driver with JCuda; a context must be current on the calling thread.
 */
final class DriverFunctions {
  private static final ValueLayout WORD = ValueLayout.JAVA_LONG;
  private static final ValueLayout NUMBER = ValueLayout.JAVA_INT;
  private static final int NON_BLOCKING = 1;

  /** CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX. */
  private static final int CURRENT_CONTEXT = 0;

  /** CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER. */
  private static final int TO_OWNER = 100;

  /** CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD. */
  private static final int DMA_BUF = 1;

  private static final MethodHandle FLUSH = handle("cuFlushGPUDirectRDMAWrites", NUMBER, NUMBER);
  private static final MethodHandle EXPORT =
      handle("cuMemGetHandleForAddressRange", WORD, WORD, WORD, NUMBER, WORD);
  private static final MethodHandle MAKE_CURRENT = handle("cuCtxSetCurrent", WORD);
  private static final MethodHandle CURRENT = handle("cuCtxGetCurrent", WORD);
  private static final MethodHandle CREATE = handle("cuStreamCreate", WORD, NUMBER);
  private static final MethodHandle SYNCHRONIZE = handle("cuStreamSynchronize", WORD);
  private static final MethodHandle DESTROY = handle("cuStreamDestroy_v2", WORD);
  private static final MethodHandle COPY_IN =
      handle("cuMemcpyHtoDAsync_v2", WORD, WORD, WORD, WORD);
  private static final MethodHandle COPY_OUT =
      handle("cuMemcpyDtoHAsync_v2", WORD, WORD, WORD, WORD);
  private static final MethodHandle STORE =
      handle("cuStreamBatchMemOp_v2", WORD, NUMBER, WORD, NUMBER);

  private DriverFunctions() {}

  static int makeCurrent(long context) {
    try {
      return (int) MAKE_CURRENT.invokeExact(context);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Stores the handle of the current context at {@code out}. */
  static int currentContext(long out) {
    try {
      return (int) CURRENT.invokeExact(out);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Creates a stream that waits for no other; its handle goes to {@code out}. */
  static int createStream(long out) {
    try {
      return (int) CREATE.invokeExact(out, NON_BLOCKING);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int synchronize(long stream) {
    try {
      return (int) SYNCHRONIZE.invokeExact(stream);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static int destroy(long stream) {
    try {
      return (int) DESTROY.invokeExact(stream);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Copies pinned memory to the device. */
  static int copyIn(long device, long host, long bytes, long stream) {
    try {
      return (int) COPY_IN.invokeExact(device, host, bytes, stream);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Copies memory of the device to pinned memory. */
  static int copyOut(long host, long device, long bytes, long stream) {
    try {
      return (int) COPY_OUT.invokeExact(host, device, bytes, stream);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /**
   * Stores by the stream.
   *
   * @param operations native address of {@code count} CUstreamBatchMemOpParams, 48 bytes each
   */
  static int store(long stream, int count, long operations) {
    try {
      return (int) STORE.invokeExact(stream, count, operations, 0);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /**
   * Exports memory of a GPU as a dma-buf.
   *
   * @param out native address that the file descriptor is written to, 4 bytes
   * @param bytes whole pages
   */
  static int exportDmaBuf(long out, long address, long bytes) {
    try {
      return (int) EXPORT.invokeExact(out, address, bytes, DMA_BUF, 0L);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Makes writes of other devices to the current context's GPU visible to that GPU. */
  static int flushRemoteWritesOfOwner() {
    try {
      return (int) FLUSH.invokeExact(CURRENT_CONTEXT, TO_OWNER);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static RuntimeException unexpected(Throwable e) {
    return switch (e) {
      case Error error -> throw error;
      case RuntimeException runtime -> runtime;
      default -> new IllegalStateException("calling the CUDA driver", e);
    };
  }

  @SuppressWarnings("restricted")
  private static MethodHandle handle(String name, MemoryLayout... parameters) {
    SymbolLookup library = SymbolLookup.libraryLookup(CudaProbe.LIBRARY, Arena.global());
    return Linker.nativeLinker()
        .downcallHandle(
            library.findOrThrow(name), FunctionDescriptor.of(ValueLayout.JAVA_INT, parameters));
  }
}
