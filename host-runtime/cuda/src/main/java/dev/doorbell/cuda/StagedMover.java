package dev.doorbell.cuda;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DmaEngine;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.RawMemory;
import java.util.Arrays;
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

  // Memory ranges of the GPU, unordered.
  private long[] starts = new long[16];
  private long[] ends = new long[16];
  private boolean[] managed = new boolean[16];
  private int ranges;

  // Transfers, by number modulo capacity; requested >= submitted >= executed >= completed.
  private int capacity = 1024;
  private long[] far = new long[capacity];
  private long[] target = new long[capacity];
  private long[] stage = new long[capacity];
  private long[] stageEnd = new long[capacity];
  private int[] size = new int[capacity];
  private boolean[] isWrite = new boolean[capacity];
  private @Nullable Completion[] completions = new Completion[capacity];
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

  /** Adds a range of GPU memory that this mover reaches. */
  public final void add(long address, long bytes) {
    add(address, bytes, false);
  }

  /**
   * Adds a range of GPU memory.
   *
   * @param isManaged true for managed memory, which streams cannot store to
   */
  final void add(long address, long bytes, boolean isManaged) {
    if (ranges == starts.length) {
      starts = Arrays.copyOf(starts, 2 * ranges);
      ends = Arrays.copyOf(ends, 2 * ranges);
      managed = Arrays.copyOf(managed, 2 * ranges);
    }
    starts[ranges] = address;
    managed[ranges] = isManaged;
    ends[ranges++] = address + bytes;
  }

  /** Removes the range that begins at {@code address}. */
  public final void remove(long address) {
    for (int i = 0; i < ranges; i++) {
      if (starts[i] == address) {
        ranges--;
        starts[i] = starts[ranges];
        ends[i] = ends[ranges];
        managed[i] = managed[ranges];
        return;
      }
    }
  }

  /** Returns true for an address in managed memory. */
  final boolean isManaged(long address) {
    for (int i = 0; i < ranges; i++) {
      if (managed[i] && address >= starts[i] && address < ends[i]) {
        return true;
      }
    }
    return false;
  }

  @Override
  public final boolean reaches(long address, long bytes) {
    for (int i = 0; i < ranges; i++) {
      if (address >= starts[i] && address <= ends[i] - bytes) {
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
    if (requested - completed == capacity) {
      grow();
    }
    // The same alignment on both sides, so that wide accesses fit both.
    int skew = (int) address & ALIGNMENT - 1;
    long place = takeStaging(bytes + skew) + skew;
    int i = index(requested);
    far[i] = address;
    target[i] = to;
    stage[i] = place;
    stageEnd[i] = stagingTaken;
    size[i] = bytes;
    isWrite[i] = write;
    completions[i] = completion;
    requested++;
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
      int i = index(executed);
      if (!isWrite[i]) {
        RawMemory.copy(stage[i], target[i], size[i]);
      }
      stagingFreed = stageEnd[i];
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
      int i = index(completed++);
      Completion completion = completions[i];
      completions[i] = null;
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

  private int index(long transfer) {
    return (int) transfer & (capacity - 1);
  }

  private void grow() {
    int more = 2 * capacity;
    long[] newFar = new long[more];
    long[] newTarget = new long[more];
    long[] newStage = new long[more];
    long[] newStageEnd = new long[more];
    int[] newSize = new int[more];
    boolean[] newWrite = new boolean[more];
    @Nullable Completion[] newCompletions = new Completion[more];
    for (long transfer = completed; transfer < requested; transfer++) {
      int from = index(transfer);
      int to = (int) transfer & (more - 1);
      newFar[to] = far[from];
      newTarget[to] = target[from];
      newStage[to] = stage[from];
      newStageEnd[to] = stageEnd[from];
      newSize[to] = size[from];
      newWrite[to] = isWrite[from];
      newCompletions[to] = completions[from];
    }
    far = newFar;
    target = newTarget;
    stage = newStage;
    stageEnd = newStageEnd;
    size = newSize;
    isWrite = newWrite;
    completions = newCompletions;
    capacity = more;
  }

  final boolean isWrite(long transfer) {
    return isWrite[index(transfer)];
  }

  /** Address on the GPU. */
  final long far(long transfer) {
    return far[index(transfer)];
  }

  /** Address in pinned memory. */
  final long stage(long transfer) {
    return stage[index(transfer)];
  }

  final int size(long transfer) {
    return size[index(transfer)];
  }

  /** Returns true if {@code transfer} continues the one before it, on both sides. */
  final boolean isContiguous(long transfer) {
    int i = index(transfer);
    int before = index(transfer - 1);
    return isWrite[i] == isWrite[before]
        && far[i] == far[before] + size[before]
        && stage[i] == stage[before] + size[before];
  }
}
