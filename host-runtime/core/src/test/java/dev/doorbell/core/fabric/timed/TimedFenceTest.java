package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import org.junit.jupiter.api.Test;

/** What fences and releases wait for, and how long. */
class TimedFenceTest {
  private static final int WEAK = Access.WEAK;
  private static final int RELAXED = Access.RELAXED | Access.SYS;
  private static final int RELEASE = Access.RELEASE | Access.SYS;
  private static final int SYSTEM_FENCE = Access.SC | Access.SYS;
  private static final int DEVICE_FENCE = Access.SC | Access.GPU;

  private static World world() {
    return new World(new TimedFabric(RoundConstants.sameSwitch(), 1));
  }

  @Test
  void a_device_fence_waits_for_device_stores_only() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      Allocation device = world.allocate(MemoryKind.DEVICE, 64);
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.store64(host.address(), 1, WEAK))
              .then(p -> p.fence(DEVICE_FENCE));
      assertThat(world.nanos(gpu)).isZero();
      gpu.then(p -> p.store64(device.address(), 1, WEAK)).then(p -> p.fence(DEVICE_FENCE));
      assertThat(world.nanos(gpu)).isEqualTo(200);
    }
  }

  @Test
  void drains_of_different_targets_run_side_by_side() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      Allocation device = world.allocate(MemoryKind.DEVICE, 64);
      Allocation onChip = world.allocate(MemoryKind.NIC, 64);
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.store64(onChip.address(), 1, WEAK))
              .then(p -> p.store64(device.address(), 1, WEAK))
              .then(p -> p.store64(host.address(), 1, WEAK))
              .then(p -> p.fence(SYSTEM_FENCE));
      assertThat(world.nanos(gpu)).isCloseTo(990, within(4L));
    }
  }

  @Test
  void a_fence_with_nothing_outstanding_costs_its_floor_and_a_second_one_waits_for_nothing() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.fence(SYSTEM_FENCE))
              .then(p -> p.store64(host.address(), 1, WEAK))
              .then(p -> p.fence(SYSTEM_FENCE))
              .then(p -> p.fence(SYSTEM_FENCE));
      assertThat(world.nanos(gpu)).isCloseTo(990, within(3L));
      FabricCounters counters = ((TimedFabric) world.fabric).counters();
      assertThat(counters.fences()).isEqualTo(3);
      assertThat(counters.drainedNanos()).isCloseTo(990, within(3.0));
    }
  }

  @Test
  void a_release_store_drains_what_precedes_it() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      Allocation device = world.allocate(MemoryKind.DEVICE, 64);
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.store64(host.address(), 1, WEAK))
              .then(p -> p.store64(device.address(), 1, RELEASE));
      World.Script reader =
          world
              .thread(World.GPU)
              .poll(p -> p.load64(device.address(), RELAXED), 1)
              .then(p -> assertThat(RawMemory.getLong(host.address())).isEqualTo(1));
      assertThat(world.nanos(gpu)).isCloseTo(990, within(3L));
      assertThat(world.nanos(reader)).isCloseTo(990, within(5L));
    }
  }

  @Test
  void a_fence_waits_no_matter_which_thread_filled_the_line() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 128);
      World.Script first =
          world
              .thread(World.GPU)
              .then(p -> p.store64(host.address(), 1, WEAK))
              .then(p -> p.spend(10))
              .then(p -> p.fence(SYSTEM_FENCE));
      World.Script second = world.thread(World.GPU).then(p -> p.spend(5));
      for (int i = 8; i < 128; i += 8) {
        int at = i;
        second.then(p -> p.store64(host.address() + at, 1, WEAK));
      }
      // The line leaves full at 5 ns; the first thread's fence counts from then.
      assertThat(world.nanos(first)).isCloseTo(5 + 990 + 5, within(3L));
    }
  }

  @Test
  void a_fence_covers_what_others_released_to_their_cta_before() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 128);
      Allocation device = world.allocate(MemoryKind.DEVICE, 128);
      world
          .thread(World.GPU)
          .then(p -> p.store64(host.address(), 1, WEAK))
          .then(p -> p.store64(device.address(), 1, WEAK))
          .then(p -> p.fence(Access.ACQ_REL | Access.CTA));
      World.Script leader =
          world.thread(World.GPU).then(p -> p.spend(10)).then(p -> p.fence(SYSTEM_FENCE));
      assertThat(world.nanos(leader)).isCloseTo(10 + 990, within(3L));
      assertThat(RawMemory.getLong(host.address())).isEqualTo(1);
    }
  }

  @Test
  void a_fence_covers_what_other_threads_released_to_the_gpu_before() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 128);
      Allocation device = world.allocate(MemoryKind.DEVICE, 128);
      world
          .thread(World.GPU)
          .then(p -> p.store64(host.address(), 1, WEAK))
          .then(p -> p.store64(device.address(), 1, Access.RELEASE | Access.GPU));
      World.Script leader =
          world
              .thread(World.GPU)
              .poll(p -> p.load64(device.address(), Access.ACQUIRE | Access.GPU), 1)
              .then(p -> p.fence(SYSTEM_FENCE));
      assertThat(world.nanos(leader)).isCloseTo(990, within(3L));
      assertThat(RawMemory.getLong(host.address())).isEqualTo(1);
    }
  }
}
