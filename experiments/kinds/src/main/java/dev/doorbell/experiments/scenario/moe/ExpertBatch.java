package dev.doorbell.experiments.scenario.moe;

import dev.doorbell.experiments.scenario.moe.ExpertSettings.Packing;
import dev.doorbell.experiments.scenario.moe.ExpertSettings.Payload;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The tokens that ranks dispatch to experts. */
public record ExpertBatch(
    int ranks,
    int tokens,
    int topk,
    int experts,
    int hidden,
    Payload payload,
    Packing packing,
    long seed) {
  private static final int UNIT = 16;

  /** Header of a message: token, rank, experts. */
  static final int HEADER = 64;

  public int local() {
    return experts / ranks;
  }

  int tokenBytes() {
    return payload == Payload.BYTES ? hidden : 2 * hidden;
  }

  int messageBytes() {
    int bytes =
        switch (payload) {
          case BYTES -> hidden;
          case BF16 -> 2 * hidden;
          case FP8 -> hidden + Float.BYTES * (hidden / Quantiser.GROUP);
        };
    return HEADER + Math.ceilDiv(bytes, UNIT) * UNIT;
  }

  /**
   * Sections of a rank's arena, as {@code kernels/src/moe.cu} names them in {@code enum parameter}.
   */
  static final class ArenaLayout {
    private static final int ALIGNMENT = 256;

    final long routing;
    final long weights;
    final long input;
    final long messages;
    final long packed;
    final long received;
    final long results;
    final long combined;
    final long output;

    /** Counters of messages, counts and the list of what stays: zero before a dispatch. */
    final long slots;

    final long counts;
    final long own;
    final long grid;
    final long bytes;

    /** Bytes that are touched: on average as many messages arrive as are sent. */
    final long touched;

    final int capacity;

    private final ExpertBatch of;
    private final int node;
    private long end;

    ArenaLayout(ExpertBatch of, int capacity, int node) {
      this.of = of;
      this.capacity = capacity;
      this.node = node;
      long choices = (long) of.tokens() * of.topk();
      long arriving = (long) of.local() * of.ranks() * capacity;
      boolean packs = of.packing() == Packing.EXPERT;
      routing = section(choices * Integer.BYTES);
      weights = section(choices * Float.BYTES);
      input = section((long) of.tokens() * of.tokenBytes());
      messages = section((long) of.tokens() * of.messageBytes());
      packed = section(packs ? (long) of.experts() * capacity * of.messageBytes() : 0);
      received = section(arriving * of.messageBytes());
      results = section(of.payload() == Payload.FP8 ? arriving * of.tokenBytes() : 0);
      combined = section(choices * of.tokenBytes());
      output = section((long) of.tokens() * of.tokenBytes());
      slots = section((long) of.experts() * Integer.BYTES);
      counts = section((long) of.experts() * Long.BYTES);
      own = section(Integer.BYTES * (1 + 2 * choices));
      grid = section(2L * Integer.BYTES);
      bytes = end;
      int slot = (packs ? 2 : 1) * of.messageBytes();
      slot += of.payload() == Payload.FP8 ? of.tokenBytes() : 0;
      touched = bytes - (arriving - choices) * slot;
    }

    private long section(long size) {
      long at = end;
      end = (end + size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
      return at;
    }

    /** Begin of the messages of a source to a local expert, in messages. */
    int region(int local, int source) {
      return (local * of.ranks() + source) * capacity;
    }

    int flags() {
      return of.experts() + of.ranks();
    }

    byte[] parameters() {
      long[] words = {
        of.tokens(),
        of.topk(),
        of.local(),
        capacity,
        of.hidden(),
        of.messageBytes(),
        of.tokenBytes(),
        routing,
        weights,
        input,
        messages,
        packed,
        received,
        results,
        combined,
        output,
        slots,
        counts,
        own,
        node,
        grid
      };
      ByteBuffer bytes =
          ByteBuffer.allocate(words.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      for (long word : words) {
        bytes.putLong(word);
      }
      return bytes.array();
    }
  }
}
