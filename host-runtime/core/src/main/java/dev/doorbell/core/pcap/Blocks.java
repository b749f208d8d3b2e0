package dev.doorbell.core.pcap;

/**
 * Block types and options of pcapng.
 *
 * <pre>
 *   31                                                              0
 *  +----------------------------------------------------------------+
 *  | block type                                                     |  0
 *  +----------------------------------------------------------------+
 *  | total length, a multiple of 4                                  |  4
 *  +----------------------------------------------------------------+
 *  | body, options last                                             |  8
 *  +----------------------------------------------------------------+
 *  | total length again                                             |
 *  +----------------------------------------------------------------+
 * </pre>
 *
 * <p>An option is a 16-bit code, a 16-bit length, and a value padded to 4 bytes. The byte order is
 * that of the section header's magic.
 */
final class Blocks {
  static final int SECTION_HEADER = 0x0a0d0d0a;
  static final int INTERFACE_DESCRIPTION = 1;
  static final int SIMPLE_PACKET = 3;
  static final int ENHANCED_PACKET = 6;

  /** First word of a section header's body, as its writer stores integers. */
  static final int BYTE_ORDER_MAGIC = 0x1a2b3c4d;

  /** Type, length, length again. */
  static final int FRAME_BYTES = 12;

  static final int OPTION_END = 0;
  static final int OPTION_COMMENT = 1;

  // Options of a section header.
  static final int OPTION_APPLICATION = 4;

  // Options of an interface description.
  static final int OPTION_NAME = 2;
  static final int OPTION_DESCRIPTION = 3;
  static final int OPTION_TIME_RESOLUTION = 9;
  static final int OPTION_TIME_OFFSET = 14;

  // Options of an enhanced packet.
  static final int OPTION_FLAGS = 2;

  private Blocks() {}

  static int padded(int bytes) {
    return (bytes + 3) & ~3;
  }
}
