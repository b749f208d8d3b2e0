package dev.doorbell.softhca.device;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.softhca.congestion.CongestionOptions;
import dev.doorbell.softhca.packet.Packet;

/**
 * Options of a software HCA. {@link #DEFAULT} resembles a ConnectX; the {@code with} methods give
 * variations of it.
 *
 * @param limits what it admits
 * @param engine how much it does at once
 * @param timing what the stages cost in virtual time
 * @param randomNumbers memory keys and first PSNs are random, so that clients of one HCA cannot
 *     guess each other's; else they repeat from run to run
 * @param timestamps completions carry the fabric's time in nanoseconds; else 0, so that they repeat
 *     from run to run
 * @param adapter what it promises
 * @param congestion what it does about congestion
 */
public record SoftHcaOptions(
    Limits limits,
    Engine engine,
    HcaTiming timing,
    boolean randomNumbers,
    boolean timestamps,
    Adapter adapter,
    CongestionOptions congestion) {
  /** A WQE of 63 units less control segment, remote address and inline header. */
  private static final int LARGEST_INLINE =
      (ControlSegment.MAX_DS - 2) * SendQueue.UNIT - Integer.BYTES;

  private static final int SMALLEST_MTU = 256;

  /** A BlueFlame half may not reach the end of its page. */
  public static final int MAX_BLUE_FLAME_BYTES = 1024;

  public static final SoftHcaOptions DEFAULT =
      new SoftHcaOptions(
          Limits.DEFAULT,
          Engine.DEFAULT,
          HcaTiming.ZERO,
          false,
          false,
          Adapter.DEFAULT,
          CongestionOptions.NONE);

  /**
   * Limits of an HCA.
   *
   * @param queuePairs queue pairs open at once
   * @param minSendBlocks smallest send ring in 64-byte blocks, a power of two
   * @param maxSendBlocks largest send ring in 64-byte blocks, a power of two
   * @param completionEntries largest completion ring, a power of two
   * @param inlineBytes largest inline payload
   * @param onChipBytes on-chip memory (MEMIC)
   * @param blueFlameBytes bytes of one BlueFlame half, a power of two from 64 to 1024; 0 for none
   * @param messageBytes largest message
   * @param readAtomic READs and atomics outstanding on a queue pair
   * @param receiveSegments data segments of a receive WQE, a power of two; shorter lists end with
   *     the invalid lkey
   */
  public record Limits(
      int queuePairs,
      int minSendBlocks,
      int maxSendBlocks,
      int completionEntries,
      int inlineBytes,
      long onChipBytes,
      int blueFlameBytes,
      long messageBytes,
      int readAtomic,
      int receiveSegments) {

    /** Those of the usual ConnectX, as far as a process cares. */
    public static final Limits DEFAULT =
        new Limits(
            1 << 16,
            1,
            SendQueue.MAX_BLOCKS,
            1 << 22,
            LARGEST_INLINE,
            256 << 10,
            256,
            1L << 30,
            16,
            1);
  }

  /**
   * Work that the engine does at once.
   *
   * @param mtu path MTU offered to peers: 256, 512, 1024, 2048 or 4096 bytes
   * @param pipelineDepth WQEs of a queue pair between fetch and emission
   * @param prefetchBlocks largest WQE fetch, in 64-byte blocks
   * @param packets packets of requests and acknowledgements in flight from this HCA; more wait.
   *     Answers to READs and atomics have an eighth more
   * @param firstRetryNanos 0: what was not acknowledged comes again whenever a connection's timeout
   *     has passed. Else it comes again sooner, after what round trips have taken and this at
   *     least, then after twice as long each time up to the timeout, and only whole timeouts count
   *     against the connection's retries
   */
  public record Engine(
      int mtu, int pipelineDepth, int prefetchBlocks, int packets, long firstRetryNanos) {
    /** Enough for 4 MiB in flight. */
    public static final Engine DEFAULT = new Engine(Packet.MAX_PAYLOAD, 64, 32, 1024);

    public Engine {
      if (!isMtu(mtu)) {
        throw new IllegalArgumentException(
            "software HCA option mtu is %d; it must be 256, 512, 1024, 2048 or 4096"
                .formatted(mtu));
      }
    }

    /** One that repeats after timeouts alone. */
    public Engine(int mtu, int pipelineDepth, int prefetchBlocks, int packets) {
      this(mtu, pipelineDepth, prefetchBlocks, packets, 0);
    }

    /** A path MTU that InfiniBand defines. */
    public static boolean isMtu(int bytes) {
      return Integer.bitCount(bytes) == 1 && bytes >= SMALLEST_MTU && bytes <= Packet.MAX_PAYLOAD;
    }

    /** The same with another MTU. */
    public Engine withMtu(int bytes) {
      return new Engine(bytes, pipelineDepth, prefetchBlocks, packets, firstRetryNanos);
    }

    public Engine withFirstRetry(long nanos) {
      return new Engine(mtu, pipelineDepth, prefetchBlocks, packets, nanos);
    }
  }

  public Promises promises() {
    return adapter.promises();
  }

  /** The same with other stage times. */
  public SoftHcaOptions withTiming(HcaTiming timing) {
    return new SoftHcaOptions(
        limits, engine, timing, randomNumbers, timestamps, adapter, congestion);
  }

  /** The same with another engine. */
  public SoftHcaOptions withEngine(Engine engine) {
    return new SoftHcaOptions(
        limits, engine, timing, randomNumbers, timestamps, adapter, congestion);
  }

  /** The same with random keys and first PSNs. */
  public SoftHcaOptions withRandomNumbers() {
    return new SoftHcaOptions(limits, engine, timing, true, timestamps, adapter, congestion);
  }

  /** The same with timestamps in completions. */
  public SoftHcaOptions withTimestamps() {
    return new SoftHcaOptions(limits, engine, timing, randomNumbers, true, adapter, congestion);
  }

  /** The same with other promises. */
  public SoftHcaOptions withAdapter(Adapter adapter) {
    return new SoftHcaOptions(
        limits, engine, timing, randomNumbers, timestamps, adapter, congestion);
  }

  /** The same with a reaction to congestion. */
  public SoftHcaOptions withCongestion(CongestionOptions congestion) {
    return new SoftHcaOptions(
        limits, engine, timing, randomNumbers, timestamps, adapter, congestion);
  }
}
