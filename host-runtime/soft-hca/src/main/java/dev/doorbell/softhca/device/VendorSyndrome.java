package dev.doorbell.softhca.device;

/**
 * The vendor syndrome of error CQEs that this HCA writes: which of the checks behind a syndrome
 * failed.
 */
public final class VendorSyndrome {
  public static final int NONE = 0;
  public static final int BAD_OPCODE = 0x51;
  public static final int BAD_LENGTH_FIELD = 0x52;
  public static final int INDEX_MISMATCH = 0x53;
  public static final int NUMBER_MISMATCH = 0x54;
  public static final int BAD_SEGMENT = 0x55;
  public static final int UNKNOWN_QUEUE = 0x56;
  public static final int FETCH_REFUSED = 0x57;
  public static final int MESSAGE_TOO_LONG = 0x58;
  public static final int UNKNOWN_KEY = 0x61;
  public static final int WRONG_DOMAIN = 0x62;
  public static final int OUT_OF_BOUNDS = 0x63;
  public static final int MISSING_RIGHT = 0x64;
  public static final int PATH_REFUSED = 0x65;
  public static final int MEMORY_GONE = 0x66;
  public static final int INJECTED = 0x7f;

  private VendorSyndrome() {}

  /** Describes what failed in a few words. */
  public static String describe(int vendorSyndrome) {
    return switch (vendorSyndrome) {
      case NONE -> "no details";
      case BAD_OPCODE -> "the opcode is none that this HCA carries out";
      case BAD_LENGTH_FIELD -> "DS is 0, too small for the opcode, or runs past the doorbell";
      case INDEX_MISMATCH -> "the WQE's index field is not the index of its place in the ring";
      case NUMBER_MISMATCH -> "the WQE names another queue pair";
      case BAD_SEGMENT -> "a segment is of a kind that the opcode does not allow";
      case UNKNOWN_QUEUE -> "no completion queue has the number to wait for";
      case FETCH_REFUSED -> "the path from the HCA to the send ring refuses reads";
      case MESSAGE_TOO_LONG -> "the message is longer than the HCA or the peer's buffer takes";
      case UNKNOWN_KEY -> "no region has this key";
      case WRONG_DOMAIN -> "the region belongs to another protection domain";
      case OUT_OF_BOUNDS -> "the range is not inside the region";
      case MISSING_RIGHT -> "the region does not allow this access";
      case PATH_REFUSED -> "the path from the HCA to the payload refuses reads";
      case MEMORY_GONE -> "the registered memory was freed";
      case INJECTED -> "a fault plan asked for it";
      default -> "unknown vendor syndrome 0x%02x".formatted(vendorSyndrome);
    };
  }
}
