package dev.doorbell.experiments.workbench.dma;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Map;
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

  /** Bytes from one possible transfer to the next. */
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
}
