package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Loads that a thread has under way while it goes on. A round trip to the host takes 990 ns. */
class LoadsInFlightTest {
  private static final int WEAK = Access.WEAK;
  private static final int RELAXED = Access.RELAXED | Access.SYS;
  private static final int TICKETS = 8;
  private static final long ISSUE = 3;
  private static final double LOAD = 134;
  private static final long HIT = 17;
  private static final long ATOMIC = 150;

  private static Topology topology(Topology base) {
    GpuRefinements finer =
        Prices.of(
            GpuRefinements.class,
            Map.of("fenceSystemFloor", 200, "loadsInFlight", TICKETS, "loadIssue", ISSUE));
    GpuPrices gpu =
        Prices.with(
            base.gpus().getFirst(),
            Map.of("load", LOAD, "loadHit", HIT, "strongLoad", LOAD, "finer", finer));
    return Prices.with(base, Map.of("name", "round-ahead", "gpus", List.of(gpu)));
  }

  private static World world() {
    return new World(new TimedFabric(topology(RoundConstants.sameSwitch()), 1));
  }

  /** What {@code count} loads take that are issued together, and then taken. */
  private static long together(MemoryKind kind, int count, long apart) {
    try (World world = world()) {
      Allocation memory = world.allocate(kind, 4096);
      World.Script gpu = world.thread(World.GPU);
      for (int i = 0; i < count; i++) {
        int ticket = i;
        gpu.then(p -> p.issue(ticket, memory.address() + ticket * apart, 8, RELAXED));
      }
      for (int i = 0; i < count; i++) {
        int ticket = i;
        gpu.then(p -> p.take(ticket));
      }
      return world.nanos(gpu);
    }
  }

  @Test
  void loads_that_are_issued_together_take_one_latency_and_what_it_takes_to_issue_them() {
    assertThat(together(MemoryKind.DEVICE, 1, 256)).isEqualTo(134);
    assertThat(together(MemoryKind.DEVICE, 8, 256)).isEqualTo(134 + 7 * ISSUE);
    long one = together(MemoryKind.HOST, 1, 256);
    assertThat(one).isCloseTo(990, within(5L));
    assertThat(together(MemoryKind.HOST, 8, 256)).isCloseTo(one + 7 * ISSUE, within(2L));
  }

