package dev.doorbell.softhca.responder;

import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.hca.AsyncEvent;
import dev.doorbell.core.roce.Aeth;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.objects.SoftMemoryRegion.Rights;
import dev.doorbell.softhca.packet.PortCounters;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import org.jspecify.annotations.Nullable;

/**
 * Checks a peer's request for memory, in the order of InfiniBand chapter 9.7.4: rights of the queue
 * pair, length, alignment, key, range. Requests that arrive as packets and those that are carried
 * out without packets pass the same checks.
 */
final class RequestChecks {
  private final QueuePairContext queuePair;
  private final long mostBytes;
  private final boolean executesAtomics;
  private final PortCounters counters;

  /** Region of the request that was checked last; null if it was refused or names no byte. */
  @Nullable SoftMemoryRegion region;

  RequestChecks(QueuePairContext queuePair, HcaServices hca) {
    this.queuePair = queuePair;
    this.counters = hca.counters();
    this.mostBytes = hca.options().limits().messageBytes();
    this.executesAtomics = hca.options().promises().atomics() != Promise.Atomics.REFUSED;
  }

  /**
   * Checks a request.
   *
   * @param right the one of {@link Rights} that it needs
   * @return 0, or the syndrome of the NAK
   */
  int check(int rkey, long address, long bytes, int right) {
    region = null;
    boolean atomic = right == Rights.REMOTE_ATOMIC;
    if ((queuePair.rights() & right) == 0
        || bytes > mostBytes
        || (atomic
            && ((bytes != Integer.BYTES && bytes != Long.BYTES) || (address & (bytes - 1)) != 0))) {
      return Aeth.NAK_INVALID_REQUEST;
    }
    if (atomic && !executesAtomics) {
      return Aeth.NAK_REMOTE_OPERATION;
    }
    if (bytes > 0) {
      SoftMemoryRegion found = queuePair.regions.find(rkey);
      if (found == null || found.remoteRefusal(queuePair, address, bytes, right) != 0) {
        return Aeth.NAK_REMOTE_ACCESS;
      }
      region = found;
    }
    return 0;
  }

  /** A request that was not refused has been carried out, or begins to be. */
  void count(int right) {
    counters.add(
        switch (right) {
          case Rights.REMOTE_WRITE -> Counter.RX_WRITE_REQUESTS;
          case Rights.REMOTE_READ -> Counter.RX_READ_REQUESTS;
          default -> Counter.RX_ATOMIC_REQUESTS;
        });
  }

  /** The asynchronous event of a refused request. */
  static AsyncEvent.Type event(int syndrome) {
    return switch (syndrome) {
      case Aeth.NAK_INVALID_REQUEST -> AsyncEvent.Type.QP_REQUEST_ERROR;
      case Aeth.NAK_REMOTE_ACCESS -> AsyncEvent.Type.QP_ACCESS_ERROR;
      default -> AsyncEvent.Type.QP_FATAL;
    };
  }
}
