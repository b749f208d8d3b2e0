package dev.doorbell.softhca.requester;

import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.mlx5.InlineSegment;
import dev.doorbell.core.mlx5.MaskedAtomicSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.mlx5.generated.AtomicSegment;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.DatagramSegment;
import dev.doorbell.core.mlx5.generated.MaskedAdd4;
import dev.doorbell.core.mlx5.generated.MaskedAdd8;
import dev.doorbell.core.mlx5.generated.MaskedSwap4;
import dev.doorbell.core.mlx5.generated.MaskedSwap8;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import dev.doorbell.core.mlx5.generated.WaitSegment;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.device.VendorSyndrome;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.objects.SoftMemoryRegion.Rights;
import dev.doorbell.softhca.packet.Wire.Route;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the segments of WQEs into {@link SendRequest}s and checks what the sending side can
 * check: shape, keys, bounds, rights. Fields are copied, so later changes of the WQE have no
 * effect.
 */
final class WqeDecoder {
  private static final int DATAGRAM_UNITS = DatagramSegment.BYTES / SendQueue.UNIT;

  private final QueuePairContext queuePair;
  private final WqeSource wqes;
  private final DatagramRoutes routes;
  private final SoftHcaOptions.Limits limits;

  WqeDecoder(QueuePairContext queuePair, HcaServices hca, WqeSource wqes) {
    this.queuePair = queuePair;
    this.wqes = wqes;
    this.routes = new DatagramRoutes(hca);
    this.limits = hca.options().limits();
  }

  /** True for what this HCA carries out on that transport (InfiniBand, table 38). */
  private static boolean isKnown(int opcode, Transport transport) {
    return switch (opcode) {
      case Opcode.NOP, Opcode.WAIT, Opcode.DUMP, Opcode.SEND, Opcode.SEND_IMM -> true;
      case Opcode.RDMA_WRITE, Opcode.RDMA_WRITE_IMM -> transport != Transport.UD;
      case Opcode.ATOMIC_MASKED_CS, Opcode.ATOMIC_MASKED_FA ->
          transport == Transport.RC || transport == Transport.DC;
      default -> transport != Transport.UC && transport != Transport.UD && isReliable(opcode);
    };
  }

  private static boolean isReliable(int opcode) {
    return switch (opcode) {
      case Opcode.SEND_INVAL, Opcode.RDMA_READ, Opcode.ATOMIC_CS, Opcode.ATOMIC_FA -> true;
      default -> false;
    };
  }