  @Test
  void a_thread_goes_on_until_it_takes_what_it_loads() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      long[] at = new long[2];
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.issue(0, host.address(), 8, WEAK))
              .then(p -> p.spend(600))
              .then(p -> at[0] = p.now())
              .then(p -> p.take(0))
              .then(p -> at[1] = p.now());
      world.fabric.run(gpu.ended(), World.FOREVER);
      assertThat(at[0]).isEqualTo(600 + ISSUE);
      assertThat(at[1]).isCloseTo(990, within(5L));
    }
  }

  @Test
  void a_weak_load_of_host_memory_is_a_hit_until_the_thread_acquires() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      Allocation device = world.allocate(MemoryKind.DEVICE, 64);
      int acquires = Access.ACQUIRE | Access.GPU;
      long[] at = new long[7];
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.load64(host.address(), WEAK))
              .then(p -> at[0] = p.now())
              .then(p -> p.load64(host.address() + 8, WEAK))
              .then(p -> at[1] = p.now())
              .then(p -> p.load64(host.address(), RELAXED))
              .then(p -> at[2] = p.now())
              .then(p -> p.atomic(Rmw.ADD, device.address(), 8, 1, 0, acquires))
              .then(p -> at[3] = p.now())
              .then(p -> p.load64(host.address(), WEAK))
              .then(p -> at[4] = p.now())
              .then(p -> p.exchange128(device.address(), 1, 2, acquires))
              .then(p -> at[5] = p.now())
              .then(p -> p.load64(host.address(), WEAK))
              .then(p -> at[6] = p.now());
      world.fabric.run(gpu.ended(), World.FOREVER);
      assertThat(at[0]).isCloseTo(990, within(5L));
      assertThat(at[1] - at[0]).isEqualTo(HIT);
      assertThat(at[2] - at[1]).isCloseTo(990, within(5L));
      assertThat(at[3] - at[2]).isEqualTo(ATOMIC);
      assertThat(at[4] - at[3]).isCloseTo(990, within(5L));
      assertThat(at[6] - at[5]).isCloseTo(990, within(5L));
    }
  }

  @Test
  void a_reduction_is_not_waited_for() {
    try (World world = world()) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 64);
      int reduces = RELAXED | Access.GPU | Access.REDUCTION;
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.atomic(Rmw.ADD, device.address(), 8, 5, 0, reduces))
              .then(p -> p.atomic(Rmw.ADD, device.address(), 8, 6, 0, reduces));
      world.fabric.run(gpu.ended(), World.FOREVER);
      assertThat(world.nanos(gpu)).isZero();
      assertThat(RawMemory.getLong(device.address())).isEqualTo(11);
    }
  }

  @Test
  void a_load_of_host_memory_has_what_was_there_when_its_request_arrived() {
    assertThat(found(300)).isEqualTo(7);
    assertThat(found(700)).isZero();
  }

  /** What a load finds that is issued at 0 and taken late, where the CPU stores after a while. */
  private static long found(long after) {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      long[] found = new long[1];
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.issue(0, host.address(), 8, RELAXED))
              .then(p -> p.spend(5000))
              .then(p -> found[0] = p.take(0));
      world
          .thread(World.CPU)
          .then(p -> p.spend(after))
          .then(p -> p.store64(host.address(), 7, RELAXED));
      world.fabric.run(gpu.ended(), World.FOREVER);
      return found[0];
    }
  }

  @Test
  void a_line_that_is_on_its_way_is_no_hit_before_it_is_there() {
    try (World world = world()) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 4096);
      long[] at = new long[2];
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.issue(0, device.address(), 8, WEAK))
              .then(p -> p.issue(1, device.address() + 64, 8, WEAK))
              .then(p -> p.take(1))
              .then(p -> at[0] = p.now())
              .then(p -> p.issue(2, device.address() + 8, 8, WEAK))
              .then(p -> p.take(2))
              .then(p -> at[1] = p.now());
      world.fabric.run(gpu.ended(), World.FOREVER);
      assertThat(at).containsExactly((long) LOAD, (long) LOAD + HIT);
    }
  }

  @Test
  void fences_and_releases_wait_for_loads_that_are_under_way() {
    for (int scope : List.of(Access.CTA, Access.GPU, Access.SYS)) {
      for (int semantics : List.of(Access.ACQUIRE, Access.RELEASE, Access.ACQ_REL, Access.SC)) {
        assertThat(until(p -> p.fence(semantics | scope)))
            .as("fence %s", Access.name(semantics | scope))
            .isCloseTo(990, within(5L));
      }
    }
    assertThat(until(p -> p.store64(cell, 1, Access.RELEASE | Access.GPU)))
        .isCloseTo(990, within(5L));
    assertThat(until(p -> p.store64(cell, 1, RELAXED))).isLessThan(10);
    assertThat(until(p -> p.load64(cell, Access.ACQUIRE | Access.SYS))).isLessThan(150);
  }

  private static long cell;

  /** When a thread gets behind {@code act} that has just issued a load of host memory. */
  private static long until(java.util.function.Consumer<ThreadPort> act) {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      cell = world.allocate(MemoryKind.DEVICE, 64).address();
      World.Script gpu =
          world.thread(World.GPU).then(p -> p.issue(0, host.address(), 8, RELAXED)).then(act);
      return world.nanos(gpu);
    }
  }

  @Test
  void a_load_does_not_see_what_its_thread_stores_to_the_same_bytes_after_it() {
    for (MemoryKind kind : List.of(MemoryKind.HOST, MemoryKind.DEVICE)) {
      try (World world = world()) {
        Allocation memory = world.allocate(kind, 64);
        long[] found = new long[2];
        World.Script gpu =
            world
                .thread(World.GPU)
                .then(p -> p.issue(0, memory.address(), 8, RELAXED))
                .then(p -> p.store32(memory.address() + 4, 9, RELAXED))
                .then(p -> p.issue(1, memory.address(), 8, RELAXED))
                .then(p -> found[0] = p.take(0))
                .then(p -> found[1] = p.take(1));
        world.fabric.run(gpu.ended(), World.FOREVER);
        assertThat(found).as(kind.word()).containsExactly(0, 9L << 32);
      }
    }
  }

  @Test
  void loads_of_the_same_bytes_never_go_back_in_time_however_much_the_path_disturbs_them() {
    for (long seed = 1; seed <= 20; seed++) {
      TimedFabric fabric = new TimedFabric(topology(RoundConstants.withJitter(400)), seed);
      try (World world = new World(fabric)) {
        Allocation host = world.allocate(MemoryKind.HOST, 64);
        List<Long> found = new ArrayList<>();
        World.Script gpu = world.thread(World.GPU);
        for (int round = 0; round < 20; round++) {
          for (int i = 0; i < TICKETS; i++) {
            int ticket = i;
            gpu.then(p -> p.issue(ticket, host.address(), 8, RELAXED));
          }
          for (int i = 0; i < TICKETS; i++) {
            int ticket = i;
            gpu.then(
                p -> {
                  long value = p.take(ticket);
                  if (!p.parked) {
                    found.add(value);
                  }
                });
          }
        }
        World.Script cpu = world.thread(World.CPU);
        for (int i = 1; i < 3000; i++) {
          int value = i;
          cpu.then(p -> p.spend(7)).then(p -> p.store64(host.address(), value, RELAXED));
        }
        world.fabric.run(gpu.ended(), World.FOREVER);
        assertThat(found).as("seed %d", seed).hasSize(20 * TICKETS).isSorted();
        assertThat(found.getLast()).isGreaterThan(100);
      }
    }
  }

  @Test
  void a_thread_that_ends_with_a_load_under_way_leaves_nothing_behind() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      World.Script gpu = world.thread(World.GPU).then(p -> p.issue(0, host.address(), 8, RELAXED));
      boolean[] ended = new boolean[1];
      gpu.then(
          p -> {
            world.fabric.detach(gpu);
            ended[0] = true;
          });
      assertThat(world.fabric.run(() -> ended[0], World.FOREVER)).isEqualTo(RunOutcome.DONE);
      assertThat(world.fabric.run(() -> false, 10_000)).isEqualTo(RunOutcome.STALLED);
      assertThat(RawMemory.getLong(host.address())).isZero();
    }
  }

  @Test
  void a_topology_says_how_many_and_without_it_a_thread_waits_for_each() {
    try (World world = world();
        World plain = new World(new TimedFabric(RoundConstants.sameSwitch(), 1))) {
      assertThat(world.thread(World.GPU).port().loadsAhead()).isEqualTo(TICKETS);
      assertThat(world.thread(World.CPU).port().loadsAhead()).isZero();
      ThreadPort port = plain.thread(World.GPU).port();
      assertThat(port.loadsAhead()).isZero();
      assertThatThrownBy(() -> port.issue(0, 0, 8, WEAK)).hasMessageContaining("when it returns");
      assertThatThrownBy(() -> port.take(0)).hasMessageContaining("when it returns");
    }
  }
}
