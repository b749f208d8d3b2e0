package dev.doorbell.cuda;

import dev.doorbell.core.Probe;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds out whether there is a CUDA driver, and its GPUs. It uses no class of JCuda, whose native
 * library would end the process if the driver lacks a function.
 */
public final class CudaProbe {
  static final String LIBRARY = "libcuda.so.1";

  private static final int SUCCESS = 0;
  private static final int NO_DEVICE = 100;
  private static final int STUB_LIBRARY = 34;
  private static final int NAME_BYTES = 256;

  private static final String INSTALL =
      "install the NVIDIA driver, or run on the PTX VM (gpu: vm), which needs none";
  private static final String UPDATE = "update the NVIDIA driver to 525 (CUDA 12.0) or later";
  private static final String CHECK =
      "see what 'nvidia-smi' says, and whether CUDA_VISIBLE_DEVICES hides the GPUs";

  /** Functions that this module calls, through JCuda or directly; an old driver may lack some. */
  private static final List<String> NEEDED =
      List.of(
          "cuInit",
          "cuDriverGetVersion",
          "cuDeviceGet",
          "cuDeviceGetCount",
          "cuDeviceGetName",
          "cuDeviceGetAttribute",
          "cuDevicePrimaryCtxRetain",
          "cuDevicePrimaryCtxRelease_v2",
          "cuCtxSetCurrent",
          "cuCtxGetCurrent",
          "cuDeviceCanAccessPeer",
          "cuCtxEnablePeerAccess",
          "cuGetErrorName",
          "cuGetErrorString",
          "cuMemAlloc_v2",
          "cuMemAllocManaged",
          "cuMemFree_v2",
          "cuMemHostRegister_v2",
          "cuMemHostUnregister",
          "cuMemHostGetDevicePointer_v2",
          "cuMemcpyHtoDAsync_v2",
          "cuMemcpyDtoHAsync_v2",
          "cuMemsetD8Async",
          "cuModuleLoadDataEx",
          "cuModuleUnload",
          "cuModuleGetFunction",
          "cuModuleGetGlobal_v2",
          "cuFuncGetAttribute",
          "cuFuncSetAttribute",
          "cuOccupancyMaxActiveBlocksPerMultiprocessor",
          "cuLaunchKernel",
          "cuLaunchCooperativeKernel",
          "cuStreamCreate",
          "cuStreamQuery",
          "cuStreamSynchronize",
          "cuStreamDestroy_v2",
          "cuStreamBatchMemOp_v2",
          "cuMemGetHandleForAddressRange",
          "cuEventCreate",
          "cuEventRecord",
          "cuEventQuery",
          "cuEventElapsedTime",
          "cuEventDestroy_v2",
          "cuFlushGPUDirectRDMAWrites");

  private CudaProbe() {}

  /** Probes the driver of this machine. */
  public static Probe probe() {
    return probe(LIBRARY);
  }

  @SuppressWarnings("restricted")
  static Probe probe(String library) {
    try {
      return probe(library, SymbolLookup.libraryLookup(library, Arena.global()));
    } catch (IllegalArgumentException e) {
      return missing(library);
    }
  }

  static Probe missing(String library) {
    return new Probe.NoDriver(library, INSTALL);
  }

  static Probe probe(String library, SymbolLookup symbols) {
    return probe(library, symbols, NEEDED);
  }

  static Probe probe(String library, SymbolLookup symbols, List<String> needed) {
    List<String> missing = needed.stream().filter(name -> symbols.find(name).isEmpty()).toList();
    if (!missing.isEmpty()) {
      return new Probe.MissingSymbols(library, missing, UPDATE);
    }
    try (Arena arena = Arena.ofConfined()) {
      int status = (int) init(symbols).invokeExact(0);
      if (status == STUB_LIBRARY) {
        return new Probe.NoDriver(
            library + " (a stub of the CUDA toolkit was found instead)", INSTALL);
      }
      if (status != SUCCESS && status != NO_DEVICE) {
        return new Probe.NoDevice("%s (cuInit answers %d)".formatted(library, status), CHECK);
      }
      MemorySegment number = arena.allocate(ValueLayout.JAVA_INT);
      int count = status == NO_DEVICE ? 0 : read(symbols, "cuDeviceGetCount", number);
      if (count < 1) {
        return new Probe.NoDevice(library, CHECK);
      }
      int version = read(symbols, "cuDriverGetVersion", number);
      return new Probe.Ready(
          "CUDA %d.%d".formatted(version / 1000, version % 1000 / 10),
          names(symbols, arena, count));
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("probing " + library, e);
    }
  }

  private static List<String> names(SymbolLookup symbols, Arena arena, int count) throws Throwable {
    var function =
        handle(
            symbols,
            "cuDeviceGetName",
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT));
    MemorySegment text = arena.allocate(NAME_BYTES);
    List<String> names = new ArrayList<>();
    for (int device = 0; device < count; device++) {
      // The handle of a device is its ordinal.
      int status = (int) function.invokeExact(text, NAME_BYTES, device);
      names.add(status == SUCCESS ? text.getString(0) : "GPU " + device);
    }
    return names;
  }

  private static java.lang.invoke.MethodHandle init(SymbolLookup symbols) {
    return handle(
        symbols, "cuInit", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  }

  private static int read(SymbolLookup symbols, String name, MemorySegment number)
      throws Throwable {
    int status =
        (int)
            handle(symbols, name, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS))
                .invokeExact(number);
    return status == SUCCESS ? number.get(ValueLayout.JAVA_INT, 0) : 0;
  }

  @SuppressWarnings("restricted")
  private static java.lang.invoke.MethodHandle handle(
      SymbolLookup symbols, String name, FunctionDescriptor descriptor) {
    return Linker.nativeLinker().downcallHandle(symbols.findOrThrow(name), descriptor);
  }
}
