package dev.doorbell.cuda;

import static dev.doorbell.cuda.DriverFunctions.NUMBER;
import static dev.doorbell.cuda.DriverFunctions.WORD;

import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * Moves bytes by the GPU's copy engines: asynchronous copies on a stream of its own, and stores by
 * the stream itself for what must be written last.
 *
 * <p>Contiguous reads are one copy. A copy engine does not guarantee the order of the bytes of a
 * copy, so the last 8 bytes of a write are stored after its copy, with a barrier before them. At
 * the end of a batch the stream stores a counter to pinned memory.
 */
final class CopyMover extends StagedMover {
  private static final int STAGING_BYTES = 16 << 20;
  private static final int COUNTER_BYTES = 64;

  /** Bytes of pinned memory that a mover needs. */
  static final int MEMORY_BYTES = COUNTER_BYTES + STAGING_BYTES;

  /** The driver accepts fewer than 256 per call. */
  private static final int MOST_OPERATIONS = 128;

  private static final int OPERATION_BYTES = 48;
  private static final int WRITE_VALUE_64 = 5;
  private static final int NON_BLOCKING = 1;

  /** The only value of this version of the call. */
  private static final int BARRIER = 0;

  private final DriverFunctions driver = new DriverFunctions(CudaProbe.LIBRARY);
  private final MethodHandle store =
      driver.ofWords("cuStreamBatchMemOp_v2", WORD, NUMBER, WORD, NUMBER);
  private final CudaContext context;
  private final Memory memory;
  private final long counter;
  private final long handle;
  private final long stream;
  private final MemorySegment operationMemory =
      Arena.ofAuto().allocate((long) MOST_OPERATIONS * OPERATION_BYTES, Long.BYTES);
  private final long operations = operationMemory.address();
  private int count;

  /**
   * Creates a mover for the device of {@code context}.
   *
   * @param memory {@link #MEMORY_BYTES} of pinned memory, which the mover closes
   */
  CopyMover(CudaContext context, Memory memory) {
    super(memory.address() + COUNTER_BYTES, STAGING_BYTES);
    this.context = context;
    this.memory = memory;
    this.counter = memory.address();
    this.handle = ask("querying the current context", "cuCtxGetCurrent");
    this.stream = ask("creating the stream of a mover", "cuStreamCreate", NON_BLOCKING);
  }

  /** Returns the handle that a function writes to the address which is its first argument. */
  private long ask(String what, String function, Object... rest) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
      List<Object> arguments = new ArrayList<>(List.of(out.address()));
      arguments.addAll(List.of(rest));
      context.call(what, () -> driver.call(function, arguments.toArray()));
      return out.get(ValueLayout.JAVA_LONG, 0);
    }
  }

  @Override
  long submit(long from, long to) {
    check(driver.makeCurrent(handle));
    for (long i = from; i < to; ) {
      if (isWrite(i)) {
        write(stage(i), far(i), size(i));
        i++;
      } else {
        long start = i;
        long bytes = size(i++);
        while (i < to && isContiguous(i)) {
          bytes += size(i++);
        }
        issue();
        check(driver.copyOut(stage(start), far(start), bytes, stream));
      }
    }
    store(counter, to);
    issue();
    return to;
  }

  private void write(long source, long address, int bytes) {
    int last = bytes - Long.BYTES;
    if (((address + bytes) & (Long.BYTES - 1)) != 0 || last < 0) {
      issue();
      check(driver.copyIn(address, source, bytes, stream));
      return;
    }
    if (last > 0) {
      issue();
      check(driver.copyIn(address, source, last, stream));
    }
    if (isManaged(address)) {
      // Streams cannot store to managed memory; a separate copy also follows the others.
      issue();
      check(driver.copyIn(address + last, source + last, Long.BYTES, stream));
    } else {
      store(address + last, RawMemory.getLong(source + last));
    }
  }

  /** Adds a store of 8 bytes by the stream, after all that precedes it. */
  private void store(long address, long value) {
    if (count == MOST_OPERATIONS) {
      issue();
    }
    long operation = operations + (long) count++ * OPERATION_BYTES;
    RawMemory.putLong(operation, WRITE_VALUE_64);
    RawMemory.putLong(operation + 8, address);
    RawMemory.putLong(operation + 16, value);
    RawMemory.putLong(operation + 24, BARRIER);
    RawMemory.putLong(operation + 32, 0);
  }

  private void issue() {
    if (count > 0) {
      int operationsNow = count;
      count = 0;
      check(DriverFunctions.call(store, stream, operationsNow, operations, 0));
    }
  }

  @Override
  long executed() {
    return RawMemory.getLongAcquire(counter);
  }

  private void check(int code) {
    if (code != CudaErrors.SUCCESS) {
      throw context.failed("moving bytes by copies", code);
    }
  }

  @Override
  public void close() {
    if (context.settled()) {
      context.ask(() -> driver.synchronize(stream));
      context.ask(() -> driver.call("cuStreamDestroy_v2", stream));
    }
    memory.close();
  }

  @Override
  public String where() {
    return "copies of the GPU";
  }
}
