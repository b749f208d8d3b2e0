package dev.doorbell.softhca.device;

import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.mlx5.generated.VendorTable;

/** Vendor codes of error CQEs that this HCA writes, rows of the one table of errors. */
public final class VendorSyndrome extends VendorTable {
  private VendorSyndrome() {}

  /** Returns the code that a ConnectX gives with a syndrome; 0 where none is known. */
  public static int of(int syndrome) {
    return switch (syndrome) {
      case Syndrome.TRANSPORT_RETRY_EXCEEDED -> PEER_SILENT;
      case Syndrome.RNR_RETRY_EXCEEDED -> RECEIVER_NOT_READY;
      case Syndrome.REMOTE_ACCESS -> PEER_REFUSED_ACCESS;
      case Syndrome.REMOTE_OPERATION -> PEER_FAILED;
      case Syndrome.REMOTE_INVALID_REQUEST -> PEER_REFUSED_REQUEST;
      case Syndrome.LOCAL_LENGTH -> TOO_LONG;
      case Syndrome.FLUSHED -> FLUSHED;
      default -> NONE;
    };
  }
}
