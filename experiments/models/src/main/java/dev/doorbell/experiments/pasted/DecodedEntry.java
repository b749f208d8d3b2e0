package dev.doorbell.experiments.pasted;

import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.CqePrinter;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellPrinter;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.mlx5.WqePrinter;
import dev.doorbell.core.mlx5.WqeQueue;
import dev.doorbell.core.mlx5.generated.StatusTable;
import dev.doorbell.core.mlx5.generated.VendorTable;
import dev.doorbell.core.print.Scratch;
import dev.doorbell.doctor.log.CompletionError;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** One WQE, CQE, doorbell or doorbell record after decoding, in one line and whole. */
public record DecodedEntry(int offset, String text, String detail, boolean malformed) {
  /** Bytes at the end of a CQE, which alone are pasted now and then. */
  private static final int TAIL = 16;

  private static final int ERROR_OPCODE = 13;
  private static final int LAST_OPCODE = 6;
  private static final int SYNDROME = 0x37;
  private static final int VENDOR = 0x36;

  /** Returns the bytes with what was left out before them: of a CQE, all but the last 16. */
  public static byte[] whole(String format, byte[] bytes) {
    if (!format.equals("cqe") || bytes.length != TAIL) {
      return bytes;
    }
    byte[] whole = new byte[Cqe.BYTES];
    System.arraycopy(bytes, 0, whole, Cqe.BYTES - TAIL, TAIL);
    return whole;
  }

  /** Returns the fewest bytes of an entry. */
  public static int smallest(String format) {
    return switch (format) {
      case "wqe" -> ControlSegment.BYTES;
      case "cqe" -> Cqe.BYTES;
      case "dbr" -> DoorbellRecord.BYTES;
      default -> Doorbell.BYTES;
    };
  }

  /** Bytes of the entry at {@code at}: a WQE says its own, rounded up to whole blocks. */
  private static int size(String format, byte[] bytes, int at) {
    int left = bytes.length - at;
    boolean blueFlame = format.equals("uar") && bytes.length >= SendQueue.BLOCK;
    if (!format.equals("wqe") && !blueFlame) {
      return smallest(format);
    }
    if (left < ControlSegment.BYTES) {
      return left;
    }
    byte[] control = Arrays.copyOfRange(bytes, at, at + ControlSegment.BYTES);
    int ds = Scratch.with(control, ControlSegment::ds);
    return Math.max(1, SendQueue.blocks(ds)) * SendQueue.BLOCK;
  }

  /** Returns the bytes at the end that are too few for an entry. */
  public static int left(String format, byte[] bytes) {
    int at = 0;
    while (bytes.length - at >= smallest(format)) {
      at += Math.min(size(format, bytes, at), bytes.length - at);
    }
    return bytes.length - at;
  }

  /**
   * Decodes entries that follow each other, up to what is too short for one.
   *
   * @param queue kind of the WQEs' queue pair; empty for the one that fits
   */
  public static List<DecodedEntry> all(String format, byte[] bytes, String queue) {
    List<DecodedEntry> entries = new ArrayList<>();
    int at = 0;
    while (bytes.length - at >= smallest(format)) {
      int size = Math.min(size(format, bytes, at), bytes.length - at);
      entries.add(of(format, at, Arrays.copyOfRange(bytes, at, at + size), queue));
      at += size;
    }
    return entries;
  }

  /**
   * Decodes an entry.
   *
   * @param queue kind of a WQE's queue pair; empty for the one that fits
   */
  private static DecodedEntry of(String format, int at, byte[] bytes, String queue) {
    return switch (format) {
      case "wqe" -> wqe(at, bytes, queue);
      case "cqe" -> cqe(at, bytes);
      case "dbr" ->
          new DecodedEntry(
              at,
              Scratch.with(bytes, DoorbellPrinter::recordLine),
              Scratch.with(bytes, DoorbellPrinter::fullRecord),
              false);
      default -> bytes.length >= ControlSegment.BYTES ? wqe(at, bytes, queue) : doorbell(at, bytes);
    };
  }

  /** A CQE; of one in error the cause and the vendor's code, too. */
  private static DecodedEntry cqe(int at, byte[] bytes) {
    String detail = CqePrinter.full(bytes);
    if (isError(bytes)) {
      int status = CompletionError.byName(Syndrome.status(bytes[SYNDROME] & 0xff));
      int vendor = bytes[VENDOR] & 0xff;
      detail +=
          "status  %s%n".formatted(new CompletionError(status, vendor).text())
              + "means   %s%nfix     %s%n"
                  .formatted(StatusTable.cause(status), StatusTable.fix(status));
    }
    return new DecodedEntry(at, CqePrinter.line(bytes), detail, false);
  }

  private static DecodedEntry wqe(int at, byte[] bytes, String kind) {
    List<WqeQueue> fitting =
        kind.isEmpty()
            ? WqeQueue.fitting(bytes)
            : List.of(WqeQueue.valueOf(kind.toUpperCase(Locale.ROOT)));
    WqeQueue queue = fitting.isEmpty() ? WqeQueue.RC : fitting.getFirst();
    String line = WqePrinter.line(bytes, queue);
    String others =
        fitting.size() < 2
            ? ""
            : "read as of %s; it would be well formed as of %s, too (--qp)%n"
                .formatted(queue, fitting.subList(1, fitting.size()));
    String detail = WqePrinter.full(bytes, queue) + (queue == WqeQueue.RC ? "" : others);
    return new DecodedEntry(at, line, detail, line.contains("MALFORMED"));
  }

  private static DecodedEntry doorbell(int at, byte[] bytes) {
    long value = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
    return new DecodedEntry(at, DoorbellPrinter.line(value), DoorbellPrinter.full(value), false);
  }

  private static boolean isError(byte[] cqe) {
    int opcode = (cqe[cqe.length - 1] & 0xff) >>> 4;
    return opcode == ERROR_OPCODE || opcode == ERROR_OPCODE + 1;
  }

  /** Returns cqe, wqe or dbr: what these bytes seem to be. */
  public static String guess(byte[] bytes) {
    if (bytes.length == Doorbell.BYTES) {
      return "dbr";
    }
    boolean cqes = bytes.length % Cqe.BYTES == 0;
    for (int at = 0; cqes && at < bytes.length; at += Cqe.BYTES) {
      cqes = isCqe(Arrays.copyOfRange(bytes, at, at + Cqe.BYTES));
    }
    byte[] tail = whole("cqe", bytes);
    if (cqes || (bytes.length == TAIL && isError(tail) && isCqe(tail))) {
      return "cqe";
    }
    return bytes.length >= ControlSegment.BYTES && !WqeQueue.fitting(bytes).isEmpty() ? "wqe" : "";
  }

  private static boolean isCqe(byte[] cqe) {
    int opcode = (cqe[cqe.length - 1] & 0xff) >>> 4;
    if (isError(cqe)) {
      return !Syndrome.name(cqe[SYNDROME] & 0xff).startsWith("unknown")
          || !VendorTable.status(cqe[VENDOR] & 0xff).isEmpty();
    }
    boolean startsAsWqe = WqeQueue.fitting(cqe).isEmpty() || cqe[3] == 0;
    return opcode <= LAST_OPCODE && startsAsWqe && (cqe[0x3a] | cqe[0x3b] | cqe[0x39]) != 0;
  }
}
