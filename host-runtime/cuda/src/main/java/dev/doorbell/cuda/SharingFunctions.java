package dev.doorbell.cuda;

import static dev.doorbell.cuda.DriverFunctions.NUMBER;
import static dev.doorbell.cuda.DriverFunctions.WORD;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;

/**
 * Functions of the driver that open other processes' memory and copy it. They need no JCuda.
 * Addresses and handles are numbers; results are {@code CUresult}.
 */
@SuppressWarnings("restricted")
final class SharingFunctions {
  static final int HANDLE_BYTES = 64;
  static final int UUID_BYTES = 16;

  private static final MemoryLayout HANDLE =
      MemoryLayout.structLayout(
          MemoryLayout.sequenceLayout(HANDLE_BYTES, ValueLayout.JAVA_BYTE).withName("reserved"));

  /** Functions that it calls. */
  static final List<String> NEEDED =
      List.of(
          "cuInit",
          "cuDeviceGetCount",
          "cuDeviceGetName",
          "cuDriverGetVersion",
          "cuDeviceGetUuid_v2",
          "cuDevicePrimaryCtxRetain",
          "cuDevicePrimaryCtxRelease_v2",
          "cuCtxSetCurrent",
          "cuStreamCreate",
          "cuStreamSynchronize",
          "cuMemHostAlloc",
          "cuMemFreeHost",
          "cuMemcpyDtoHAsync_v2",
          "cuMemcpyHtoDAsync_v2",
          "cuMemcpyAsync",
          "cuIpcOpenMemHandle_v2",
          "cuIpcCloseMemHandle",
          "cuMemGetAddressRange_v2",
          "cuMemImportFromShareableHandle",
          "cuMemAddressReserve",
          "cuMemAddressFree",
          "cuMemMap",
          "cuMemUnmap",
          "cuMemSetAccess",
          "cuMemRelease",
          "cuGetErrorName");

  private final SymbolLookup library;
  private final MethodHandle makeCurrent;
  private final MethodHandle copyIn;
  private final MethodHandle copyOut;
  private final MethodHandle copy;
  private final MethodHandle synchronize;

  SharingFunctions(String name) {
    this.library = SymbolLookup.libraryLookup(name, Arena.global());
    this.makeCurrent = DriverFunctions.ofWords(library, "cuCtxSetCurrent", WORD);
    this.copyIn = DriverFunctions.ofWords(library, "cuMemcpyHtoDAsync_v2", WORD, WORD, WORD, WORD);
    this.copyOut = DriverFunctions.ofWords(library, "cuMemcpyDtoHAsync_v2", WORD, WORD, WORD, WORD);
    this.copy = DriverFunctions.ofWords(library, "cuMemcpyAsync", WORD, WORD, WORD, WORD);
    this.synchronize = DriverFunctions.ofWords(library, "cuStreamSynchronize", WORD);
  }

  /** Calls a function whose parameters are numbers: {@code Integer} and {@code Long}. */
  int call(String name, Object... arguments) {
    MemoryLayout[] parameters = new MemoryLayout[arguments.length];
    for (int i = 0; i < parameters.length; i++) {
      parameters[i] = arguments[i] instanceof Integer ? NUMBER : WORD;
    }
    try {
      return (int) DriverFunctions.find(library, name, parameters).invokeWithArguments(arguments);
    } catch (Throwable e) {
      throw DriverFunctions.unexpected(e);
    }
  }

  /** The bytes of a handle. */
  static MemorySegment handle(Arena arena, List<Long> words) {
    MemorySegment bytes = arena.allocate(HANDLE_BYTES, Long.BYTES);
    for (int i = 0; i < words.size(); i++) {
      bytes.setAtIndex(ValueLayout.JAVA_LONG, i, words.get(i));
    }
    return bytes;
  }

  /** {@code cuIpcOpenMemHandle}, whose handle is passed by value. */
  int openHandle(long out, List<Long> handle, int flags) {
    MethodHandle function =
        DriverFunctions.find(library, "cuIpcOpenMemHandle_v2", WORD, HANDLE, NUMBER);
    try (Arena arena = Arena.ofConfined()) {
      return (int) function.invokeExact(out, handle(arena, handle), flags);
    } catch (Throwable e) {
      throw DriverFunctions.unexpected(e);
    }
  }

  /** The name of a result. */
  String name(int code) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
      return call("cuGetErrorName", code, out.address()) == CudaErrors.SUCCESS
          ? out.get(ValueLayout.ADDRESS, 0).reinterpret(256).getString(0)
          : "CUresult " + code;
    }
  }

  int makeCurrent(long context) {
    return DriverFunctions.call(makeCurrent, context, 0, 0, 0);
  }

  int copyIn(long device, long host, long bytes, long stream) {
    return DriverFunctions.call(copyIn, device, host, bytes, stream);
  }

  int copyOut(long host, long device, long bytes, long stream) {
    return DriverFunctions.call(copyOut, host, device, bytes, stream);
  }

  /** Copies between addresses of any GPUs. */
  int copy(long to, long from, long bytes, long stream) {
    return DriverFunctions.call(copy, to, from, bytes, stream);
  }

  int synchronize(long stream) {
    return DriverFunctions.call(synchronize, stream, 0, 0, 0);
  }
}
