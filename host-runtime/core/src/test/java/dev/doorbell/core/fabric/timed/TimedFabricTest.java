package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Fabric.AgentsEnded;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimedFabricTest {
  private static final int WEAK = Access.WEAK;
  private static final int RELAXED = Access.RELAXED | Access.SYS;
  private static final int FENCE = Access.SC | Access.SYS;

  @Test
  void a_fence_after_a_store_to_host_memory_costs_a_round_trip_and_the_service() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1))) {
      Allocation host = world.allocate(MemoryKind.HOST, 4096);
      long[] at = new long[1];
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.store64(host.address(), 7, WEAK))
              .then(p -> p.fence(FENCE))
              .then(p -> at[0] = p.now());
      assertThat(world.fabric.run(gpu.ended(), World.FOREVER)).isEqualTo(RunOutcome.DONE);
      assertThat(at[0]).isCloseTo(2 * 450 + 90, within(2L));
    }
  }

  @Test
  void a_store_is_visible_when_it_arrives_and_not_before() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1))) {
      Allocation host = world.allocate(MemoryKind.HOST, 4096);
      long[] seen = new long[2];
      World.Script gpu = world.thread(World.GPU).then(p -> p.store64(host.address(), 7, RELAXED));
      World.Script cpu =
          world
              .thread(World.CPU)
              .then(p -> p.spend(440))
              .then(p -> seen[0] = p.load64(host.address(), RELAXED))
              .then(p -> p.spend(20))
              .then(p -> seen[1] = p.load64(host.address(), RELAXED));
      world.fabric.run(
          () -> gpu.ended().getAsBoolean() && cpu.ended().getAsBoolean(), World.FOREVER);
      assertThat(seen).containsExactly(0, 7);
    }
  }

  @Test
  void a_poll_ends_when_the_cell_is_written_and_not_a_poll_later() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1))) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 4096);
      long[] at = new long[1];
      World.Script poller =
          world
              .thread(World.GPU)
              .poll(p -> p.load64(device.address(), RELAXED), 5)
              .then(p -> at[0] = p.now());
      world
          .thread(World.GPU)
          .then(p -> p.spend(12_345))
          .then(p -> p.store64(device.address(), 5, RELAXED));
      world.fabric.run(poller.ended(), World.FOREVER);
      assertThat(at[0]).isBetween(12_345L, 12_350L);
    }
  }

  @Test
  void the_time_between_two_waits_is_not_taken_for_the_length_of_a_poll() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1))) {
      Allocation host = world.allocate(MemoryKind.HOST, 4096);
      Allocation device = world.allocate(MemoryKind.DEVICE, 4096);
      RawMemory.putLong(host.address(), 1);
      long[] at = new long[1];
      World.Script poller = world.thread(World.GPU).poll(p -> p.load64(host.address(), RELAXED), 1);
      for (int word = 0; word < 3; word++) {
        long address = device.address() + 8L * word;
        poller.then(p -> p.store64(address, 1, RELAXED));
      }
      poller
          .then(p -> p.spend(10_000))
          .poll(p -> p.load64(host.address(), RELAXED), 2)
          .then(p -> at[0] = p.now());
      world
          .thread(World.CPU)
          .then(p -> p.spend(14_500))
          .then(p -> p.store64(host.address(), 2, RELAXED));
      world.fabric.run(poller.ended(), World.FOREVER);
      assertThat(at[0]).isBetween(14_950L, 14_500L + 2 * 990);
    }
  }

  @Test
  void a_load_of_host_memory_takes_a_round_trip_and_sees_what_was_there_on_arrival() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1))) {
      Allocation host = world.allocate(MemoryKind.HOST, 4096);
      RawMemory.putLong(host.address() + 8, 42);
      long[] got = new long[2];
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> got[0] = p.load64(host.address() + 8, WEAK))
              .then(p -> got[1] = p.now());
      world.fabric.run(gpu.ended(), World.FOREVER);
      assertThat(got[0]).isEqualTo(42);
      assertThat(got[1]).isCloseTo(2 * 450 + 90, within(3L));
    }
  }

  @Test
  void a_condition_of_agents_that_end_is_asked_at_the_start_and_when_one_is_detached() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1))) {
      Allocation host = world.allocate(MemoryKind.HOST, 4096);
      List<Integer> lives = new ArrayList<>();
      int[] alive = {2};
      for (int loads : new int[] {3, 5}) {
        World.Script gpu = world.thread(World.GPU);
        for (int i = 0; i < loads; i++) {
          gpu.then(p -> p.load64(host.address(), RELAXED));
        }
        gpu.then(
            p -> {
              world.fabric.detach(gpu);
              alive[0]--;
            });
      }
      AgentsEnded ended =
          () -> {
            lives.add(alive[0]);
            return alive[0] == 0;
          };
      assertThat(world.fabric.run(ended, World.FOREVER)).isEqualTo(RunOutcome.DONE);
      assertThat(lives).containsExactly(2, 1, 0);
    }
  }
}
