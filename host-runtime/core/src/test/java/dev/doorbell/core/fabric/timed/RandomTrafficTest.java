package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import dev.doorbell.core.fabric.timed.machine.Link.Credits;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Random programs on random memory: whatever the timing, nothing is lost and nothing is stale. */
class RandomTrafficTest {
  private static final int SLICE = 1024;
  private static final int THREADS = 6;
  private static final GpuRefinements REFINED =
      Prices.of(
          GpuRefinements.class,
          Map.ofEntries(
              Map.entry("fenceSystemFloor", 500),
              Map.entry("fenceRemote", 240),
              Map.entry("fenceSystemRemote", 600),
              Map.entry("fenceAwaitsArrival", false),
              Map.entry("remoteLoad", 30),
              Map.entry("remoteAtomic", 20),
              Map.entry("remoteSpread", 50),
              Map.entry("remoteContention", 1),
              Map.entry("loadGranule", 128),
              Map.entry("blockStoreRate", 32),
              Map.entry("loadRate", 64),
              Map.entry("storeRate", 32)));
  private static final GpuRefinements AHEAD =
      Prices.with(REFINED, Map.of("loadsInFlight", 5, "loadIssue", 3));
  private static final MemoryKind[] KINDS = {MemoryKind.DEVICE, MemoryKind.HOST, MemoryKind.NIC};

  /** A thread with slices of memory of its own, and a copy of what it stored there. */
  private static final class Walker implements Agent {
    private final SplittableRandom random;
    private final long[] slices = new long[KINDS.length];
    private final byte[][] expected = new byte[KINDS.length][SLICE];
    private final long shared;
    private final List<String> log;
    private final int number;
    private ThreadPort port;
    private int left = 150;
    private long added;

    /** The access under way: repeated with the same arguments until it completes. */
    private boolean again;

    /** What a load under a ticket has to find: it is there from the issue until it is taken. */
    private final byte[] @Nullable [] issued;

    private int ticket;
    private int what;
    private int where;
    private int bytes;
    private int offset;
    private long value;

    Walker(
        Fabric fabric, Locus locus, long seed, int number, Allocation[] memory, List<String> log) {
      this.random = new SplittableRandom(seed * 31 + number);
      this.number = number;
      this.log = log;
      for (int i = 0; i < KINDS.length; i++) {
        slices[i] = memory[i].address() + (long) number * SLICE;
      }
      this.shared = memory[1].address() + (long) THREADS * SLICE;
      this.port = fabric.attachThread(locus, this);
      this.issued = new byte[port.loadsAhead()][];
    }

    @Override
    public int step(int budget) {
      int done = 0;
      while (left > 0 && done < budget) {
        if (!again) {
          choose();
        }
        access();
        again = port.parked;
        if (again) {
          return done;
        }
        left--;
        done++;
        log.add(number + "@" + port.now());
      }
      return done;
    }

    private void choose() {
      what = random.nextInt(100);
      where = random.nextInt(KINDS.length);
      bytes = 1 << random.nextInt(5);
      offset = random.nextInt(SLICE / bytes) * bytes;
      value = random.nextLong();
      ticket = issued.length == 0 ? 0 : random.nextInt(issued.length);
      port.executed(random.nextInt(20));
    }

    private void access() {
      long address = slices[where] + offset;
      int strength =
          (value & 1) == 0
              ? Access.WEAK
              : Access.RELAXED | ((value & 2) == 0 ? Access.SYS : Access.GPU);
      if (what < 55) {
        store(address, strength);
      } else if (what < 80) {
        if (issued.length == 0 || (value & 4) == 0) {
          load(address, strength);
        } else if (issued[ticket] == null) {
          issue(address, strength);
        } else {
          take();
        }
      } else if (what < 90) {
        port.fence(Access.SC | ((value & 1) == 0 ? Access.GPU : Access.SYS));
      } else if (what < 95) {
        port.spend(value & 0xff);
        port.parked = false;
      } else {
        port.atomic(Rmw.ADD, shared, 8, 3, 0, Access.RELAXED | Access.SYS);
        if (!port.parked) {
          added += 3;
        }
      }
    }

    private void store(long address, int strength) {
      switch (bytes) {
        case 1 -> port.store8(address, value, strength);
        case 2 -> port.store16(address, value, strength);
        case 4 -> port.store32(address, value, strength);
        case 8 -> port.store64(address, value, strength);
        default -> port.store128(address, value, ~value, strength);
      }
      if (!port.parked) {
        for (int i = 0; i < bytes; i++) {
          long word = i < 8 ? value : ~value;
          expected[where][offset + i] = (byte) (word >>> (i % 8 * 8));
        }
      }
    }

