package dev.doorbell.softhca.requester;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.softhca.device.VendorSyndrome;
import dev.doorbell.softhca.packet.Packet;

/** DUMP: reads local memory and drops it, which pushes earlier writes to that memory. */
final class LocalRead {
  private static final int MOST_READS = 64;

  private final Runnable onProgress;
  private final RequestRing ring;
  private final DevicePort port;
  private final long target;
  private final Completion completion = this::read;

  /** Outstanding. */
  private int reads;

  /**
   * @param target native address of {@link Packet#MAX_PAYLOAD} bytes whose content is never read
   */
  LocalRead(Runnable onProgress, RequestRing ring, DevicePort port, long target) {
    this.onProgress = onProgress;
    this.ring = ring;
    this.port = port;
    this.target = target;
  }

  /** True when every read that was started has ended. */
  boolean isDone() {
    return reads == 0;
  }

  /**
   * Starts the reads of a request.
   *
   * @return true when all are started
   */
  boolean start(SendRequest request) {
    try {
      while (request.piece < request.pieces) {
        if (reads >= MOST_READS) {
          return false;
        }
        long address = request.pieceAddress[request.piece] + request.pieceOffset;
        int left = request.pieceBytes[request.piece] - request.pieceOffset;
        int bytes = Math.min(left, Packet.MAX_PAYLOAD);
        if (port.map(address, bytes) == 0 && !port.read(address, target, bytes, completion)) {
          reads++;
        }
        request.advance(bytes);
      }
    } catch (AccessFault gone) {
      request.fail(Syndrome.LOCAL_PROTECTION, VendorSyndrome.MEMORY_GONE);
      return false;
    }
    request.phase = SendRequest.Phase.WAITING;
    return true;
  }

  private void read(boolean ok) {
    reads--;
    if (!ok && !ring.isEmpty() && ring.at(ring.oldest).opcode == Opcode.DUMP) {
      ring.at(ring.oldest).fail(Syndrome.LOCAL_PROTECTION, VendorSyndrome.PATH_REFUSED);
    }
    onProgress.run();
  }
}
