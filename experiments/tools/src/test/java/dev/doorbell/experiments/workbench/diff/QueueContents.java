package dev.doorbell.experiments.workbench.diff;

import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.generated.CommandQueueView;
import dev.doorbell.core.queue.generated.QueuePairView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Extracts what can be compared of queues and counters between two schedules of the same posts. */
final class QueueContents {
  private static final int OPCODE_SHIFT = 4;
  private static final int INDEX_BEGINS = 1 << 7;

  /** A put and its signal. */
  private static final int BLOCKS_A_COMMAND = 2;

  private QueueContents() {}

  /**
   * Counters without the hint of who polls, and with the larger one of the two that say what is
   * completed: which one a poster raised depends on whether another one came. Where posters raced,
   * also without how far each rang, how many completions were asked for, and the marks that say
   * which post filled a block.
   */
  static byte[] counters(byte[] bytes, boolean raced) {
    byte[] copy = bytes.clone();
    clear(copy, QueuePairView.COUNTERS_POLLER, Long.BYTES);
    if (word(copy, QueuePairView.COUNTERS_SEEN) > word(copy, QueuePairView.COUNTERS_COMPLETED)) {
      System.arraycopy(
          copy, QueuePairView.COUNTERS_SEEN, copy, QueuePairView.COUNTERS_COMPLETED, Long.BYTES);
    }
    clear(copy, QueuePairView.COUNTERS_SEEN, Long.BYTES);
    if (raced) {
      clear(copy, QueuePairView.COUNTERS_RUNG, Long.BYTES);
      clear(copy, QueuePairView.COUNTERS_BLUEFLAME, Long.BYTES);
      clear(copy, QueuePairView.COUNTERS_CQ_INDEX, Long.BYTES);
      clear(copy, QueuePairView.COUNTERS_BYTES, copy.length - QueuePairView.COUNTERS_BYTES);
    }
    return copy;
  }

  /** Blocks that the GPU posted, by the counters. */
  static long posted(byte[] counters) {
    long reserved = word(counters, QueuePairView.COUNTERS_RESERVED);
    return (reserved & ~QueuePairView.RESERVED_BROKEN) >>> QueuePairView.RESERVED_SHIFT;
  }

  /** Blocks that the CPU posted at most, by the producers' side of the command queue. */
  static long handedOver(byte[] producer) {
    return BLOCKS_A_COMMAND * word(producer, CommandEntry.PRODUCER_HEAD);
  }

  private static long word(byte[] bytes, int offset) {
    return MemorySegment.ofArray(bytes)
        .get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), offset);
  }

  /**
   * Blocks of a send ring in an order of their own, WQEs without their index and without whether
   * they ask for a completion: both are given when it is known who comes before. What lies behind
   * the last unit of a WQE belongs to no segment, and need not have been written.
   *
   * @param ring filled from its first block, at most once round
   */
  static byte[] posts(byte[] ring) {
    byte[][] blocks = new byte[ring.length / SendQueue.BLOCK][];
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = Arrays.copyOfRange(ring, i * SendQueue.BLOCK, (i + 1) * SendQueue.BLOCK);
    }
    for (int i = 0; i < blocks.length; ) {
      int units = blocks[i][ControlSegment.DS_OFFSET] & ControlSegment.MAX_DS;
      clear(blocks[i], ControlSegment.WQE_INDEX_OFFSET, Short.BYTES);
      clear(blocks[i], ControlSegment.FM_CE_SE_OFFSET, 1);
      int last = i + Math.max(0, SendQueue.blocks(units) - 1);
      int rest = units % SendQueue.UNITS_PER_BLOCK * SendQueue.UNIT;
      if (rest != 0 && last < blocks.length) {
        clear(blocks[last], rest, SendQueue.BLOCK - rest);
      }
      i = last + 1;
    }
    Arrays.sort(blocks, Arrays::compare);
    byte[] sorted = new byte[blocks.length * SendQueue.BLOCK];
    for (int i = 0; i < blocks.length; i++) {
      System.arraycopy(blocks[i], 0, sorted, i * SendQueue.BLOCK, SendQueue.BLOCK);
    }
    return sorted;
  }

  /** The producers' side of a command queue, without the hint of how far its consumer was. */
  static byte[] producer(byte[] counters) {
    byte[] copy = counters.clone();
    clear(copy, CommandEntry.PRODUCER_CONSUMED_SEEN, Long.BYTES);
    return copy;
  }

  /**
   * Entries of a command queue in an order of their own, without their index; nothing of a queue
   * that is full or has gone round, which holds the last one.
   */
  static byte[] commands(byte[] entries) {
    byte[][] each = new byte[entries.length / CommandQueueView.ENTRY_BYTES][];
    boolean room = false;
    for (int i = 0; i < each.length; i++) {
      int at = i * CommandQueueView.ENTRY_BYTES;
      each[i] = Arrays.copyOfRange(entries, at, at + CommandQueueView.ENTRY_BYTES);
      room |= Arrays.equals(each[i], new byte[CommandQueueView.ENTRY_BYTES]);
      clearIndex(each[i]);
    }
    if (!room) {
      return new byte[0];
    }
    Arrays.sort(each, Arrays::compare);
    byte[] sorted = new byte[entries.length];
    for (int i = 0; i < each.length; i++) {
      System.arraycopy(
          each[i], 0, sorted, i * CommandQueueView.ENTRY_BYTES, CommandQueueView.ENTRY_BYTES);
    }
    return sorted;
  }

  /** Bits 31 to 7 of the last word, little-endian. */
  private static void clearIndex(byte[] entry) {
    int last = CommandQueueView.ENTRY_BYTES - Long.BYTES;
    entry[last] = (byte) (entry[last] & (INDEX_BEGINS - 1));
    clear(entry, last + 1, Integer.BYTES - 1);
  }

  /** Returns the number of errors among completions that anybody may have asked for. */
  static byte[] errors(byte[] ring) {
    int errors = 0;
    for (int at = 0; at < ring.length; at += Cqe.BYTES) {
      int opcode = (ring[at + Cqe.OP_OWN_OFFSET] & 0xff) >>> OPCODE_SHIFT;
      if (opcode == Cqe.REQUESTER_ERROR || opcode == Cqe.RESPONDER_ERROR) {
        errors++;
      }
    }
    return new byte[] {(byte) Math.min(errors, Byte.MAX_VALUE)};
  }

  private static void clear(byte[] bytes, int offset, int length) {
    Arrays.fill(bytes, offset, offset + length, (byte) 0);
  }
}
