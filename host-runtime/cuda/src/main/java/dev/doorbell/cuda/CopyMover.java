package dev.doorbell.cuda;

import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Moves bytes by the GPU's copy engines: asynchronous copies on a stream of its own, and stores by
 * the stream itself for what is small or has to come last.
 *
 * <p>Reads that follow each other are one copy. A copy engine promises nothing about the order of
 * the bytes of a copy, so the last 8 bytes of a write are stored after its copy, with a barrier
 * before them. The end of a batch is a counter that the stream stores to pinned memory.
 */
final class CopyMover extends StagedMover {
  private static final int STAGING_BYTES = 16 << 20;
  private static final int COUNTER_BYTES = 64;

  /** Writes up to here are stores of the stream alone. */
  private static final int SMALL = 64;

  /** The driver takes fewer than 256 at a time. */
  private static final int MOST_OPERATIONS = 128;

  private static final int OPERATION_BYTES = 48;
  private static final int WRITE_VALUE_64 = 5;
  private static final int NO_BARRIER = 1;

  private final CudaContext context;
  private final Memory memory;
  private final long counter;
  private final long handle;
  private final long stream;
  private final MemorySegment operationMemory =
      Arena.ofAuto().allocate((long) MOST_OPERATIONS * OPERATION_BYTES, Long.BYTES);
  private final long operations = operationMemory.address();
  private int count;

  private CopyMover(CudaContext context, Memory memory) {
    super(memory.address() + COUNTER_BYTES, STAGING_BYTES);
    this.context = context;
    this.memory = memory;
    this.counter = memory.address();
    this.handle = current(context);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
      context.call(
          "creating the stream of a mover", () -> StreamFunctions.createStream(out.address()));
      this.stream = out.get(ValueLayout.JAVA_LONG, 0);
    }
  }

  /**
   * A mover of the device that {@code gpu} is.
   *
   * @param context the device's
   */
  static CopyMover open(CudaGpu gpu, CudaContext context) {
    return new CopyMover(
        context, gpu.allocate(MemoryKind.HOST, COUNTER_BYTES + STAGING_BYTES, "mover"));
  }

  private static long current(CudaContext context) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
      context.call("asking for the context", () -> StreamFunctions.currentContext(out.address()));
      return out.get(ValueLayout.JAVA_LONG, 0);
    }
  }

  @Override
  long hand(long from, long to) {
    check(StreamFunctions.makeCurrent(handle));
    for (long i = from; i < to; ) {
      if (isWrite(i)) {
        write(stage(i), far(i), size(i));
        i++;
      } else {
        long start = i;
        long bytes = size(i++);
        while (i < to && goesOn(i)) {
          bytes += size(i++);
        }
        issue();
        check(StreamFunctions.copyOut(stage(start), far(start), bytes, stream));
      }
    }
    store(counter, to, 0);
    issue();
    return to;
  }

  private void write(long source, long address, int bytes) {
    int last = bytes - Long.BYTES;
    if (((address + bytes) & (Long.BYTES - 1)) != 0 || last < 0) {
      issue();
      check(StreamFunctions.copyIn(address, source, bytes, stream));
      return;
    }
    if (bytes <= SMALL && (address & (Long.BYTES - 1)) == 0) {
      for (int at = 0; at < last; at += Long.BYTES) {
        store(address + at, RawMemory.getLong(source + at), at == 0 ? 0 : NO_BARRIER);
      }
    } else {
      issue();
      check(StreamFunctions.copyIn(address, source, last, stream));
    }
    store(address + last, RawMemory.getLong(source + last), 0);
  }

  /** Has the stream store 8 bytes, after what it did before unless the flags say otherwise. */
  private void store(long address, long value, int flags) {
    if (count == MOST_OPERATIONS) {
      issue();
    }
    long operation = operations + (long) count++ * OPERATION_BYTES;
    RawMemory.putLong(operation, WRITE_VALUE_64);
    RawMemory.putLong(operation + 8, address);
    RawMemory.putLong(operation + 16, value);
    RawMemory.putLong(operation + 24, flags);
    RawMemory.putLong(operation + 32, 0);
  }

  private void issue() {
    if (count > 0) {
      int operationsNow = count;
      count = 0;
      check(StreamFunctions.store(stream, operationsNow, operations));
    }
  }

  @Override
  long carriedOut() {
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
      context.ask(() -> StreamFunctions.synchronize(stream));
      context.ask(() -> StreamFunctions.destroy(stream));
    }
    memory.close();
  }

  @Override
  public String where() {
    return "copies of the GPU";
  }
}