  /** Decodes the segments after the control segment; on an error the request has failed. */
  void decode(SendRequest request) {
    int opcode = request.opcode;
    request.clearPieces();
    request.relaxed = false;
    request.cellBytes = 0;
    if (!isKnown(opcode, queuePair.transport)) {
      request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.BAD_OPCODE);
      return;
    }
    if (opcode == Opcode.NOP) {
      return;
    }
    long index = request.index;
    int unit = 1;
    boolean datagram = queuePair.isDatagram() && isSend(opcode);
    if (datagram || (queuePair.isDynamic() && Opcode.isMessage(opcode))) {
      if (request.ds < 1 + DATAGRAM_UNITS) {
        request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.BAD_LENGTH_FIELD);
        return;
      }
      addressVector(request);
      if (request.phase == SendRequest.Phase.FAILED) {
        return;
      }
      unit = 1 + DATAGRAM_UNITS;
    }
    if (Opcode.hasRemoteAddress(opcode)) {
      if (request.ds <= unit) {
        request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.BAD_LENGTH_FIELD);
        return;
      }
      long segment = wqes.unit(index, unit);
      request.remoteAddress = RemoteAddressSegment.address(segment);
      request.rkey = RemoteAddressSegment.rkey(segment);
      unit++;
    }
    switch (opcode) {
      case Opcode.WAIT -> wait(request);
      case Opcode.ATOMIC_CS, Opcode.ATOMIC_FA, Opcode.ATOMIC_MASKED_CS, Opcode.ATOMIC_MASKED_FA ->
          atomic(request, unit);
      default -> {
        if (!data(request, unit)) {
          return;
        }
        long longest = datagram ? queuePair.mtu() : limits.messageBytes();
        if (request.length > longest) {
          request.fail(Syndrome.LOCAL_LENGTH, VendorSyndrome.MESSAGE_TOO_LONG);
        }
      }
    }
  }

  private static boolean isSend(int opcode) {
    return opcode == Opcode.SEND || opcode == Opcode.SEND_IMM;
  }

  /** The segment ends with the first block: it never runs over the end of the ring. */
  private void addressVector(SendRequest request) {
    long segment = wqes.unit(request.index, 1);
    request.accessKey = DatagramSegment.accessKey(segment);
    if (queuePair.isDynamic() && !DatagramSegment.isExtended(segment)) {
      request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.BAD_SEGMENT);
      return;
    }
    int key = DatagramSegment.queueKey(segment);
    request.queueKey = key < 0 ? queuePair.connection().queueKey() : key;
    request.destination = DatagramSegment.destination(segment);
    request.trafficClass = DatagramSegment.trafficClass(segment);
    request.hopLimit = DatagramSegment.hopLimit(segment);
    request.flowLabel = DatagramSegment.flowLabel(segment);
    request.gidIndex = DatagramSegment.gidIndex(segment);
    request.gidHigh = DatagramSegment.gidHigh(segment);
    request.gidLow = DatagramSegment.gidLow(segment);
    request.route = routes.to(request.gidHigh, request.gidLow);
  }

  private void wait(SendRequest request) {
    if (request.ds < 2) {
      request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.BAD_LENGTH_FIELD);
      return;
    }
    long segment = wqes.unit(request.index, 1);
    request.swapAdd = WaitSegment.maxIndex(segment);
    request.rkey = WaitSegment.cqn(segment);
  }

  private void atomic(SendRequest request, int unit) {
    int opcode = request.opcode;
    boolean masked = opcode == Opcode.ATOMIC_MASKED_CS || opcode == Opcode.ATOMIC_MASKED_FA;
    int cell = masked ? MaskedAtomicSegment.cellBytes(request.opmod) : request.opmod == 0 ? 8 : 0;
    if (cell == 0) {
      request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.BAD_OPCODE);
      return;
    }
    int operandUnits =
        (masked ? MaskedAtomicSegment.bytes(opcode, cell) : AtomicSegment.BYTES)
            >>> SendQueue.UNIT_SHIFT;
    if (request.ds != unit + 1 + operandUnits) {
      request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.BAD_LENGTH_FIELD);
      return;
    }
    request.cellBytes = cell;
    long operands = wqes.unit(request.index, unit);
    request.compareMask = 0;
    request.swapMask = 0;
    request.compare = 0;
    if (!masked) {
      request.swapAdd = AtomicSegment.swapAdd(operands);
      request.compare = AtomicSegment.compare(operands);
    } else {
      maskedOperands(request, operands, cell);
    }
    if (data(request, unit + operandUnits) && request.length != cell) {
      request.fail(Syndrome.LOCAL_LENGTH, VendorSyndrome.MESSAGE_TOO_LONG);
    }
  }

  /** They stand in units 2 and 3, or 5 and 6, so in one block whatever the ring's size. */
  private static void maskedOperands(SendRequest request, long operands, int cell) {
    boolean eight = cell == Long.BYTES;
    if (request.opcode == Opcode.ATOMIC_MASKED_FA) {
      request.swapAdd = eight ? MaskedAdd8.add(operands) : MaskedAdd4.add(operands);
      request.swapMask = eight ? MaskedAdd8.boundary(operands) : MaskedAdd4.boundary(operands);
    } else if (eight) {
      request.swapAdd = MaskedSwap8.swap(operands);
      request.compare = MaskedSwap8.compare(operands);
      request.swapMask = MaskedSwap8.swapMask(operands);
      request.compareMask = MaskedSwap8.compareMask(operands);
    } else {
      request.swapAdd = MaskedSwap4.swap(operands);
      request.compare = MaskedSwap4.compare(operands);
      request.swapMask = MaskedSwap4.swapMask(operands);
      // Zero-extended: the upper half of a 4-byte cell's register does not take part.
      request.compareMask = MaskedSwap4.compareMask(operands) & 0xffff_ffffL;
    }
  }

  /** Data and inline segments, in any order, from {@code unit} to the end of the WQE. */
  private boolean data(SendRequest request, int unit) {
    int opcode = request.opcode;
    boolean scatter = request.hasResponse();
    int rights = scatter ? Rights.LOCAL_WRITE : 0;
    int ds = request.ds;
    int inline = 0;
    for (int at = unit; at < ds; at++) {
      long segment = wqes.unit(request.index, at);
      if (DataSegment.isInline(segment)) {
        int bytes = InlineSegment.byteCount(segment);
        int last = at + InlineSegment.units(bytes) - 1;
        inline += bytes;
        if (scatter || opcode == Opcode.DUMP || last >= ds || inline > limits.inlineBytes()) {
          request.fail(Syndrome.LOCAL_QP_OPERATION, VendorSyndrome.BAD_SEGMENT);
          return false;
        }
        inline(request, segment + InlineSegment.DATA_OFFSET, bytes);
        at = last;
        continue;
      }
      int bytes = DataSegment.byteCount(segment);
      if (bytes == 0) {
        continue;
      }
      long address = DataSegment.address(segment);
      SoftMemoryRegion region = queuePair.regions.find(DataSegment.lkey(segment));
      int refusal =
          region == null
              ? VendorSyndrome.UNKNOWN_KEY
              : region.refusal(queuePair.domain, address, bytes, rights);
      if (region == null || refusal != VendorSyndrome.NONE) {
        request.fail(Syndrome.LOCAL_PROTECTION, refusal);
        return false;
      }
      request.relaxed |= region.relaxed;
      request.addPiece(region.memory(address), bytes);
    }
    return true;
  }

  /** Payload in the WQE; it may run over the end of the ring. */
  private void inline(SendRequest request, long start, int bytes) {
    if (bytes == 0) {
      return;
    }
    int untilEnd = (int) Math.min(bytes, wqes.end() - start);
    request.addInlinePiece(start, untilEnd);
    if (untilEnd < bytes) {
      request.addInlinePiece(wqes.base, bytes - untilEnd);
    }
  }

  /** The routes of a queue pair's datagrams. The last one is cached: most go to the same peer. */
  static final class DatagramRoutes {
    private final HcaServices hca;
    private long lastHigh;
    private long lastLow;
    private @Nullable Route last;

    DatagramRoutes(HcaServices hca) {
      this.hca = hca;
    }

    /** The route to a GID, or null if there is none. */
    @Nullable Route to(long gidHigh, long gidLow) {
      Route route = last;
      if (route == null || gidHigh != lastHigh || gidLow != lastLow) {
        route =
            new Gid(gidHigh, gidLow).isMulticast()
                ? hca.wire().everybody(hca)
                : hca.wire().route(hca, gidHigh, gidLow);
        last = route;
        lastHigh = gidHigh;
        lastLow = gidLow;
      }
      return route;
    }
  }
}