    private void load(long address, int strength) {
      long low =
          switch (bytes) {
            case 1 -> port.load8(address, strength);
            case 2 -> port.load16(address, strength);
            case 4 -> port.load32(address, strength);
            case 8 -> port.load64(address, strength);
            default -> port.load128(address, strength);
          };
      if (port.parked) {
        return;
      }
      compare(low, Arrays.copyOfRange(expected[where], offset, offset + bytes));
    }

    private void issue(long address, int strength) {
      port.issue(ticket, address, bytes, strength);
      if (!port.parked) {
        issued[ticket] = Arrays.copyOfRange(expected[where], offset, offset + bytes);
      }
    }

    private void take() {
      long low = port.take(ticket);
      byte[] wanted = issued[ticket];
      if (!port.parked && wanted != null) {
        compare(low, wanted);
        issued[ticket] = null;
      }
    }

    private void compare(long low, byte[] wanted) {
      for (int i = 0; i < wanted.length; i++) {
        long word = i < 8 ? low : port.high;
        assertThat((byte) (word >>> (i % 8 * 8)))
            .as("byte %d of a load by thread %d of what it stored before", i, number)
            .isEqualTo(wanted[i]);
      }
    }

    byte[] memory(int kind) {
      byte[] bytes = new byte[SLICE];
      RawMemory.copyOut(slices[kind], MemorySegment.ofArray(bytes), 0, SLICE);
      return bytes;
    }
  }

  private static List<String> traffic(Fabric fabric, long seed) {
    List<String> log = new ArrayList<>();
    try (World world = new World(fabric)) {
      Allocation[] memory = new Allocation[KINDS.length];
      for (int i = 0; i < KINDS.length; i++) {
        memory[i] = world.allocate(KINDS[i], (THREADS + 1) * SLICE);
      }
      List<Walker> walkers = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        Locus locus = i < THREADS - 2 ? World.GPU : World.CPU;
        walkers.add(new Walker(fabric, locus, seed, i, memory, log));
      }
      RunOutcome outcome =
          fabric.run(() -> walkers.stream().allMatch(w -> w.left == 0), World.FOREVER);
      assertThat(outcome).isEqualTo(RunOutcome.DONE);
      // What is still under way arrives.
      fabric.run(() -> false, fabric instanceof TimedFabric ? 100_000 : 0);
      long sum = 0;
      for (Walker walker : walkers) {
        sum += walker.added;
        for (int kind = 0; kind < KINDS.length; kind++) {
          assertThat(walker.memory(kind))
              .as("%s memory of thread %d", KINDS[kind], walker.number)
              .isEqualTo(walker.expected[kind]);
        }
      }
      assertThat(RawMemory.getLong(memory[1].address() + (long) THREADS * SLICE)).isEqualTo(sum);
    }
    return log;
  }

  @Test
  void every_load_sees_the_last_store_of_its_thread_and_memory_ends_as_under_a_direct_fabric() {
    for (long seed = 1; seed <= 60; seed++) {
      try {
        traffic(new DirectFabric(), seed);
        traffic(new TimedFabric(RoundConstants.sameSwitch(), seed), seed);
        traffic(new TimedFabric(RoundConstants.acrossSockets(), seed), seed);
        traffic(new TimedFabric(RoundConstants.withJitter(300), seed), seed);
        traffic(new TimedFabric(RoundConstants.refined(REFINED), seed), seed);
        traffic(new TimedFabric(RoundConstants.refined(AHEAD), seed), seed);
        traffic(
            new TimedFabric(RoundConstants.refined(RoundConstants.withJitter(300), AHEAD), seed),
            seed);
        traffic(new TimedFabric(RoundConstants.withCredits(new Credits(2, 9, 120)), seed), seed);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  @Test
  void the_same_seed_gives_the_same_times_and_another_one_others() {
    List<String> first = traffic(new TimedFabric(RoundConstants.withJitter(300), 5), 5);
    List<String> second = traffic(new TimedFabric(RoundConstants.withJitter(300), 5), 5);
    List<String> other = traffic(new TimedFabric(RoundConstants.withJitter(300), 6), 5);
    assertThat(second).isEqualTo(first);
    assertThat(other).isNotEqualTo(first);
  }
}
