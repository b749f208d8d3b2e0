package dev.doorbell.core.fabric.timed.processor;

import dev.doorbell.core.fabric.timed.event.Picos;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import org.jspecify.annotations.Nullable;

/**
 * Threads that come to the gates of their GPU together: the load/store unit of a multiprocessor
 * takes an instruction of a warp as one, and the GPU sends what its lanes ask of a line as one
 * request (EMOGI, VLDB 2020; papers/h200-prices: 4-byte loads at 51.4 GB/s).
 */
public final class Warp {
  private static final int LANES = 32;

  /** Entry to the gate of its block's stores; null: no bound, as below. */
  public final Gate.@Nullable Entry blockStores;

  /** Entry to the gate of stores to the GPU's own memory. */
  public final Gate.@Nullable Entry stores;

  /** Entry to the gate of loads from the GPU's own memory. */
  public final Gate.@Nullable Entry loads;

  private int lanes;
  private LoadCache.@Nullable Tags tags;

  /**
   * @param blockStores what bounds the stores of the warp's block; null: nothing, as below
   * @param stores what bounds all stores to the GPU's own memory
   * @param loads what bounds all loads from it
   */
  Warp(@Nullable Gate blockStores, @Nullable Gate stores, @Nullable Gate loads) {
    this.blockStores = entry(blockStores);
    this.stores = entry(stores);
    this.loads = entry(loads);
  }

  private static Gate.@Nullable Entry entry(@Nullable Gate gate) {
    return gate == null ? null : gate.new Entry();
  }

  boolean full() {
    return lanes == LANES;
  }

  /** Adds a thread; returns its lane. */
  public int join() {
    return lanes++;
  }

  /**
   * The cache of the thread that joins now; before {@link #join}.
   *
   * @param sector bytes of what is filled at once
   */
  public LoadCache cache(int sector) {
    int column = lanes % LoadCache.THREADS;
    LoadCache.Tags shared = tags;
    if (shared == null || column == 0) {
      shared = new LoadCache.Tags();
      tags = shared;
    }
    return new LoadCache(sector, shared, column);
  }

  /** A bound on throughput: bytes pass at a rate, one request of a warp after another. */
  public static final class Gate {
    private final double picosPerByte;
    private double free;

    /**
     * @param bytesPerNano its rate
     */
    Gate(double bytesPerNano) {
      this.picosPerByte = Picos.perByte(bytesPerNano);
    }

    /** The gate of a rate; null for 0, which means no bound. */
    static @Nullable Gate of(double bytesPerNano) {
      return bytesPerNano == 0 ? null : new Gate(bytesPerNano);
    }

    /**
     * The place at which the lanes of one warp come to the gate. What they bring at one instant is
     * one request: its bytes pass one after another, but the warp has one turn, and goes on as one.
     */
    public final class Entry {
      private long asked = -1;
      private long turn;
      private long lastSector;

      /** The lanes that are part of the request, a bit each. */
      private int lanes;

      /**
       * Lets an access of a lane through.
       *
       * @return when its request has its turn: at {@code time} or later
       */
      public long pass(int lane, long time, int bytes) {
        double from = Math.max((double) time, free);
        if (time != asked || (lanes >>> lane & 1) != 0) {
          asked = time;
          turn = Math.round(from);
          lanes = 0;
        }
        lanes |= 1 << lane;
        free = from + bytes * picosPerByte;
        return turn;
      }

      /**
       * Lets an access of a lane through that takes whole sectors, unless a lane before it has
       * asked for them.
       *
       * @return when its request has its turn: at {@code time} or later
       */
      public long passSectors(int lane, long time, long address, int bytes) {
        long first = address / GpuRefinements.SECTOR_BYTES;
        long last = (address + bytes - 1) / GpuRefinements.SECTOR_BYTES;
        boolean joins = time == asked && (lanes >>> lane & 1) == 0;
        long known = joins && first == lastSector ? 1 : 0;
        lastSector = last;
        return pass(
            lane, time, Math.toIntExact(last + 1 - first - known) * GpuRefinements.SECTOR_BYTES);
      }
    }
  }
}
