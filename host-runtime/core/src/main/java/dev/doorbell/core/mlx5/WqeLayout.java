package dev.doorbell.core.mlx5;

import java.util.ArrayList;
import java.util.List;

/**
 * The segments that a WQE consists of, for printers.
 *
 * @param parts in order, without gaps, up to the end of the WQE
 * @param problem why it is malformed, or empty
 */
record WqeLayout(List<Part> parts, String problem) {

  /** The kinds of segments. */
  enum Kind {
    CONTROL("control segment"),
    REMOTE_ADDRESS("remote address segment"),
    DATA("data segment"),
    INLINE("inline segment"),
    ATOMIC("atomic segment"),
    MASKED_ADD_4("masked fetch-add segment, 4 bytes"),
    MASKED_ADD_8("masked fetch-add segment, 8 bytes"),
    MASKED_SWAP_4("masked compare-and-swap segment, 4 bytes"),
    MASKED_SWAP_8("masked compare-and-swap segments, 8 bytes"),
    WAIT("wait segment"),
    OTHER("other words");

    final String title;

    Kind(String title) {
      this.title = title;
    }
  }

  /** A segment: where it starts in the WQE, and its bytes, padding included. */
  record Part(Kind kind, int offset, int bytes) {}

  /**
   * Divides the WQE at {@code address}.
   *
   * @param available bytes that may be read there, at least 16
   */
  static WqeLayout of(long address, int available) {
    List<Part> parts = new ArrayList<>();
    parts.add(new Part(Kind.CONTROL, 0, ControlSegment.BYTES));
    int opcode = ControlSegment.opcode(address);
    int bytes = ControlSegment.ds(address) * SendQueue.UNIT;
    if (bytes < ControlSegment.BYTES) {
      return new WqeLayout(parts, "ds=0 does not cover the control segment");
    }
    int end = Math.min(bytes, available);
    String problem =
        end < bytes ? "the WQE has %d bytes, only %d are here".formatted(bytes, end) : "";
    int at = ControlSegment.BYTES;
    for (Kind kind : fixedKinds(opcode, ControlSegment.opmod(address))) {
      int length =
          kind == Kind.MASKED_SWAP_8
              ? MaskedAtomicSegment.COMPARE_SWAP_8_BYTES
              : ControlSegment.BYTES;
      if (at + length > end) {
        return new WqeLayout(parts, problem.isEmpty() ? tooShort(opcode, kind, end) : problem);
      }
      parts.add(new Part(kind, at, length));
      at += length;
    }
    if (!hasData(opcode)) {
      if (at < end) {
        parts.add(new Part(Kind.OTHER, at, end - at));
      }
      return new WqeLayout(parts, problem);
    }
    while (at < end) {
      int length = SendQueue.UNIT;
      Kind kind = Kind.DATA;
      if (DataSegment.isInline(address + at)) {
        kind = Kind.INLINE;
        int wanted = InlineSegment.bytes(InlineSegment.byteCount(address + at));
        length = wanted <= 0 ? end - at : Math.min(wanted, end - at);
        if (length != wanted && problem.isEmpty()) {
          problem =
              "%d inline bytes do not fit the WQE".formatted(InlineSegment.byteCount(address + at));
        }
      }
      parts.add(new Part(kind, at, length));
      at += length;
    }
    return new WqeLayout(parts, problem);
  }

  private static String tooShort(int opcode, Kind kind, int end) {
    return "ds=%d is too short for the %s of %s"
        .formatted(end / SendQueue.UNIT, kind.title, Opcode.name(opcode));
  }

  private static boolean hasData(int opcode) {
    return switch (opcode) {
      case Opcode.SEND, Opcode.SEND_IMM, Opcode.SEND_INVAL, Opcode.DUMP -> true;
      default -> Opcode.hasRemoteAddress(opcode);
    };
  }

  private static List<Kind> fixedKinds(int opcode, int opmod) {
    boolean wide = MaskedAtomicSegment.cellBytes(opmod) != Integer.BYTES;
    return switch (opcode) {
      case Opcode.RDMA_WRITE, Opcode.RDMA_WRITE_IMM, Opcode.RDMA_READ ->
          List.of(Kind.REMOTE_ADDRESS);
      case Opcode.ATOMIC_CS, Opcode.ATOMIC_FA -> List.of(Kind.REMOTE_ADDRESS, Kind.ATOMIC);
      case Opcode.ATOMIC_MASKED_FA ->
          List.of(Kind.REMOTE_ADDRESS, wide ? Kind.MASKED_ADD_8 : Kind.MASKED_ADD_4);
      case Opcode.ATOMIC_MASKED_CS ->
          List.of(Kind.REMOTE_ADDRESS, wide ? Kind.MASKED_SWAP_8 : Kind.MASKED_SWAP_4);
      case Opcode.WAIT -> List.of(Kind.WAIT);
      default -> List.of();
    };
  }
}
