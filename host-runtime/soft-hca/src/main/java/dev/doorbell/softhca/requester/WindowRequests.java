package dev.doorbell.softhca.requester;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.MemoryKeySegment;
import dev.doorbell.core.mlx5.generated.UmrControlSegment;
import dev.doorbell.softhca.device.VendorSyndrome;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.objects.SoftMemoryWindow;
import java.util.EnumSet;
import java.util.Set;

/**
 * Binds memory windows and frees them: UMR work requests as libmlx5 writes them for BIND_MW and
 * LOCAL_INV. Keys that list memory in several pieces are not implemented.
 */
final class WindowRequests {
  private static final int CONTROL = 1;
  private static final int KEY = CONTROL + UmrControlSegment.BYTES / SendQueue.UNIT;
  private static final int LIST = KEY + MemoryKeySegment.BYTES / SendQueue.UNIT;

  private final QueuePairContext queuePair;
  private final WqeSource wqes;

  WindowRequests(QueuePairContext queuePair, WqeSource wqes) {
    this.queuePair = queuePair;
    this.wqes = wqes;
  }

  /** Carries out a request, which is done or has failed then. */
  void execute(SendRequest request) {
    if (request.ds < LIST) {
      request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.BAD_LENGTH_FIELD);
      return;
    }
    SoftMemoryRegion named = queuePair.regions.findIndex(request.immediate);
    SoftMemoryWindow window = named == null ? null : named.window();
    int refusal =
        window == null
            ? VendorSyndrome.UNKNOWN_KEY
            : execute(request, window, wqes.unit(request.index, KEY));
    if (refusal == VendorSyndrome.NONE) {
      request.phase = SendRequest.Phase.DONE;
    } else {
      request.fail(Syndrome.MEMORY_WINDOW_BIND, refusal);
    }
  }

  private int execute(SendRequest request, SoftMemoryWindow window, long key) {
    if (MemoryKeySegment.isFree(key)) {
      if (!window.mayFree(queuePair)) {
        return VendorSyndrome.WRONG_DOMAIN;
      }
      window.free(MemoryKeySegment.variant(key));
      return VendorSyndrome.NONE;
    }
    int flags = UmrControlSegment.flags(wqes.unit(request.index, CONTROL));
    boolean hasList = (flags & UmrControlSegment.INLINE) != 0 && request.ds > LIST;
    boolean mustBeFree = window.isSecondType() || (flags & UmrControlSegment.CHECK_FREE) != 0;
    if (!hasList || (mustBeFree && !window.isFree())) {
      return hasList ? VendorSyndrome.MISSING_RIGHT : VendorSyndrome.BAD_SEGMENT;
    }
    long list = wqes.unit(request.index, LIST);
    SoftMemoryRegion region = queuePair.regions.find(DataSegment.lkey(list));
    if (region == null) {
      return VendorSyndrome.UNKNOWN_KEY;
    }
    int user = window.isSecondType() ? queuePair.number : MemoryKeySegment.ANY_QUEUE_PAIR;
    if (MemoryKeySegment.queuePair(key) != user) {
      return VendorSyndrome.NUMBER_MISMATCH;
    }
    return window.bind(
        queuePair,
        region,
        MemoryKeySegment.variant(key),
        MemoryKeySegment.startAddress(key),
        DataSegment.address(list),
        MemoryKeySegment.length(key),
        rights(MemoryKeySegment.access(key)));
  }

  private static Set<AccessRight> rights(int access) {
    Set<AccessRight> rights = EnumSet.noneOf(AccessRight.class);
    if ((access & MemoryKeySegment.REMOTE_READ) != 0) {
      rights.add(AccessRight.REMOTE_READ);
    }
    if ((access & MemoryKeySegment.REMOTE_WRITE) != 0) {
      rights.add(AccessRight.REMOTE_WRITE);
    }
    if ((access & MemoryKeySegment.ATOMIC) != 0) {
      rights.add(AccessRight.REMOTE_ATOMIC);
    }
    return rights;
  }
}
