package dev.doorbell.softhca.objects;

import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.LazyMemory;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.lang.foreign.MemorySegment;

/**
 * A doorbell page. What is stored to it names its queue pair, so one page may serve many.
 *
 * <p>Eight bytes with DS 0 are a doorbell and carry the producer index. Anything else at a register
 * is a WQE arriving in whole 64-byte blocks, in one write or in several, in any order: its content
 * is used when it is complete; until then it only makes the HCA read the doorbell record.
 *
 * <p>Stores may come on any thread; they are recorded here and handled when the HCA is stepped.
 */
public final class Uar implements MmioTarget {
  /** The index of a doorbell that carries none: the doorbell record has to be read. */
  public static final int NO_INDEX = -1;

  /** Distance of doorbell registers without BlueFlame. */
  private static final int REGISTER_STRIDE = 0x100;

  private static final int REGISTERS_BYTES = 2 * SoftHcaOptions.MAX_BLUE_FLAME_BYTES;
  private static final int WORD = Integer.BYTES;
  private static final int WORDS_OF_MASK = Long.SIZE;

  private final NumberTable<? extends QueuePairContext> queuePairs;
  private final NumberTable<SoftCompletionQueue> completionQueues;
  private final Allocation page;
  private final int halfBytes;

  /** Copies of the two halves, and the words of each that were stored since the WQE's beginning. */
  private final MemorySegment shadow;

  private final long[] arrived;
  private final int masksPerHalf;

  /**
   * @param halfBytes of a BlueFlame register; 0 without BlueFlame
   */
  public Uar(
      NumberTable<? extends QueuePairContext> queuePairs,
      NumberTable<SoftCompletionQueue> completionQueues,
      Allocation page,
      int halfBytes) {
    this.queuePairs = queuePairs;
    this.completionQueues = completionQueues;
    this.page = page;
    this.halfBytes = halfBytes;
    this.shadow = LazyMemory.SPARSE.allocate(Math.max(2L * halfBytes, SendQueue.BLOCK), 64);
    this.masksPerHalf = Math.max(1, halfBytes / WORD / WORDS_OF_MASK);
    this.arrived = new long[2 * masksPerHalf];
  }

  public Allocation page() {
    return page;
  }

  /** Address of the first register. */
  public long register() {
    return page.address() + Doorbell.REGISTER_OFFSET;
  }

  @Override
  public void mmioWrite(long address, long source, int bytes) {
    int offset = (int) (address - page.address());
    if (offset == Doorbell.ARM_OFFSET && bytes == Doorbell.BYTES) {
      long value = Doorbell.read(source);
      SoftCompletionQueue queue = completionQueues.find(Doorbell.armCqn(value));
      if (queue != null) {
        queue.armed(value);
      }
      return;
    }
    int within = offset - Doorbell.REGISTER_OFFSET;
    boolean isRegister = within >= 0 && within < REGISTERS_BYTES;
    boolean begins =
        isRegister
            ? within == 0 || within % (halfBytes == 0 ? REGISTER_STRIDE : halfBytes) == 0
            : offset == Doorbell.RECORDLESS_OFFSET;
    if (begins && bytes == Doorbell.BYTES && (ControlSegment.ds(source) == 0 || halfBytes == 0)) {
      long value = Doorbell.read(source);
      QueuePairContext queuePair = queuePairs.find(Doorbell.qpn(value));
      if (queuePair != null) {
        // With DS the doorbell is a WQE's beginning: its index is not the producer's.
        boolean plain = ControlSegment.ds(source) == 0;
        queuePair.ring(plain ? Doorbell.index(value) : NO_INDEX);
      }
    } else if (isRegister && within < 2 * halfBytes && bytes % WORD == 0 && offset % WORD == 0) {
      wqeWrite(within, source, bytes);
    }
  }

  private synchronized void wqeWrite(int offset, long source, int bytes) {
    int half = offset / halfBytes;
    int within = offset % halfBytes;
    int length = Math.min(bytes, halfBytes - within);
    long content = shadow.address() + (long) half * halfBytes;
    if (note(half, within / WORD, length / WORD)) {
      forget(half);
      note(half, within / WORD, length / WORD);
    }
    RawMemory.copy(source, content + within, length);
    if (!has(half, 0) || !has(half, 1)) {
      return;
    }
    QueuePairContext queuePair = queuePairs.find(ControlSegment.qpn(content));
    if (queuePair == null) {
      return;
    }
    int ds = ControlSegment.ds(content);
    int blocks = SendQueue.blocks(ds);
    int wqeBytes = blocks * SendQueue.BLOCK;
    if (ds == 0 || wqeBytes > halfBytes || !hasAll(half, wqeBytes / WORD)) {
      queuePair.ring(NO_INDEX);
      return;
    }
    forget(half);
    queuePair.offerBlueFlame(content, wqeBytes);
    queuePair.ring(ControlSegment.wqeIndex(content) + blocks & SendQueue.INDEX_MASK);
  }

  /** Marks words as arrived; true when one of them had already: another WQE has begun. */
  private boolean note(int half, int word, int words) {
    boolean again = false;
    for (int i = word; i < word + words; i++) {
      int mask = half * masksPerHalf + i / WORDS_OF_MASK;
      long bit = 1L << (i % WORDS_OF_MASK);
      again |= (arrived[mask] & bit) != 0;
      arrived[mask] |= bit;
    }
    return again;
  }

  private boolean has(int half, int word) {
    return (arrived[half * masksPerHalf + word / WORDS_OF_MASK] & 1L << (word % WORDS_OF_MASK))
        != 0;
  }

  private boolean hasAll(int half, int words) {
    for (int i = 0; i < words; i++) {
      if (!has(half, i)) {
        return false;
      }
    }
    return true;
  }

  private void forget(int half) {
    for (int i = 0; i < masksPerHalf; i++) {
      arrived[half * masksPerHalf + i] = 0;
    }
  }
}
