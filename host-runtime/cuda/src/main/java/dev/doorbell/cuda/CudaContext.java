package dev.doorbell.cuda;

import dev.doorbell.core.gpu.GpuException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ObjLongConsumer;
import java.util.stream.Stream;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/**
 * The primary context of one device, shared by all {@link CudaGpu}s of this process on that device:
 * an error that breaks it breaks all of them.
 *
 * <p>Every call of the driver goes through this class, which makes the context current on the
 * calling thread and records a fatal result. Copies use a stream of their own and wait for no
 * kernel.
 */
final class CudaContext {
  private static final Map<Integer, CudaContext> OPEN = new HashMap<>();
  private static final long STAGING_BYTES = 1 << 20;

  /** Flags of {@link #pin}: for every context, and mapped for kernels. */
  static final int PORTABLE_MAPPED = 0x1 | 0x2;

  /** Time that closing waits for abandoned kernels. */
  private static final long GRACE_NANOS = 2_000_000_000L;

  private static boolean loaded;

  private final int ordinal;
  private final CUdevice device = new CUdevice();
  private final CUcontext context = new CUcontext();
  private final CUstream copies = new CUstream();
  private final Arena arena = Arena.ofShared();
  private final MemorySegment staging = arena.allocate(STAGING_BYTES, 4096);
  private final List<AbandonedKernel> abandoned = new ArrayList<>();
  private int users;
  private boolean graceIsOver;
  private @Nullable String lost;

  /** A call of the driver that returns a {@code CUresult}. */
  @FunctionalInterface
  interface Call {
    int run();
  }

  /** A kernel that was given up and may still run on the hardware. */
  interface AbandonedKernel {
    /** Returns true when the hardware has ended the kernel or has failed. */
    boolean ended();

    String kernelName();
  }

  private CudaContext(int ordinal) {
    this.ordinal = ordinal;
    check("opening GPU " + ordinal, JCudaDriver.cuDeviceGet(device, ordinal));
    check("opening GPU " + ordinal, JCudaDriver.cuDevicePrimaryCtxRetain(context, device));
    call(
        "opening GPU " + ordinal,
        () -> JCudaDriver.cuStreamCreate(copies, CUstream_flags.CU_STREAM_NON_BLOCKING));
  }

  /** The context of a device; {@link CudaProbe} must have found the driver complete. */
  static CudaContext retain(int ordinal) {
    synchronized (OPEN) {
      load();
      CudaContext context = OPEN.get(ordinal);
      if (context == null) {
        context = new CudaContext(ordinal);
        OPEN.put(ordinal, context);
      }
      context.users++;
      return context;
    }
  }

  /**
   * Releases the context; the last release destroys it. While an abandoned kernel still runs that
   * would hang, so the context stays, and opening the device again fails with that reason.
   */
  void release() {
    synchronized (OPEN) {
      if (--users > 0 || !settled()) {
        return;
      }
      OPEN.remove(ordinal);
      // A broken context repeats its error here.
      ask(() -> JCudaDriver.cuStreamDestroy(copies));
      JCudaDriver.cuDevicePrimaryCtxRelease(device);
      arena.close();
    }
  }

  /**
   * JCuda unpacks its library to the folder for temporary files, under a fixed name, and loads
   * whatever file has that name. A folder of this process keeps other files out.
   */
  private static void load() {
    if (loaded) {
      return;
    }
    String property = "java.io.tmpdir";
    String shared = System.getProperty(property, "/tmp");
    try {
      Path own = Files.createTempDirectory("doorbell-jcuda");
      System.setProperty(property, own.toString());
      try {
        JCudaDriver.setExceptionsEnabled(false);
        loaded = true;
      } finally {
        System.setProperty(property, shared);
        // The library is mapped and needs no file.
        try (Stream<Path> files = Files.list(own)) {
          for (Path file : files.toList()) {
            Files.delete(file);
          }
        }
        Files.delete(own);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("unpacking JCuda's library below " + shared, e);
    }
    check("starting the driver", JCudaDriver.cuInit(0));
  }

  private static void check(String what, int code) {
    if (code != CudaErrors.SUCCESS) {
      throw CudaErrors.error(what, code, name(code));
    }
  }

  static String name(int code) {
    String[] text = new String[1];
    return JCudaDriver.cuGetErrorName(code, text) == CudaErrors.SUCCESS && text[0] != null
        ? text[0]
        : "CUresult " + code;
  }

  /** An attribute of the device, {@code CUdevice_attribute}. */
  int attribute(int attribute) {
    int[] value = new int[1];
    check(
        "querying attribute %2$d of GPU %1$d".formatted(ordinal, attribute),
        JCudaDriver.cuDeviceGetAttribute(value, attribute, device));
    return value[0];
  }

  /**
   * Calls the driver.
   *
   * @throws GpuException if it fails, or if the context has broken before
   */
  void call(String what, Call call) {
    int code = ask(call);
    if (code != CudaErrors.SUCCESS) {
      throw failed(what, code);
    }
  }

  /** Returns true if memory of the device can be exported as dma-bufs. */
  boolean exportsDmaBufs() {
    return attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) != 0;
  }

