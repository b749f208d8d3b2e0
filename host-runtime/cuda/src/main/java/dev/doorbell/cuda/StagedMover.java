package dev.doorbell.cuda;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DmaEngine;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.RawMemory;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What the two ways of moving bytes to and from a GPU have in common: transfers in order, and
 * pinned memory that they pass through, because an HCA's own buffers are none.
 *
 * <p>A transfer is asked for, handed to the GPU with whatever else was asked for since the last
 * step, carried out, and told to whoever asked. A call that finds no room in the pinned memory
 * waits for the GPU.
 */
public abstract sealed class StagedMover implements DmaEngine permits CopyMover, KernelMover {
  /** Transfers are cut into parts of this size. */
  static final int PART = 64 << 10;

  private static final int LINE = 64;
  private static final int ALIKE = 16;
  private static final long PATIENCE_NANOS = 10_000_000_000L;

  private final long staging;
  private final long stagingBytes;

  // Ranges of the GPU, in no order.
  private long[] starts = new long[16];
  private long[] ends = new long[16];
  private boolean[] managed = new boolean[16];
  private int ranges;

  // Transfers, by their number.
  private int capacity = 1024;
  private long[] far = new long[capacity];
  private long[] target = new long[capacity];
  private long[] stage = new long[capacity];
  private long[] stageEnd = new long[capacity];
  private int[] size = new int[capacity];
  private boolean[] isWrite = new boolean[capacity];
  private @Nullable Completion[] completions = new Completion[capacity];
  private long asked;
  private long handed;
  private long moved;
  private long told;
  private long batches;

  // Bytes of pinned memory, counted on and on.
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
   * Hands transfers to the GPU.
   *
   * @return up to which they were handed over; the rest is tried again
   */
  abstract long hand(long from, long to);

  /** The number of transfers that the GPU has carried out, in order. */
  abstract long carriedOut();

  /** Gives back what the mover has of the GPU. */
  public abstract void close();

  /** From now on {@code [address, address + bytes)} is memory of this mover's GPU. */
  public final void add(long address, long bytes) {
    add(address, bytes, false);
  }

  /** The same; managed memory is the GPU's as far as the driver has it there. */
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

  /** The range that begins at {@code address} is gone. */
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

  /** True for an address in managed memory. */
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
      ask(address + done, to + done, part, false, done + part == bytes ? completion : null);
    }
  }

  @Override
  public final void write(long source, long address, int bytes, @Nullable Completion visible) {
    for (int done = 0; done < bytes; done += PART) {
      int part = Math.min(PART, bytes - done);
      long place = ask(address + done, 0, part, true, done + part == bytes ? visible : null);
      RawMemory.copy(source + done, place, part);
    }
  }

  @Override
  public final boolean isIdle() {
    return told == asked;
  }

  /** Transfers so far. */
  public final long transfers() {
    return asked;
  }

  /** How often transfers were handed over, several at a time where there were several. */
  public final long batches() {
    return batches;
  }

  private long ask(
      long address, long to, int bytes, boolean write, @Nullable Completion completion) {
    if (asked - told == capacity) {
      grow();
    }
    // Aligned alike on both sides, so that wide accesses fit both.
    int skew = (int) address & ALIKE - 1;
    long place = takeStaging(bytes + skew) + skew;
    int i = index(asked);
    far[i] = address;
    target[i] = to;
    stage[i] = place;
    stageEnd[i] = stagingTaken;
    size[i] = bytes;
    isWrite[i] = write;
    completions[i] = completion;
    asked++;
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
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (stagingTaken + room - stagingFreed > stagingBytes) {
      handOver();
      if (takeIn() == 0) {
        if (System.nanoTime() - deadline >= 0) {
          throw new GpuException(
              "%s moved nothing for %d s; %d transfers are under way"
                  .formatted(where(), PATIENCE_NANOS / 1_000_000_000L, asked - moved));
        }
        Thread.onSpinWait();
      }
    }
  }

  private void handOver() {
    if (handed < asked) {
      handed = hand(handed, asked);
      batches++;
    }
  }

  /** Takes in what the GPU has carried out; how many transfers that were. */
  private long takeIn() {
    if (moved == handed) {
      return 0;
    }
    long before = moved;
    for (long done = carriedOut(); moved < done; moved++) {
      int i = index(moved);
      if (!isWrite[i]) {
        RawMemory.copy(stage[i], target[i], size[i]);
      }
      stagingFreed = stageEnd[i];
    }
    return moved - before;
  }

  @Override
  public final int step(int budget) {
    if (told == asked) {
      return 0;
    }
    handOver();
    takeIn();
    int work = 0;
    while (told < moved) {
      int i = index(told++);
      Completion completion = completions[i];
      completions[i] = null;
      if (completion != null) {
        completion.completed(true);
      }
      work++;
    }
    if (work > 0) {
      // What those who were told ask for now need not wait for the next round.
      handOver();
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
    for (long transfer = told; transfer < asked; transfer++) {
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

  /** Address in the GPU. */
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

  /** True when {@code transfer} goes on where the one before it ends, on both sides. */
  final boolean goesOn(long transfer) {
    int i = index(transfer);
    int before = index(transfer - 1);
    return isWrite[i] == isWrite[before]
        && far[i] == far[before] + size[before]
        && stage[i] == stage[before] + size[before];
  }
}
