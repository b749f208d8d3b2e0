package dev.doorbell.core.roce.generated;

import dev.doorbell.core.memory.BigEndian;
import javax.annotation.processing.Generated;

/**
 * The ACK extended transport header (chapter 9.7.5).
 *
 * <p>Written by FormatsTest from src/main/formats/roce.txt.
 */
@Generated("FormatsTest")
public class AethFields {
  /** Bytes of the structure. */
  public static final int BYTES = 4;

  /** An ACK without end-to-end credits. */
  public static final int ACK = 0x1f;

  /** An RNR NAK; or-ed with the code of the timer. */
  public static final int RNR_NAK = 0x20;

  public static final int NAK_SEQUENCE = 0x60;

  public static final int NAK_INVALID_REQUEST = 0x61;

  public static final int NAK_REMOTE_ACCESS = 0x62;

  public static final int NAK_REMOTE_OPERATION = 0x63;

  public static final int NAK_INVALID_RD_REQUEST = 0x64;

  /** The fields that {@code FieldTable.rows} shows. */
  public static final String ROWS =
"""
0 31 24 AETH syndrome|
0 23 0 MSN|messages carried out
""";

  protected AethFields() {}

  /** Kind in bits 6:5, value in bits 4:0. */
  public static int syndrome(long at) {
    return BigEndian.getInt(at) >>> 24;
  }

  /** The responder's count of messages that it has carried out, 24 bits. */
  public static int msn(long at) {
    return BigEndian.getInt(at) & 0xffffff;
  }

  /** Writes all 4 bytes. */
  public static void write(long at, int syndrome, int msn) {
    BigEndian.putInt(at, syndrome << 24 | (msn & 0xffffff));
  }

  /** Names a NAK. */
  public static String text(int code) {
    return switch (code) {
      case NAK_SEQUENCE -> "NAK, packet sequence error";
      case NAK_INVALID_REQUEST -> "NAK, invalid request";
      case NAK_REMOTE_ACCESS -> "NAK, remote access error";
      case NAK_REMOTE_OPERATION -> "NAK, remote operational error";
      case NAK_INVALID_RD_REQUEST -> "NAK, invalid RD request";
      default -> "reserved syndrome 0x%02x".formatted(code);
    };
  }
}
