package dev.doorbell.cuda;

import dev.doorbell.core.Probe;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.SharedGpus;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Memory of NVIDIA GPUs that other processes have allocated: by CUDA IPC handles, and by handles of
 * virtual memory management. Each GPU has one stream of copies, which go through pinned memory of
 * the host.
 */
public final class SharedCudaGpus implements SharedGpus {
  private static final int NON_BLOCKING = 1;
  private static final int PORTABLE = 1;
  private static final int LAZY_ENABLE_PEER_ACCESS = 1;
  private static final int POSIX_FILE_DESCRIPTOR = 1;
  private static final int FABRIC = 8;
  private static final int STAGING_BYTES = 1 << 20;

  /** Functions of the driver that it calls. */
  private static final List<String> NEEDED =
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

  /** Reserved addresses begin at a multiple of this, as pages of a GPU do. */
  private static final long ALIGNMENT = 2L << 20;

  private static final ValueLayout.OfLong BIG_ENDIAN =
      ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);

  private final DriverFunctions driver;
  private final List<UUID> identities = new ArrayList<>();
  private final Map<Integer, Device> devices = new HashMap<>();
  private final Map<List<Long>, Opened> handles = new HashMap<>();

  private final List<Reached> ranges = new ArrayList<>();
  private @Nullable String failure;

  /** A GPU in use: its primary context, a stream, pinned memory. */
  private record Device(int ordinal, long context, long stream, long staging) {}

  /**
   * An opened range.
   *
   * @param nearOnly other GPUs than its own cannot reach it
   */
  private record Reached(long start, long end, Device owner, boolean nearOnly) {}

  /** Memory of CUDA IPC, which a process can open once. */
  private static final class Opened {
    final long address;
    int users;

    Opened(long address) {
      this.address = address;
    }
  }

  public static final class Provider implements SharedGpus.Provider {
    @Override
    public Probe probe() {
      return SharedCudaGpus.probe(CudaProbe.LIBRARY);
    }

    @Override
    public SharedGpus open() {
      return new SharedCudaGpus(CudaProbe.LIBRARY);
    }
  }

  /**
   * @param library name or path of the driver's library
   * @throws GpuException when it has no GPU
   */
  public SharedCudaGpus(String library) {
    this.driver = new DriverFunctions(library);
    check("starting the driver", driver.call("cuInit", 0));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(2 * Long.BYTES, Long.BYTES);
      check("counting GPUs", driver.call("cuDeviceGetCount", out.address()));
      int count = out.get(ValueLayout.JAVA_INT, 0);
      for (int ordinal = 0; ordinal < count; ordinal++) {
        check(
            "asking for the UUID of GPU " + ordinal,
            driver.call("cuDeviceGetUuid_v2", out.address(), ordinal));
        identities.add(new UUID(out.get(BIG_ENDIAN, 0), out.get(BIG_ENDIAN, Long.BYTES)));
      }
    }
  }

  @SuppressWarnings("restricted")
  static Probe probe(String library) {
    try {
      return CudaProbe.probe(library, SymbolLookup.libraryLookup(library, Arena.global()), NEEDED);
    } catch (IllegalArgumentException e) {
      return CudaProbe.missing(library);
    }
  }

  private void check(String what, int code) {
    if (code != CudaErrors.SUCCESS) {
      throw CudaErrors.error(what, code, driver.name(code));
    }
  }

  private Device device(UUID identity) {
    int found = identities.indexOf(identity);
    if (found >= 0) {
      return devices.computeIfAbsent(found, this::open);
    }
    throw new GpuException(
        "a program's GPU is none of the %d of this process; CUDA_VISIBLE_DEVICES may hide it"
            .formatted(identities.size()));
  }

  private Device open(int ordinal) {
    String what = "opening GPU " + ordinal;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
      check(what, driver.call("cuDevicePrimaryCtxRetain", out.address(), ordinal));
      long context = out.get(ValueLayout.JAVA_LONG, 0);
      check(what, driver.makeCurrent(context));
      check(what, driver.call("cuStreamCreate", out.address(), NON_BLOCKING));
      long stream = out.get(ValueLayout.JAVA_LONG, 0);
      check(what, driver.call("cuMemHostAlloc", out.address(), (long) STAGING_BYTES, PORTABLE));
      return new Device(ordinal, context, stream, out.get(ValueLayout.JAVA_LONG, 0));
    }
  }

  @Override
  public Range open(List<Piece> pieces) {
    Piece first = pieces.getFirst();
    Device device = device(first.device());
    check("using GPU " + device.ordinal, driver.makeCurrent(device.context));
    if (first.kind() == Kind.LEGACY) {
      if (pieces.size() > 1) {
        throw new GpuException(
            "%d allocations that are not of one mapping are no range".formatted(pieces.size()));
      }
      return openLegacy(device, first);
    }
    return map(device, pieces);
  }

  private Range openLegacy(Device device, Piece piece) {
    List<Long> handle = piece.handle();
    Opened opened = handles.get(handle);
    if (opened == null) {
      opened = openHandle(device, piece);
      handles.put(handle, opened);
    }
    opened.users++;
    return new LegacyRange(device, handle, opened);
  }

  private Opened openHandle(Device device, Piece piece) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG, 3);
      check(
          "opening a program's memory by cuIpcOpenMemHandle",
          driver.openHandle(out.address(), piece.handle(), LAZY_ENABLE_PEER_ACCESS));
      long address = out.get(ValueLayout.JAVA_LONG, 0);
      long start = out.address() + Long.BYTES;
      int code = driver.call("cuMemGetAddressRange_v2", start, start + Long.BYTES, address);
      // What the program says of its memory must not lead to another program's.
      long end =
          out.getAtIndex(ValueLayout.JAVA_LONG, 1) + out.getAtIndex(ValueLayout.JAVA_LONG, 2);
      if (code != CudaErrors.SUCCESS || piece.bytes() > end - address) {
        driver.call("cuIpcCloseMemHandle", address);
        throw new GpuException(
            "a program names %d bytes of an allocation that is shorter".formatted(piece.bytes()));
      }
      ranges.add(new Reached(address, address + piece.bytes(), device, /* nearOnly= */ false));
      return new Opened(address);
    }
  }

  private final class LegacyRange implements Range {
    private final Device device;
    private final List<Long> handle;
    private final Opened opened;

    LegacyRange(Device device, List<Long> handle, Opened opened) {
      this.device = device;
      this.handle = handle;
      this.opened = opened;
    }

    @Override
    public long address() {
      return opened.address;
    }

    @Override
    public void close() {
      if (--opened.users == 0) {
        handles.remove(handle);
        remove(opened.address);
        driver.makeCurrent(device.context);
        driver.call("cuIpcCloseMemHandle", opened.address);
      }
    }
  }

  /** Maps pieces one behind the other. */
  private Range map(Device device, List<Piece> pieces) {
    long bytes = pieces.stream().mapToLong(Piece::bytes).sum();
    MappedRange range = new MappedRange(device, bytes);
    boolean isNearOnly;
    try {
      for (Piece piece : pieces) {
        range.add(piece);
      }
      isNearOnly = !range.allow();
    } catch (RuntimeException e) {
      range.close();
      throw e;
    }
    ranges.add(new Reached(range.start, range.start + bytes, device, isNearOnly));
    return range;
  }

  private final class MappedRange implements Range {
    private final Device device;
    private final long start;
    private final long bytes;
    private final List<Long> sizes = new ArrayList<>();
    private long mapped;

    MappedRange(Device device, long bytes) {
      this.device = device;
      this.bytes = bytes;
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
        check(
            "reserving addresses for a program's memory",
            driver.call("cuMemAddressReserve", out.address(), bytes, ALIGNMENT, 0L, 0L));
        this.start = out.get(ValueLayout.JAVA_LONG, 0);
      }
    }

    void add(Piece piece) {
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
        long shared = piece.descriptor();
        if (piece.kind() == Kind.FABRIC) {
          shared = DriverFunctions.handle(arena, piece.handle()).address();
        }
        check(
            "importing a program's memory by cuMemImportFromShareableHandle",
            driver.call(
                "cuMemImportFromShareableHandle",
                out.address(),
                shared,
                piece.kind() == Kind.FABRIC ? FABRIC : POSIX_FILE_DESCRIPTOR));
        long allocation = out.get(ValueLayout.JAVA_LONG, 0);
        int code = driver.call("cuMemMap", start + mapped, piece.bytes(), 0L, allocation, 0L);
        driver.call("cuMemRelease", allocation);
        check("mapping a program's memory", code);
        sizes.add(piece.bytes());
        mapped += piece.bytes();
      }
    }

    /**
     * Lets all GPUs read and write it, or its own alone where they cannot reach each other.
     *
     * @return true where all can
     */
    boolean allow() {
      try (Arena arena = Arena.ofConfined()) {
        // CUmemAccessDesc of each GPU: type of the location, its number, rights.
        int count = identities.size();
        MemorySegment rights = arena.allocate(ValueLayout.JAVA_INT, 3L * count);
        for (int i = 0; i < count; i++) {
          rights.setAtIndex(ValueLayout.JAVA_INT, 3L * i, 1);
          rights.setAtIndex(ValueLayout.JAVA_INT, 3L * i + 1, i);
          rights.setAtIndex(ValueLayout.JAVA_INT, 3L * i + 2, 3);
        }
        long all = rights.address();
        if (driver.call("cuMemSetAccess", start, bytes, all, (long) count) == CudaErrors.SUCCESS) {
          return true;
        }
        long own = all + 3L * Integer.BYTES * device.ordinal;
        check("using a program's memory", driver.call("cuMemSetAccess", start, bytes, own, 1L));
        return count == 1;
      }
    }

    @Override
    public long address() {
      return start;
    }

    @Override
    public void close() {
      remove(start);
      driver.makeCurrent(device.context);
      long at = start;
      for (long size : sizes) {
        driver.call("cuMemUnmap", at, size);
        at += size;
      }
      driver.call("cuMemAddressFree", start, bytes);
    }
  }

  private void remove(long address) {
    ranges.removeIf(range -> range.start == address);
  }

  private @Nullable Reached find(long address, long bytes) {
    for (int i = 0; i < ranges.size(); i++) {
      Reached range = ranges.get(i);
      if (address >= range.start && address <= range.end - bytes) {
        return range;
      }
    }
    failure = "no program shares this memory any more";
    return null;
  }

  private boolean succeeds(int code) {
    if (code != CudaErrors.SUCCESS) {
      failure = "the CUDA driver answers " + driver.name(code);
    }
    return code == CudaErrors.SUCCESS;
  }

  @Override
  public boolean read(long address, long target, long bytes) {
    Reached range = find(address, bytes);
    if (range == null || !succeeds(driver.makeCurrent(range.owner.context))) {
      return false;
    }
    Device device = range.owner;
    for (long done = 0; done < bytes; done += STAGING_BYTES) {
      long part = Math.min(STAGING_BYTES, bytes - done);
      if (!succeeds(driver.copyOut(device.staging, address + done, part, device.stream))
          || !succeeds(driver.synchronize(device.stream))) {
        return false;
      }
      RawMemory.copy(device.staging, target + done, part);
    }
    return true;
  }

  @Override
  public boolean write(long source, long address, long bytes) {
    Reached range = find(address, bytes);
    if (range == null || !succeeds(driver.makeCurrent(range.owner.context))) {
      return false;
    }
    Device device = range.owner;
    for (long done = 0; done < bytes; done += STAGING_BYTES) {
      long part = Math.min(STAGING_BYTES, bytes - done);
      RawMemory.copy(source + done, device.staging, part);
      long before = done + part == bytes ? part - last(address, bytes, part) : part;
      if ((before > 0
              && !succeeds(driver.copyIn(address + done, device.staging, before, device.stream)))
          || (before < part
              && !succeeds(
                  driver.copyIn(
                      address + done + before,
                      device.staging + before,
                      part - before,
                      device.stream)))
          || !succeeds(driver.synchronize(device.stream))) {
        return false;
      }
    }
    return true;
  }

  /** The number of last bytes that follow the others. */
  private static long last(long address, long bytes, long part) {
    return ((address + bytes) & (Long.BYTES - 1)) == 0 && part > Long.BYTES ? Long.BYTES : 0;
  }

  @Override
  public boolean copy(long from, long to, long bytes) {
    Reached source = find(from, bytes);
    Reached target = find(to, bytes);
    if (source == null || target == null) {
      return false;
    }
    Device device = target.owner;
    if (device.ordinal != source.owner.ordinal && (source.nearOnly || target.nearOnly)) {
      failure = "these GPUs do not reach each other's memory";
      return false;
    }
    if (!succeeds(driver.makeCurrent(device.context))) {
      return false;
    }
    long before = bytes - last(to, bytes, bytes);
    return (before == 0 || succeeds(driver.copy(to, from, before, device.stream)))
        && (before == bytes
            || succeeds(driver.copy(to + before, from + before, bytes - before, device.stream)))
        && succeeds(driver.synchronize(device.stream));
  }

  @Override
  public @Nullable String failure() {
    return failure;
  }

  @Override
  public void close() {
    for (Device device : devices.values()) {
      driver.makeCurrent(device.context);
      driver.call("cuMemFreeHost", device.staging);
      driver.call("cuDevicePrimaryCtxRelease_v2", device.ordinal);
    }
    devices.clear();
  }
}
