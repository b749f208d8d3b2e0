package dev.doorbell.proxy;

import java.util.EnumMap;
import java.util.Map;

/**
 * The descriptor in which device code of NCCL's GIN, back end Proxy, asks the CPU for an operation:
 * 16 words of 64 bits, little-endian. Bit 0 of each word says that it is there; whoever reads the
 * descriptor zeroes it. Which word is which, and the bits of operations, are enumerators of the
 * library's headers. The bits inside the words are those of NCCL 2.30,
 * src/include/nccl_device/gin/proxy/gin_proxy_device_host_common.h, versions 1 and 2:
 *
 * <pre>
 *               63                48 47              24 23                8 7    5 4     1 0
 *              +-------------------------------------------------------+---------+-------+-+
 *  HEADER      | bytes, 63:7                                           | reserved| version|1|
 *              +-------------------------------------------------------+---------+-------+-+
 *  KIND        |                                     | operation, 23:8  |                 |1|
 *              +----------------------------------------------------------------------------+
 *  offsets     | value, 63:1; also of windows                                             |1|
 *              +----------------------------------------------------------------------------+
 *  INLINE_LOW  |        | bytes 4 and 5, 55:40 | bytes 0 to 3, 39:8     |                 |1|
 *  INLINE_HIGH |                               | bytes 6 and 7, 23:8     |                 |1|
 *              +--------------------+------------------+-------------------------------+----+
 *  COMPLETION  | value 15:0, 63:48  | signal, 47:24    | counter, 23:1                   |1|
 *              +--------------------+------------------+-------------------------------+----+
 *  VALUE       |        | value 63:32, 55:24           | value 31:16, 23:8 |              |1|
 *              +----------------------------------------------------------------------------+
 * </pre>
 */
public final class GinFormat {
  /** 64-bit words of a descriptor. */
  public static final int WORDS = 16;

  /** The latest version of the bits inside the words. */
  private static final int NEWEST = 2;

  private static final long THERE = 1;

  /** The words. */
  public enum Word {
    HEADER,
    KIND,
    INLINE_LOW,
    INLINE_HIGH,
    SOURCE,
    SOURCE_WINDOW,
    SIGNAL,
    SIGNAL_WINDOW,
    TARGET,
    TARGET_WINDOW,
    COMPLETION,
    VALUE
  }

  /** Properties of an operation, each a bit. */
  public enum Bit {
    PUT,
    INLINE,
    COUNTER,
    INCREMENT,
    ADD,
    SIGNAL_ALONE,
    GET,
    FLUSH
  }

  private final Map<Word, Integer> places;
  private final Map<Bit, Integer> bits;
  private final long[] words = new long[WORDS];

  /**
   * A reader of descriptors.
   *
   * @param places of the words, below {@link #WORDS}
   * @param bits the value of each bit
   */
  public GinFormat(Map<Word, Integer> places, Map<Bit, Integer> bits) {
    this.places = new EnumMap<>(places);
    this.bits = new EnumMap<>(bits);
    if (places.size() != Word.values().length || bits.size() != Bit.values().length) {
      throw new IllegalArgumentException("not every word has a place, or not every bit a value");
    }
  }

  static boolean isThere(long word) {
    return (word & THERE) != 0;
  }

  void set(int index, long word) {
    words[index] = word;
  }

  private long word(Word word) {
    return words[places.getOrDefault(word, 0)];
  }

  /** Returns the version that the header names where it is not known; else 0. */
  int unknownVersion() {
    int version = (int) (word(Word.HEADER) >>> 1) & 0xf;
    return version > NEWEST ? version : 0;
  }

  boolean has(Bit bit) {
    return (word(Word.KIND) >>> 8 & bits.getOrDefault(bit, 0)) != 0;
  }

  int bytes() {
    return Math.toIntExact(word(Word.HEADER) >>> 7);
  }

  /** An offset in a window, or the window's handle. */
  long number(Word word) {
    return word(word) >>> 1;
  }

  long inline() {
    long low = word(Word.INLINE_LOW);
    long high = bytes() > Integer.BYTES + Short.BYTES ? word(Word.INLINE_HIGH) >>> 8 & 0xffff : 0;
    return (low >>> 8 & 0xffff_ffff_ffffL) | high << 48;
  }

  int counter() {
    return (int) (word(Word.COMPLETION) >>> 1) & 0x7f_ffff;
  }

  int signal() {
    return (int) (word(Word.COMPLETION) >>> 24) & 0xff_ffff;
  }

  long value() {
    if (has(Bit.INCREMENT)) {
      return 1;
    }
    long rest = word(Word.VALUE);
    return word(Word.COMPLETION) >>> 48
        | (rest >>> 8 & 0xffff) << 16
        | (rest >>> 24 & 0xffff_ffffL) << 32;
  }
}
