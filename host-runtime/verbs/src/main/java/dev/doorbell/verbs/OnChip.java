package dev.doorbell.verbs;

import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.verbs.NativeFunction.Failure;
import dev.doorbell.verbs.generated.verbs.ibv_alloc_dm_attr;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A piece of the device's own memory (MEMIC), by {@code ibv_alloc_dm}. Threads of the fabric reach
 * it through pages that stand for it, a GPU where the library has it mapped; it takes stores of 4
 * and 8 bytes.
 */
final class OnChip implements Memory, MmioTarget {
  /** {@code struct ibv_device_attr_ex}. */
  static final int ATTRIBUTES_BYTES = 400;

  static final int MAX_DM_SIZE_OFFSET = 376;

  /** {@code struct mlx5dv_dm.buf}. */
  static final int MAPPED_OFFSET = 0;

  static final int MAPPED_BYTES = 32;

  /** In {@code struct mlx5dv_obj}. */
  static final int DM_IN_OFFSET = 64;

  static final int DM_OUT_OFFSET = 72;

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

  private final DevxDomain domain;
  private final MemorySegment dm;
  private final MemorySegment mapped;
  private final Allocation standIn;
  private int regions;
  private boolean closed;

  private OnChip(DevxDomain domain, MemorySegment dm, MemorySegment mapped, Allocation standIn) {
    this.domain = domain;
    this.dm = dm;
    this.mapped = mapped;
    this.standIn = standIn;
  }

  /** Bytes that the device has; 0 where it or this libibverbs has none. */
  static long available(DeviceContext context) {
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

  static OnChip allocate(DevxDomain domain, long bytes) {
    DeviceContext context = domain.context;
    MemorySegment function = context.ops.extended(DeviceOps.ALLOC_DM_OFFSET);
    Mlx5Hca hca = domain.device();
    if (function.address() == 0 || bytes <= 0 || rounded(bytes) > hca.onChipFree()) {
      throw new HcaException(
          "%s cannot allocate %d bytes of on-chip memory: %d of %d bytes are free; ask for less or close other pieces (ConnectX-5 and later have some)"
              .formatted(context.name, bytes, hca.onChipFree(), hca.attributes().onChipBytes()),
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
      MemorySegment objects = arena.allocate(DevxDomain.OBJECTS_BYTES, Long.BYTES);
      MemorySegment found = arena.allocate(MAPPED_BYTES, Long.BYTES);
      objects.set(ValueLayout.ADDRESS, DM_IN_OFFSET, dm);
      objects.set(ValueLayout.ADDRESS, DM_OUT_OFFSET, found);
      Mlx5Functions.INIT_OBJ.require(
          Failure.of("map on-chip memory", "update libmlx5 to that of rdma-core 44"),
          objects,
          OBJECT_DM);
      MemorySegment mapped = found.get(ValueLayout.ADDRESS, MAPPED_OFFSET).reinterpret(bytes);
      OnChip memory = new OnChip(domain, dm, mapped, hca.standInFor(bytes));
      hca.takeOnChip(rounded(bytes), memory.standIn, memory);
      return memory;
    }
  }

  private static long rounded(long bytes) {
    return bytes + GRANULE - 1 & -GRANULE;
  }

  /** Repeats on the chip what a thread of the fabric stored to the stand-in. */
  @Override
  public void mmioWrite(long address, long source, int bytes) {
    MemorySegment.copy(
        MemorySegment.ofAddress(source).reinterpret(bytes),
        0,
        mapped,
        address - standIn.address(),
        bytes);
  }

  void use() {
    regions++;
  }

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

  @Override
  public Locus locus() {
    return domain.hca().locus();
  }

  /**
   * Pages of the fabric that stand for it: what is stored there is stored on the chip. Requests
   * name the memory by its region's address.
   */
  @Override
  public long address() {
    return standIn.address();
  }

  /** Where the library has it mapped: a GPU that maps this stores to the chip itself. */
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
      MemorySegment free = domain.context.ops.extended(DeviceOps.FREE_DM_OFFSET);
      new NativeFunction("ibv_free_dm", free, FREE).require(CLOSE, dm);
      closed = true;
      domain.device().giveOnChip(rounded(size()), standIn);
      domain.closed(this);
    }
  }

  @Override
  public String toString() {
    return "on-chip memory (%d bytes at 0x%x)".formatted(size(), address());
  }
}
