package dev.doorbell.core.mlx5;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.mlx5.generated.AtomicSegment;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.DatagramSegment;
import dev.doorbell.core.mlx5.generated.EthernetFields;
import dev.doorbell.core.mlx5.generated.MaskedAdd4;
import dev.doorbell.core.mlx5.generated.MaskedAdd8;
import dev.doorbell.core.mlx5.generated.MaskedSwap4;
import dev.doorbell.core.mlx5.generated.MaskedSwap8;
import dev.doorbell.core.mlx5.generated.MemoryKeySegment;
import dev.doorbell.core.mlx5.generated.MmoSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import dev.doorbell.core.mlx5.generated.UmrControlSegment;
import dev.doorbell.core.mlx5.generated.WaitSegment;
import dev.doorbell.core.mlx5.generated.XrcSegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;

/**
 * The segments that a WQE consists of, for printers.
 *
 * @param parts in order, without gaps, up to the end of the WQE
 * @param problem why it is malformed, or empty
 */
record WqeLayout(List<Part> parts, String problem) {

  enum Kind {
    CONTROL("control segment"),
    REMOTE_ADDRESS("remote address segment", RemoteAddressSegment.ROWS, RemoteAddressSegment::line),
    DATA("data segment", DataSegment.ROWS, DataSegment::line),
    INLINE("inline segment"),
    ATOMIC("atomic segment", AtomicSegment.ROWS, AtomicSegment::line),
    MASKED_ADD_4("masked fetch-add segment, 4 bytes", MaskedAdd4.ROWS, MaskedAdd4::line),
    MASKED_ADD_8("masked fetch-add segment, 8 bytes", MaskedAdd8.ROWS, MaskedAdd8::line),
    MASKED_SWAP_4("masked compare-and-swap segment, 4 bytes", MaskedSwap4.ROWS, MaskedSwap4::line),
    MASKED_SWAP_8("masked compare-and-swap segments, 8 bytes", MaskedSwap8.ROWS, MaskedSwap8::line),
    WAIT("wait segment", WaitSegment.ROWS, WaitSegment::line),
    DATAGRAM("address vector", DatagramSegment.ROWS, DatagramSegment::line),
    SHORT_VECTOR("short address vector"),
    ETHERNET("Ethernet segment", EthernetFields.ROWS, EthernetFields::line),
    XRC("XRC segment", XrcSegment.ROWS, XrcSegment::line),
    UMR("UMR control segment", UmrControlSegment.ROWS, UmrControlSegment::line),
    MKEY("memory key segment", MemoryKeySegment.ROWS, MemoryKeySegment::line),
    MMO("MMO segment", MmoSegment.ROWS, MmoSegment::line),
    OTHER("other words");

    final String title;
    final String rows;

    @SuppressWarnings("ImmutableEnumChecker") // a static method
    final LongFunction<String> line;

    Kind(String title) {
      this(title, "", at -> "");
    }

    Kind(String title, String rows, LongFunction<String> line) {
      this.title = title;
      this.rows = rows;
      this.line = line;
    }
  }

  /** A segment: where it starts in the WQE, and its bytes, padding included. */
  record Part(Kind kind, int offset, int bytes) {}

