package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import org.junit.jupiter.api.Test;

/** Atomics of 16 bytes in virtual time. */
class TimedWideAtomicsTest {
  private static final int RELAXED = Access.RELAXED | Access.GPU;

  @Test
  void one_in_the_gpus_own_memory_costs_what_an_atomic_costs() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1))) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 64);
      long[] seen = new long[6];
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> seen[0] = p.exchange128(device.address(), 1, 2, RELAXED))
              .then(p -> seen[1] = p.now())
              .then(p -> seen[2] = p.atomic(Rmw.ADD, device.address() + 32, 8, 1, 0, RELAXED))
              .then(p -> seen[3] = p.now())
              .then(p -> seen[4] = p.compareAndSwap128(device.address(), 1, 2, 5, 6, RELAXED))
              .then(p -> seen[5] = p.high);
      world.fabric.run(gpu.ended(), World.FOREVER);
      assertThat(seen[0]).isZero();
      assertThat(seen[4]).isEqualTo(1);
      assertThat(seen[5]).isEqualTo(2);
      assertThat(seen[3] - seen[1]).as("an atomic of 8 bytes").isEqualTo(seen[1]);
    }
  }

  @Test
  void one_across_pcie_is_refused() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1))) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      World.Script gpu =
          world.thread(World.GPU).then(p -> p.exchange128(host.address(), 1, 2, RELAXED));
      assertThatThrownBy(() -> world.fabric.run(gpu.ended(), World.FOREVER))
          .isInstanceOf(AccessFault.class)
          .hasMessageContaining("16-byte atomic across PCIe");
    }
  }
}
