package dev.doorbell.experiments.config.kernel;

import dev.doorbell.experiments.config.formula.Formula;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A structure in memory, or an array of them, that a descriptor lays out field by field: an
 * argument of another library's kernel, or a variable of its module.
 *
 * @param each how many elements it has, side by side
 * @param symbol the variable of the module that it fills; empty where memory of its own holds it
 * @param byValue whether a parameter gets its bytes, not its address
 * @param inHost whether memory of its own lies at the CPU
 * @param bytes of an element; 0 for as many as its fields need
 * @param fields in the order of their offsets
 */
public record KernelStructure(
    String name,
    Each each,
    Optional<String> symbol,
    boolean byValue,
    boolean inHost,
    long bytes,
    List<Field> fields) {

  /** The objects that an array has an element for. */
  public enum Each {
    /** One of all. */
    ONCE,
    QUEUE_PAIR,
    RANK;

    static Each of(String word) {
      return valueOf(word.toUpperCase(Locale.ROOT));
    }

    public int count(int ranks, int queuePairs) {
      return switch (this) {
        case ONCE -> 1;
        case QUEUE_PAIR -> queuePairs;
        case RANK -> ranks;
      };
    }
  }

  /** The type of a field: its size, and its byte order, little-endian but for {@code BE..}. */
  public enum Type {
    U8(1),
    U16(2),
    U32(4),
    U64(8),
    BE16(2),
    BE32(4),
    BE64(8);

    private final int bytes;

    Type(int bytes) {
      this.bytes = bytes;
    }

    public int bytes() {
      return bytes;
    }

    public boolean bigEndian() {
      return name().startsWith("BE");
    }

    static Type of(String word) {
      return valueOf(word.toUpperCase(Locale.ROOT));
    }

    static List<String> words() {
      return Arrays.stream(values()).map(type -> type.name().toLowerCase(Locale.ROOT)).toList();
    }
  }

  /**
   * A field, or an array of equal ones.
   *
   * @param each {@code ONCE} for as many numbers as {@code count}, or one for each of these
   * @param at its offset; -1 for the next one that its type may have, as C lays it out
   * @param values one for all numbers, or as many as there are numbers
   */
  public record Field(String name, Type type, Each each, int count, long at, List<Formula> values) {
    public Field {
      values = List.copyOf(values);
    }

    public int numbers(int ranks, int queuePairs) {
      return each == Each.ONCE ? count : each.count(ranks, queuePairs);
    }
  }

  /**
   * Offsets of an element's fields.
   *
   * @param offsets by field
   * @param bytes of an element
   */
  public record Layout(List<Long> offsets, long bytes) {
    public Layout {
      offsets = List.copyOf(offsets);
    }
  }

  /** Values name the address of a multicast object by this and its name. */
  public static final String MULTICAST = "multicast.";

  public KernelStructure {
    fields = List.copyOf(fields);
  }

  /**
   * Lays the fields out.
   *
   * @throws IllegalArgumentException naming a field that lies in the one before it, or that lies
   *     beyond the structure's end
   */
  public Layout layout(int ranks, int queuePairs) {
    List<Long> offsets = new ArrayList<>();
    long end = 0;
    long align = 1;
    for (Field field : fields) {
      int size = field.type.bytes;
      long at = field.at >= 0 ? field.at : (end + size - 1) / size * size;
      if (at < end) {
        throw new IllegalArgumentException(
            "%s.%s begins at byte %d, and the field before it ends at %d"
                .formatted(name, field.name, at, end));
      }
      if (at % size == 0) {
        align = Math.max(align, size);
      }
      offsets.add(at);
      end = at + (long) size * field.numbers(ranks, queuePairs);
    }
    if (bytes > 0 && end > bytes) {
      throw new IllegalArgumentException(
          "the fields of %s end at byte %d, and it has %d".formatted(name, end, bytes));
    }
    return new Layout(offsets, bytes > 0 ? bytes : (end + align - 1) / align * align);
  }

  /** Returns whether its size is the same in every world. */
  public boolean hasFixedSize() {
    return each == Each.ONCE
        && (bytes > 0 || fields.stream().allMatch(field -> field.each == Each.ONCE));
  }

  /**
   * Numbers of the world that a field of a {@link KernelStructure} may name. The order is the order
   * of the variables in the formulas of fields.
   */
  public enum WorldNumber {
    /** Index of queue pair {@code qp} among the rank's. */
    QP_INDEX,
    QP_NUMBER,
    /** The rank that it leads to. */
    QP_PEER,
    QP_RING,
    QP_BLOCKS,
    /** Address of the send counter of its doorbell record. */
    QP_RECORD,
    /** Address that a kernel rings: the UAR page. */
    QP_DOORBELL,
    /** 1 where the send ring lies in the GPU, 0 in host memory. */
    QP_ON_GPU,
    CQ_NUMBER,
    CQ_RING,
    CQ_ENTRIES,
    CQ_RECORD,
    PAYLOAD_ADDRESS,
    PAYLOAD_BYTES,
    PAYLOAD_LKEY,
    INBOX_ADDRESS,
    INBOX_BYTES,
    INBOX_LKEY,
    PEER_RANK,
    PEER_INBOX,
    PEER_BYTES,
    PEER_RKEY,
    /** Address of the peer's signal words; 0 where the kernel has none. */
    PEER_SIGNALS,
    PEER_SIGNALS_RKEY,
    /** Address of the own signal words; 0 where the kernel has none. */
    SIGNALS_ADDRESS,
    SIGNALS_BYTES,
    QUEUE_PAIRS_ADDRESS,
    RANK,
    RANKS,
    QUEUE_PAIRS,
    /** The element of the array that is laid out, from 0. */
    INDEX;

    /** The word of descriptors: {@code qp.ring}. */
    public String word() {
      String word = name().toLowerCase(Locale.ROOT);
      for (String owner :
          List.of("queue_pairs", "payload", "inbox", "signals", "peer", "qp", "cq")) {
        if (word.startsWith(owner + "_")) {
          return owner + "." + word.substring(owner.length() + 1);
        }
      }
      return word;
    }

    public static List<String> words() {
      return Arrays.stream(values()).map(WorldNumber::word).toList();
    }
  }
}
