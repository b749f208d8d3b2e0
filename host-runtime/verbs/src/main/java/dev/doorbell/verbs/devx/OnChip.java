package dev.doorbell.verbs.devx;

import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.verbs.device.DeviceContext;
import dev.doorbell.verbs.generated.verbs.ibv_alloc_dm_attr;
import dev.doorbell.verbs.library.DeviceOps;
import dev.doorbell.verbs.library.NativeFunction;
import dev.doorbell.verbs.library.NativeFunction.Failure;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;

/**
 * Memory of the device itself (MEMIC), allocated by {@code ibv_alloc_dm}. Threads of the fabric
 * store to stand-in pages; a GPU maps the address at which the library has mapped the memory. It
 * accepts stores of 4 and 8 bytes.
 */
public final class OnChip implements Memory, MmioTarget {
  /** {@code struct ibv_device_attr_ex}. */
  public static final int ATTRIBUTES_BYTES = 400;

  public static final int MAX_DM_SIZE_OFFSET = 376;

  /** {@code struct mlx5dv_dm.buf}. */
  public static final int MAPPED_OFFSET = 0;

  public static final int MAPPED_BYTES = 32;

  private static final long OBJECT_DM = 1 << 4;
  private static final int GRANULE = 64;
  private static final FunctionDescriptor QUERY =
      FunctionDescriptor.of(
          ValueLayout.JAVA_INT,
          ValueLayout.ADDRESS,
          ValueLayout.ADDRESS,
          ValueLayout.ADDRESS,
          ValueLayout.JAVA_LONG);
  private static final FunctionDescriptor ALLOCATE =
      FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS);
  private static final FunctionDescriptor FREE =
      FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
  private static final Failure CLOSE =
      Failure.of("free on-chip memory", "close the memory regions on it first");

  private final DevxDevice device;
  private final Consumer<OnChip> onClose;
  private final MemorySegment dm;
  private final MemorySegment mapped;
  private final Allocation standIn;
  private int regions;
  private boolean closed;

  private OnChip(
      DevxDevice device, Consumer<OnChip> onClose, MemorySegment dm, MemorySegment mapped) {
    this.device = device;
    this.onClose = onClose;
    this.dm = dm;
    this.mapped = mapped;
    this.standIn = device.mapOnChip(mapped.byteSize(), this);
  }

  /** On-chip bytes of the device; 0 if the device or this libibverbs has none. */
  public static long available(DeviceContext context) {
    MemorySegment query = context.ops.extended(DeviceOps.QUERY_DEVICE_EX_OFFSET);
    if (query.address() == 0 || context.ops.extended(DeviceOps.ALLOC_DM_OFFSET).address() == 0) {
      return 0;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(ATTRIBUTES_BYTES, Long.BYTES);
      int error =
          new NativeFunction("ibv_query_device_ex", query, QUERY)
              .call(context.context, MemorySegment.NULL, attributes, (long) ATTRIBUTES_BYTES)
              .error();
      return error == 0 ? attributes.get(ValueLayout.JAVA_LONG, MAX_DM_SIZE_OFFSET) : 0;
    }
  }

  /**
   * Allocates memory of the device.
   *
   * @param onClose called once, when the memory has been freed
   * @throws HcaException when the device has less left, saying how much
   */
  static OnChip allocate(DevxDevice device, long bytes, Consumer<OnChip> onClose) {
    DeviceContext context = device.context;
    MemorySegment function = context.ops.extended(DeviceOps.ALLOC_DM_OFFSET);
    long available = available(context);
    long free = available - device.onChipTaken();
    if (function.address() == 0 || bytes <= 0 || rounded(bytes) > free) {
      throw new HcaException(
          "%s cannot allocate %d bytes of on-chip memory: %d of %d bytes are free; ask for less or close other pieces (ConnectX-5 and later have some)"
              .formatted(context.name, bytes, free, available),
          Errno.ENOMEM);
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(ibv_alloc_dm_attr.layout());
      ibv_alloc_dm_attr.length(attributes, rounded(bytes));
      MemorySegment dm =
          new NativeFunction("ibv_alloc_dm", function, ALLOCATE)
              .pointer(
                  Failure.of("allocate on-chip memory", "ask for less, or close other pieces"),
                  context.context,
                  attributes);
      MemorySegment found = arena.allocate(MAPPED_BYTES, Long.BYTES);
      Mlx5Objects.query(
          Failure.of("map on-chip memory", "update libmlx5 to that of rdma-core 44"),
          Mlx5Objects.DM_OFFSET,
          OBJECT_DM,
          dm,
          found);
      MemorySegment mapped = found.get(ValueLayout.ADDRESS, MAPPED_OFFSET).reinterpret(bytes);
      device.takeOnChip(rounded(bytes));
      return new OnChip(device, onClose, dm, mapped);
    }
  }

  private static long rounded(long bytes) {
    return bytes + GRANULE - 1 & -GRANULE;
  }

  /** Repeats a store to the stand-in at the on-chip memory. */
  @Override
  public void mmioWrite(long address, long source, int bytes) {
    MemorySegment.copy(
        MemorySegment.ofAddress(source).reinterpret(bytes),
        0,
        mapped,
        address - standIn.address(),
        bytes);
  }

  /** Adds a memory region, which has to be closed before this memory. */
  void use() {
    regions++;
  }

  /** Removes a memory region of {@link #use}. */
  void unuse() {
    regions--;
  }

  /** The {@code struct ibv_dm}. */
  MemorySegment handle() {
    return dm;
  }

  @Override
  public MemoryKind kind() {
    return MemoryKind.NIC;
  }

  /**
   * Address of the stand-in in the fabric: stores there are repeated on the chip. Work requests use
   * the address of the memory region instead.
   */
  @Override
  public long address() {
    return standIn.address();
  }

  /** Address at which the library has mapped it: a GPU that maps this stores to the chip itself. */
  @Override
  public long deviceAddress() {
    return mapped.address();
  }

  @Override
  public long size() {
    return mapped.byteSize();
  }

  @Override
  public void write(long offset, MemorySegment source) {
    mapped.asSlice(offset, source.byteSize()).copyFrom(source);
  }

  @Override
  public void read(long offset, MemorySegment target) {
    target.copyFrom(mapped.asSlice(offset, target.byteSize()));
  }

  @Override
  public void fill(long offset, long bytes, byte value) {
    mapped.asSlice(offset, bytes).fill(value);
  }

  @Override
  public void close() {
    if (regions > 0) {
      throw new HcaException(
          "cannot free %s: %d memory region(s) are on it; close them first"
              .formatted(this, regions),
          Errno.EBUSY);
    }
    if (!closed) {
      MemorySegment free = device.context.ops.extended(DeviceOps.FREE_DM_OFFSET);
      new NativeFunction("ibv_free_dm", free, FREE).require(CLOSE, dm);
      closed = true;
      device.takeOnChip(-rounded(size()));
      device.unmap(standIn);
      onClose.accept(this);
    }
  }

  @Override
  public String toString() {
    return "on-chip memory (%d bytes at 0x%x)".formatted(size(), address());
  }
}