  /**
   * Lets kernels of this device reach memory of another one.
   *
   * @throws GpuException if neither NVLink nor PCIe connects them
   */
  void reach(CudaContext peer) {
    String what = "letting GPU %d reach memory of GPU %d".formatted(ordinal, peer.ordinal);
    int[] can = new int[1];
    call(what, () -> JCudaDriver.cuDeviceCanAccessPeer(can, device, peer.device));
    if (can[0] == 0) {
      throw new GpuException(
          what
              + ": nothing connects the two; see 'nvidia-smi topo -p2p r', and whether an IOMMU or"
              + " ACS is in between");
    }
    int code = ask(() -> JCudaDriver.cuCtxEnablePeerAccess(peer.context, 0));
    if (code != CudaErrors.SUCCESS && code != CudaErrors.PEER_ACCESS_ALREADY_ENABLED) {
      throw failed(what, code);
    }
  }

  /** Calls the driver and returns its result. */
  int ask(Call call) {
    int code = JCudaDriver.cuCtxSetCurrent(context);
    return code == CudaErrors.SUCCESS ? call.run() : code;
  }

  /** Queries an event without allocating. */
  int query(CUevent event) {
    int code = JCudaDriver.cuCtxSetCurrent(context);
    return code == CudaErrors.SUCCESS ? JCudaDriver.cuEventQuery(event) : code;
  }

  /** Returns the exception for a result, and records a fatal one. */
  GpuException failed(String what, int code) {
    GpuException error = CudaErrors.error(what, code, name(code));
    if (CudaErrors.isFatal(code) && lost == null) {
      lost = error.getMessage();
    }
    return error;
  }

  /**
   * Requires that the context can be used.
   *
   * @throws GpuException with the error that broke it, or the abandoned kernel that still runs
   */
  void requireUsable() {
    if (lost != null) {
      throw new GpuException(
          "GPU %d cannot be used any more in this process; before: %s".formatted(ordinal, lost));
    }
    for (AbandonedKernel launch : abandoned) {
      if (!launch.ended()) {
        throw new GpuException(
            "GPU %d still runs kernel %s, which was given up; nothing stops it but the end of this process"
                .formatted(ordinal, launch.kernelName()));
      }
    }
    abandoned.clear();
  }

  /** Adds a kernel that was given up: the context is not usable until it has ended. */
  void abandon(AbandonedKernel launch) {
    abandoned.add(launch);
  }

  /**
   * Waits for abandoned kernels, at most {@link #GRACE_NANOS} in the life of the context.
   *
   * @return false if one still runs: calls that wait for the device would never return
   */
  boolean settled() {
    long deadline = System.nanoTime() + (graceIsOver ? 0 : GRACE_NANOS);
    while (!abandoned.isEmpty()) {
      if (abandoned.getLast().ended()) {
        abandoned.removeLast();
      } else if (System.nanoTime() - deadline >= 0) {
        graceIsOver = true;
        return false;
      } else {
        Thread.onSpinWait();
      }
    }
    return true;
  }

  /** Copies to the device and waits for the end of the copy. */
  void copyIn(String what, MemorySegment source, long target) {
    inParts(
        source,
        (part, at) -> {
          if (!source.isNative()) {
            MemorySegment.copy(source, at, part, 0, part.byteSize());
          }
          Pointer host = host(part.address());
          finish(
              what,
              () -> JCudaDriver.cuMemcpyHtoDAsync(at(target + at), host, part.byteSize(), copies));
        });
  }

  /** Copies from the device and waits for the end of the copy. */
  void copyOut(String what, long source, MemorySegment target) {
    inParts(
        target,
        (part, at) -> {
          Pointer host = host(part.address());
          finish(
              what,
              () -> JCudaDriver.cuMemcpyDtoHAsync(host, at(source + at), part.byteSize(), copies));
          if (!target.isNative()) {
            MemorySegment.copy(part, 0, target, at, part.byteSize());
          }
        });
  }

  /** Native memory is one part; memory of the Java heap goes through the staging buffer. */
  private void inParts(MemorySegment memory, ObjLongConsumer<MemorySegment> copy) {
    if (memory.isNative()) {
      copy.accept(memory, 0);
      return;
    }
    synchronized (staging) {
      for (long done = 0; done < memory.byteSize(); done += STAGING_BYTES) {
        copy.accept(staging.asSlice(0, Math.min(STAGING_BYTES, memory.byteSize() - done)), done);
      }
    }
  }

  private void finish(String what, Call call) {
    call(what, call);
    call(what, () -> JCudaDriver.cuStreamSynchronize(copies));
  }

  /** Fills memory of the device. */
  void fill(String what, long address, long bytes, byte value) {
    finish(what, () -> JCudaDriver.cuMemsetD8Async(at(address), value, bytes, copies));
  }

  /**
   * Pins a host range.
   *
   * @return the address by which kernels reach it
   */
  long pin(long hostAddress, long bytes, int flags, String label) {
    String what = "pinning %d bytes at 0x%x for '%s'".formatted(bytes, hostAddress, label);
    call(what, () -> JCudaDriver.cuMemHostRegister(host(hostAddress), bytes, flags));
    Address device = new Address();
    call(what, () -> JCudaDriver.cuMemHostGetDevicePointer(device, host(hostAddress), 0));
    return device.value();
  }

  /** A device address as JCuda's type. */
  static CUdeviceptr at(long address) {
    return new CUdeviceptr().withByteOffset(address);
  }

  /** A host address as JCuda's type, for ranges of any length. */
  static Pointer host(long address) {
    return new HostPointer(address);
  }

  /** JCuda's own pointers are to buffers, which are limited to 2 GiB. */
  private static final class HostPointer extends Pointer {
    HostPointer(long address) {
      super(address);
    }
  }

  /** A device address that the driver fills in. */
  static final class Address extends CUdeviceptr {
    long value() {
      return getNativePointer() + getByteOffset();
    }
  }
}
