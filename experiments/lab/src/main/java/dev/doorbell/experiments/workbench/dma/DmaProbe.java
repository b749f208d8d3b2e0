package dev.doorbell.experiments.workbench.dma;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.experiments.workbench.dma.DmaSetting.DmaTransfer;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * Measures what a device takes to move bytes between its memory and the host's, one transfer at a
 * time or many, in virtual time on a topology.
 */
public final class DmaProbe {
  /** Transfers begin at multiples of this, in bytes, plus an offset. */
  static final int LINE = 64;

  private static final long FABRIC_SEED = 42;
  private static final long DEADLINE_NANOS = 10_000_000_000L;

  private DmaProbe() {}

  static long stride(int bytes, int offset) {
    return (bytes + offset + LINE - 1L) & -LINE;
  }

  /**
   * Measures.
   *
   * @return the median in nanoseconds, or the rate in bytes a nanosecond
   * @throws IllegalArgumentException where the topology lacks the device
   */
  public static double measure(Topology topology, DmaSetting setting) {
    if (!topology.has(Locus.Part.NIC, setting.device())
        || !topology.has(Locus.Part.CPU, setting.memory())) {
      throw new IllegalArgumentException(
          "topology '%s' has no nic%d or no cpu%d"
              .formatted(topology.name(), setting.device(), setting.memory()));
    }
    Locus host = new Locus(0, Locus.Part.CPU, setting.memory());
    Topology machine = setting.iommu() ? topology : withoutIommu(topology);
    try (TimedFabric fabric = new TimedFabric(machine, FABRIC_SEED);
        Arena arena = Arena.ofConfined()) {
      long window =
          fabric
              .memory()
              .allocate(MemoryKind.HOST, host, setting.window(), "the window of a probe")
              .address();
      if (setting.warm()) {
        Warmer warmer = new Warmer(fabric, host, window, setting.window());
        await(fabric, warmer::ended);
      }
      long own = arena.allocate(2L * stride(setting.bytes(), setting.offset()), LINE).address();
      DmaDevice device = new DmaDevice(fabric, setting, window, own);
      await(fabric, device::ended);
      return device.result();
    }
  }

  private static Topology withoutIommu(Topology topology) {
    List<CpuPrices> cpus =
        topology.cpus().stream()
            .map(
                cpu ->
                    Prices.with(
                        cpu,
                        Map.of("memory", Prices.with(cpu.memory(), Map.of("translations", 0)))))
            .toList();
    return Prices.with(topology, Map.of("cpus", cpus));
  }

  private static void await(TimedFabric fabric, BooleanSupplier ended) {
    RunOutcome outcome = fabric.run(ended, DEADLINE_NANOS);
    if (outcome != RunOutcome.DONE) {
      throw new IllegalStateException("a DMA measurement did not end: " + outcome);
    }
  }

  /** A CPU thread that writes a word of every line. */
  private static final class Warmer implements Agent {
    private final ThreadPort port;
    private final long end;
    private long next;

    Warmer(TimedFabric fabric, Locus host, long from, long bytes) {
      this.next = from;
      this.end = from + bytes;
      this.port = fabric.attachThread(host, this);
    }

    boolean ended() {
      return next >= end;
    }

    @Override
    public int step(int budget) {
      int done = 0;
      while (!ended() && done < budget) {
        port.store32(next, 1, Access.WEAK);
        if (port.parked) {
          return done;
        }
        next += LINE;
        done++;
      }
      return done;
    }
  }

  /** The device of a {@link DmaProbe}: it keeps transfers under way until enough have ended. */
  private static final class DmaDevice implements Agent {
    private static final int WARM_UP = 400;
    private static final int LATENCIES = 301;
    private static final int RATED = 2000;

    /** Transfers that are under way, where many are: more than the device sends at a time. */
    private static final int DEPTH = 96;

    private static final long SEED = 42;

    private final DmaSetting setting;
    private final long window;

    /** Memory of the device: what is written, and behind it where what is read goes. */
    private final long own;

    private final DevicePort port;
    private final SplittableRandom random = new SplittableRandom(SEED);
    private final long stride;
    private final long places;
    private final long[] latencies = new long[LATENCIES];
    private int underWay;
    private long ended;
    private long begunAt;
    private long ratedFrom;
    private long ratedTo;

    DmaDevice(TimedFabric fabric, DmaSetting setting, long window, long own) {
      this.setting = setting;
      this.window = window;
      this.own = own;
      this.stride = DmaProbe.stride(setting.bytes(), setting.offset());
      this.places = setting.window() / stride;
      this.port = fabric.attachDevice(Locus.nic(0, setting.device()), this);
    }

    private long most() {
      return (long) WARM_UP + (setting.transfer().latency() ? LATENCIES : RATED);
    }

    boolean ended() {
      return ended >= most();
    }

    /** The median in nanoseconds, or the rate in bytes a nanosecond. */
    double result() {
      if (setting.transfer().latency()) {
        Arrays.sort(latencies);
        return latencies[LATENCIES / 2];
      }
      return (double) RATED * setting.bytes() / (ratedTo - ratedFrom);
    }

    @Override
    public int step(int budget) {
      if (ended()) {
        return 0;
      }
      int done = 0;
      int depth = setting.transfer().latency() ? 1 : DEPTH;
      while (underWay < depth) {
        begin();
        underWay++;
        done++;
      }
      return done;
    }

    private void begin() {
      long there = address();
      begunAt = port.now();
      DmaTransfer transfer = setting.transfer();
      if (transfer == DmaTransfer.WRITE_READ_LATENCY) {
        port.write(own, there, setting.bytes(), false);
      }
      boolean atOnce =
          transfer == DmaTransfer.WRITE_RATE
              ? port.writeThen(own, there, setting.bytes(), false, ok -> count())
              : port.read(there, own + stride, setting.bytes(), ok -> count());
      if (atOnce) {
        throw new IllegalStateException("host memory is no device's own");
      }
    }

    private long address() {
      long index = ended < places && places <= WARM_UP ? ended : random.nextLong(places);
      return window + index * stride + setting.offset();
    }

    private void count() {
      underWay--;
      long now = port.now();
      long index = ended++ - WARM_UP;
      if (index < 0) {
        ratedFrom = now;
        return;
      }
      if (index >= most() - WARM_UP) {
        return;
      }
      ratedTo = now;
      if (setting.transfer().latency()) {
        latencies[(int) index] = now - begunAt;
      }
    }
  }
}
