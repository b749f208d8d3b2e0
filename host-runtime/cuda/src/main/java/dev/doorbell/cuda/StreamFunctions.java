package dev.doorbell.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Calls of the driver on the path of the data. JCuda makes objects for every address; these take
 * addresses and handles as numbers. A context has to be current.
 */
final class StreamFunctions {
  private static final ValueLayout WORD = ValueLayout.JAVA_LONG;
  private static final ValueLayout NUMBER = ValueLayout.JAVA_INT;
  private static final int NON_BLOCKING = 1;

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

  private StreamFunctions() {}

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
