package dev.doorbell.softhca;

import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.SendQueue;

/**
 * What a software HCA is like. {@link #DEFAULT} resembles a ConnectX; the {@code with} methods give
 * variations of it.
 *
 * @param maxQueuePairs queue pairs open at once
 * @param maxSendBlocks largest send ring in 64-byte blocks, a power of two
 * @param minSendBlocks smallest send ring in 64-byte blocks, a power of two
 * @param maxCompletionEntries largest completion ring, a power of two
 * @param maxInlineBytes largest inline payload
 * @param onChipBytes on-chip memory (MEMIC), bytes
 * @param blueFlameBytes bytes of one BlueFlame half, a power of two up to 1024; 0 for none
 * @param maxMessageBytes largest message
 * @param maxReadAtomic READs and atomics outstanding on a queue pair
 * @param mtu path MTU offered to peers: 256, 512, 1024, 2048 or 4096 bytes
 * @param pipelineDepth WQEs of a queue pair between fetch and emission
 * @param prefetchBlocks largest WQE fetch, in 64-byte blocks
 * @param packets packets in flight from this HCA; more wait
 * @param receiveSegments data segments of a receive WQE, a power of two; shorter lists end with the
 *     invalid lkey
 * @param timing what the stages cost in virtual time
 */
public record SoftHcaOptions(
    int maxQueuePairs,
    int maxSendBlocks,
    int minSendBlocks,
    int maxCompletionEntries,
    int maxInlineBytes,
    long onChipBytes,
    int blueFlameBytes,
    long maxMessageBytes,
    int maxReadAtomic,
    int mtu,
    int pipelineDepth,
    int prefetchBlocks,
    int packets,
    int receiveSegments,
    HcaTiming timing) {

  /** A WQE of 63 units less control segment, remote address and inline header. */
  private static final int LARGEST_INLINE =
      (ControlSegment.MAX_DS - 2) * SendQueue.UNIT - Integer.BYTES;

  /** The usual. */
  public static final SoftHcaOptions DEFAULT =
      new SoftHcaOptions(
          1 << 16,
          SendQueue.MAX_BLOCKS,
          1,
          1 << 22,
          LARGEST_INLINE,
          256 << 10,
          256,
          1L << 30,
          16,
          4096,
          64,
          32,
          1024,
          1,
          HcaTiming.ZERO);

  public SoftHcaOptions {
    require(maxQueuePairs > 0, "maxQueuePairs", maxQueuePairs, "at least 1");
    require(SendQueue.isLegalSize(maxSendBlocks), "maxSendBlocks", maxSendBlocks, POWER);
    require(
        SendQueue.isLegalSize(minSendBlocks) && minSendBlocks <= maxSendBlocks,
        "minSendBlocks",
        minSendBlocks,
        "a power of two up to maxSendBlocks");
    require(
        Integer.bitCount(maxCompletionEntries) == 1 && maxCompletionEntries > 0,
        "maxCompletionEntries",
        maxCompletionEntries,
        "a power of two");
    require(
        maxInlineBytes >= 0 && maxInlineBytes <= LARGEST_INLINE,
        "maxInlineBytes",
        maxInlineBytes,
        "0 to " + LARGEST_INLINE);
    require(onChipBytes >= 0, "onChipBytes", onChipBytes, "0 or more");
    require(
        blueFlameBytes == 0
            || (Integer.bitCount(blueFlameBytes) == 1
                && blueFlameBytes >= SendQueue.BLOCK
                && blueFlameBytes <= Uar.MAX_HALF_BYTES),
        "blueFlameBytes",
        blueFlameBytes,
        "0 or a power of two from 64 to " + Uar.MAX_HALF_BYTES);
    require(
        maxMessageBytes > 0 && maxMessageBytes <= 1L << 30,
        "maxMessageBytes",
        maxMessageBytes,
        "1 to 2^30");
    require(maxReadAtomic > 0, "maxReadAtomic", maxReadAtomic, "at least 1");
    require(isMtu(mtu), "mtu", mtu, "256, 512, 1024, 2048 or 4096");
    require(pipelineDepth > 0, "pipelineDepth", pipelineDepth, "at least 1");
    require(prefetchBlocks > 0, "prefetchBlocks", prefetchBlocks, "at least 1");
    require(packets >= 4, "packets", packets, "at least 4");
    require(
        Integer.bitCount(receiveSegments) == 1 && receiveSegments > 0 && receiveSegments <= 64,
        "receiveSegments",
        receiveSegments,
        "a power of two up to 64");
  }

  private static final String POWER = "a power of two up to " + SendQueue.MAX_BLOCKS;

  private static void require(boolean holds, String name, long value, String legal) {
    if (!holds) {
      throw new IllegalArgumentException(
          "software HCA option %s is %d; it must be %s".formatted(name, value, legal));
    }
  }

  static boolean isMtu(int bytes) {
    return Integer.bitCount(bytes) == 1 && bytes >= 256 && bytes <= Packet.MAX_PAYLOAD;
  }

  /** The same with other stage times. */
  public SoftHcaOptions withTiming(HcaTiming timing) {
    return new SoftHcaOptions(
        maxQueuePairs,
        maxSendBlocks,
        minSendBlocks,
        maxCompletionEntries,
        maxInlineBytes,
        onChipBytes,
        blueFlameBytes,
        maxMessageBytes,
        maxReadAtomic,
        mtu,
        pipelineDepth,
        prefetchBlocks,
        packets,
        receiveSegments,
        timing);
  }

  /** The same with another path MTU in bytes. */
  public SoftHcaOptions withMtu(int mtu) {
    return new SoftHcaOptions(
        maxQueuePairs,
        maxSendBlocks,
        minSendBlocks,
        maxCompletionEntries,
        maxInlineBytes,
        onChipBytes,
        blueFlameBytes,
        maxMessageBytes,
        maxReadAtomic,
        mtu,
        pipelineDepth,
        prefetchBlocks,
        packets,
        receiveSegments,
        timing);
  }

  /** The same with another amount of on-chip memory. */
  public SoftHcaOptions withOnChipBytes(long onChipBytes) {
    return new SoftHcaOptions(
        maxQueuePairs,
        maxSendBlocks,
        minSendBlocks,
        maxCompletionEntries,
        maxInlineBytes,
        onChipBytes,
        blueFlameBytes,
        maxMessageBytes,
        maxReadAtomic,
        mtu,
        pipelineDepth,
        prefetchBlocks,
        packets,
        receiveSegments,
        timing);
  }

  /** The same with other bounds on the engine: WQEs and packets in flight, blocks of a fetch. */
  public SoftHcaOptions withPipeline(int pipelineDepth, int prefetchBlocks, int packets) {
    return new SoftHcaOptions(
        maxQueuePairs,
        maxSendBlocks,
        minSendBlocks,
        maxCompletionEntries,
        maxInlineBytes,
        onChipBytes,
        blueFlameBytes,
        maxMessageBytes,
        maxReadAtomic,
        mtu,
        pipelineDepth,
        prefetchBlocks,
        packets,
        receiveSegments,
        timing);
  }

  /** The same with receive WQEs of another length. */
  public SoftHcaOptions withReceiveSegments(int receiveSegments) {
    return new SoftHcaOptions(
        maxQueuePairs,
        maxSendBlocks,
        minSendBlocks,
        maxCompletionEntries,
        maxInlineBytes,
        onChipBytes,
        blueFlameBytes,
        maxMessageBytes,
        maxReadAtomic,
        mtu,
        pipelineDepth,
        prefetchBlocks,
        packets,
        receiveSegments,
        timing);
  }
}
