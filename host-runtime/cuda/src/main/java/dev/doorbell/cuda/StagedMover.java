package dev.doorbell.cuda;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DmaEngine;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.RawMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes to and from a GPU, in order, through pinned memory: the buffers of a software HCA are
 * not pinned. Subclasses choose the GPU's means.
 *
 * <p>A transfer is requested, submitted to the GPU together with the others since the last step,
 * executed, and completed: its callback runs. A request that finds no room in the pinned memory
 * waits for the GPU, for at most {@value #TIMEOUT_NANOS} ns.
 */
public abstract class StagedMover implements DmaEngine {
  /** Transfers are cut into parts of this size. */
  static final int PART = 64 << 10;

  private static final int LINE = 64;
  private static final int ALIGNMENT = 16;
  private static final long TIMEOUT_NANOS = 10_000_000_000L;

  private final long staging;
  private final long stagingBytes;

  /** Memory of the GPU that it reaches; streams cannot store to managed memory. */
  private record Range(long start, long end, boolean managed) {}

  private final List<Range> ranges = new ArrayList<>();

  private static final class Transfer {
    long far;
    long target;
    long stage;
    long stageEnd;
    int size;
    boolean isWrite;
    @Nullable Completion completion;
  }

  // By number modulo capacity; requested >= submitted >= executed >= completed.
  private Transfer[] ring = transfers(1024);
  private long requested;
  private long submitted;
  private long executed;
  private long completed;
  private long batches;

  // Bytes of pinned memory, counted without end.
  private long stagingTaken;
  private long stagingFreed;

  /**
   * @param staging pinned memory, by the address of host and kernels
   */
  StagedMover(long staging, long stagingBytes) {
    if (stagingBytes < 2L * PART) {
      throw new IllegalArgumentException("stagingBytes=" + stagingBytes);
    }
    this.staging = staging;
    this.stagingBytes = stagingBytes;
  }

  /**
   * Submits transfers to the GPU.
   *
   * @return the number of the first transfer that was not accepted, which is tried again
   */
  abstract long submit(long from, long to);

  /** The number of transfers that the GPU has executed, in order. */
  abstract long executed();

  /** Releases the mover's resources on the GPU. */
  public abstract void close();

  /**
   * Adds a range of GPU memory.
   *
   * @param isManaged true for managed memory, which streams cannot store to
   */
  public final void add(long address, long bytes, boolean isManaged) {
    ranges.add(new Range(address, address + bytes, isManaged));
  }

  /** Removes the range that begins at {@code address}. */
  public final void remove(long address) {
    ranges.removeIf(range -> range.start == address);
  }

  /** Returns true for an address in managed memory. */
  final boolean isManaged(long address) {
    for (int i = 0; i < ranges.size(); i++) {
      Range range = ranges.get(i);
      if (range.managed && address >= range.start && address < range.end) {
        return true;
      }
    }
    return false;
  }

  @Override
  public final boolean reaches(long address, long bytes) {
    for (int i = 0; i < ranges.size(); i++) {
      Range range = ranges.get(i);
      if (address >= range.start && address <= range.end - bytes) {
        return true;
      }
    }
    return false;
  }

  @Override
  public final void read(long address, long to, int bytes, Completion completion) {
    for (int done = 0; done < bytes; done += PART) {
      int part = Math.min(PART, bytes - done);
      request(address + done, to + done, part, false, done + part == bytes ? completion : null);
    }
  }

  @Override
  public final void write(long source, long address, int bytes, @Nullable Completion visible) {
    for (int done = 0; done < bytes; done += PART) {
      int part = Math.min(PART, bytes - done);
      long place = request(address + done, 0, part, true, done + part == bytes ? visible : null);
      RawMemory.copy(source + done, place, part);
    }
  }

  @Override
  public final boolean isIdle() {
    return completed == requested;
  }

  /** Number of transfers requested so far. */
  public final long transfers() {
    return requested;
  }

  /** Number of submissions, each of one or more transfers. */
  public final long batches() {
    return batches;
  }

  private long request(
      long address, long to, int bytes, boolean write, @Nullable Completion completion) {
    if (requested - completed == ring.length) {
      grow();
    }
    // The same alignment on both sides, so that wide accesses fit both.
    int skew = (int) address & ALIGNMENT - 1;
    long place = takeStaging(bytes + skew) + skew;
    Transfer transfer = transfer(requested++);
    transfer.far = address;
    transfer.target = to;
    transfer.stage = place;
    transfer.stageEnd = stagingTaken;
    transfer.size = bytes;
    transfer.isWrite = write;
    transfer.completion = completion;
    return place;
  }

  private long takeStaging(int bytes) {
    long room = ((long) bytes + LINE - 1) & -LINE;
    long offset = stagingTaken % stagingBytes;
    long skip = offset + room > stagingBytes ? stagingBytes - offset : 0;
    if (stagingTaken + skip + room - stagingFreed > stagingBytes) {
      awaitStaging(skip + room);
    }
    stagingTaken += skip + room;
    return staging + (stagingTaken - room) % stagingBytes;
  }

  private void awaitStaging(long room) {
    long deadline = System.nanoTime() + TIMEOUT_NANOS;
    while (stagingTaken + room - stagingFreed > stagingBytes) {
      submitAll();
      if (collect() == 0) {
        if (System.nanoTime() - deadline >= 0) {
          throw new GpuException(
              "%s moved nothing for %d s; %d transfers are under way"
                  .formatted(where(), TIMEOUT_NANOS / 1_000_000_000L, requested - executed));
        }
        Thread.onSpinWait();
      }
    }
  }

  private void submitAll() {
    if (submitted < requested) {
      submitted = submit(submitted, requested);
      batches++;
    }
  }

  /** Collects what the GPU has executed; returns the number of transfers. */
  private long collect() {
    if (executed == submitted) {
      return 0;
    }
    long before = executed;
    for (long done = executed(); executed < done; executed++) {
      Transfer each = transfer(executed);
      if (!each.isWrite) {
        RawMemory.copy(each.stage, each.target, each.size);
      }
      stagingFreed = each.stageEnd;
    }
    return executed - before;
  }

  @Override
  public final int step(int budget) {
    if (completed == requested) {
      return 0;
    }
    submitAll();
    collect();
    int work = 0;
    while (completed < executed) {
      Transfer done = transfer(completed++);
      Completion completion = done.completion;
      done.completion = null;
      if (completion != null) {
        completion.completed(true);
      }
      work++;
    }
    if (work > 0) {
      // Requests of the callbacks need not wait for the next step.
      submitAll();
    }
    return work;
  }

  private static Transfer[] transfers(int capacity) {
    Transfer[] transfers = new Transfer[capacity];
    Arrays.setAll(transfers, _ -> new Transfer());
    return transfers;
  }

  private Transfer transfer(long number) {
    return ring[(int) number & (ring.length - 1)];
  }

  private void grow() {
    Transfer[] larger = transfers(2 * ring.length);
    for (long number = completed; number < requested; number++) {
      larger[(int) number & (larger.length - 1)] = transfer(number);
    }
    ring = larger;
  }

  final boolean isWrite(long transfer) {
    return transfer(transfer).isWrite;
  }

  /** Address on the GPU. */
  final long far(long transfer) {
    return transfer(transfer).far;
  }

  /** Address in pinned memory. */
  final long stage(long transfer) {
    return transfer(transfer).stage;
  }

  final int size(long transfer) {
    return transfer(transfer).size;
  }

  /** Returns true if {@code transfer} continues the one before it, on both sides. */
  final boolean isContiguous(long transfer) {
    Transfer one = transfer(transfer);
    Transfer before = transfer(transfer - 1);
    return one.isWrite == before.isWrite
        && one.far == before.far + before.size
        && one.stage == before.stage + before.size;
  }
}