  /**
   * Divides the WQE at {@code address}.
   *
   * @param available bytes that may be read there, at least 16
   */
  static WqeLayout of(long address, int available, WqeQueue queue) {
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
    String segments = Opcode.segments(opcode);
    for (Kind each : fixedKinds(address, segments, queue)) {
      Kind kind =
          each == Kind.DATAGRAM && at + SendQueue.UNIT <= end && isShort(address + at)
              ? Kind.SHORT_VECTOR
              : each;
      int length = at + SendQueue.UNIT > end ? SendQueue.UNIT : bytes(kind, address + at);
      if (at + length > end) {
        return new WqeLayout(
            parts, problem.isEmpty() ? tooShort(opcode, kind, bytes / SendQueue.UNIT) : problem);
      }
      parts.add(new Part(kind, at, length));
      at += length;
    }
    if (!segments.endsWith("data")) {
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

  /** Returns the number of fields whose content is unlikely; reading by the right queue has few. */
  int oddities(long wqe, WqeQueue queue) {
    int odd = 0;
    for (Part part : parts) {
      long at = wqe + part.offset;
      odd +=
          switch (part.kind) {
            case REMOTE_ADDRESS ->
                unlikely(RemoteAddressSegment.address(at))
                    + (BigEndian.getInt(at + 12) == 0 ? 0 : 1);
            case DATA ->
                unlikely(DataSegment.address(at)) + (DataSegment.byteCount(at) == 0 ? 1 : 0);
            case DATAGRAM ->
                (DatagramSegment.reserved(at) == 0 ? 0 : 2)
                    + (DatagramSegment.hasGlobalRoute(at) ? 0 : 1)
                    + oddKey(at, queue);
            case SHORT_VECTOR -> 1 + oddKey(at, queue);
            case ETHERNET ->
                BigEndian.getInt(at) == 0 && (EthernetFields.checksums(at) & 0x3f) == 0 ? 0 : 2;
            case XRC ->
                XrcSegment.sharedQueue(at) != 0 && BigEndian.getLong(at + Long.BYTES) == 0 ? 0 : 2;
            default -> 0;
          };
    }
    return odd;
  }

  /** A Q_Key has a reserved word behind it; the lower half of a DC access key is there. */
  private static int oddKey(long vector, WqeQueue queue) {
    return (BigEndian.getInt(vector + Integer.BYTES) == 0) == (queue == WqeQueue.DC) ? 1 : 0;
  }

  /** Addresses of processes and GPUs have 48 to 57 bits. */
  private static int unlikely(long address) {
    return address >>> 57 == 0 && address != 0 ? 0 : 1;
  }

  private static boolean isShort(long vector) {
    return !DatagramSegment.isExtended(vector);
  }

  private static int bytes(Kind kind, long at) {
    return switch (kind) {
      case MASKED_SWAP_8 -> MaskedSwap8.BYTES;
      case DATAGRAM -> DatagramSegment.BYTES;
      case ETHERNET ->
          EthernetSegment.units(Math.max(2, EthernetFields.headerBytes(at))) * SendQueue.UNIT;
      case UMR -> UmrControlSegment.BYTES;
      case MKEY -> MemoryKeySegment.BYTES;
      default -> SendQueue.UNIT;
    };
  }

  private static String tooShort(int opcode, Kind kind, int ds) {
    return "ds=%d is too short for the %s of %s".formatted(ds, kind.title, Opcode.name(opcode));
  }

  /** Returns the segments before the data, by the queue and the table of opcodes. */
  private static List<Kind> fixedKinds(long wqe, String segments, WqeQueue queue) {
    int opcode = ControlSegment.opcode(wqe);
    boolean wide = MaskedAtomicSegment.cellBytes(ControlSegment.opmod(wqe)) != Integer.BYTES;
    List<Kind> kinds = new ArrayList<>();
    if (opcode == Opcode.TSO || opcode == Opcode.ENHANCED_MPSW) {
      kinds.add(Kind.ETHERNET);
    } else if (Opcode.isMessage(opcode) && queue.first != null) {
      kinds.add(queue.first);
    }
    for (String segment : segments.split(" ", -1)) {
      switch (segment) {
        case "remote" -> kinds.add(Kind.REMOTE_ADDRESS);
        case "atomic" -> kinds.add(Kind.ATOMIC);
        case "add" -> kinds.add(wide ? Kind.MASKED_ADD_8 : Kind.MASKED_ADD_4);
        case "swap" -> kinds.add(wide ? Kind.MASKED_SWAP_8 : Kind.MASKED_SWAP_4);
        case "wait" -> kinds.add(Kind.WAIT);
        case "umr" -> kinds.add(Kind.UMR);
        case "mkey" -> kinds.add(Kind.MKEY);
        case "mmo" -> kinds.add(Kind.MMO);
        default -> {
          // Data follow, or nothing.
        }
      }
    }
    return kinds;
  }
}
