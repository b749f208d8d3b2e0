package dev.doorbell.core.mlx5;

import dev.doorbell.core.mlx5.generated.DoorbellLayout;
import dev.doorbell.core.mlx5.generated.RecordLayout;
import dev.doorbell.core.print.FieldTable;
import dev.doorbell.core.print.Scratch;
import java.util.Map;

/** Doorbells and doorbell records for people. */
public final class DoorbellPrinter {
  private DoorbellPrinter() {}

  /**
   * One line for a send doorbell.
   *
   * @param value as {@link Doorbell#encode} gives it
   */
  public static String line(long value) {
    return "doorbell qpn=0x%06x index=%d".formatted(Doorbell.qpn(value), Doorbell.index(value));
  }

  /**
   * One line for the doorbell record of a queue pair.
   *
   * @param record its native address
   */
  public static String recordLine(long record) {
    return "doorbell record receive=%d send=%d"
        .formatted(DoorbellRecord.receiveIndex(record), DoorbellRecord.sendIndex(record));
  }

  /** The words of a send doorbell with every bit field named; lines end with a line feed. */
  public static String full(long value) {
    byte[] bytes = new byte[Doorbell.BYTES];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (value >>> (Byte.SIZE * i));
    }
    return Scratch.with(
        bytes,
        address ->
            new FieldTable(address)
                .title(line(value))
                .rows(0, DoorbellLayout.ROWS, Map.of())
                .toString());
  }

  /** The words of a queue pair's doorbell record; lines end with a line feed. */
  public static String fullRecord(long record) {
    return new FieldTable(record)
        .title(recordLine(record))
        .rows(0, RecordLayout.ROWS, Map.of())
        .toString();
  }
}
