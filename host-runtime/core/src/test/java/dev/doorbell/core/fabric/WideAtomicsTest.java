package dev.doorbell.core.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import org.junit.jupiter.api.Test;

/** Atomics of 16 bytes on the direct fabric. */
class WideAtomicsTest {
  private static final int RELAXED = Access.RELAXED | Access.GPU;

  @Test
  void a_swap_takes_place_only_where_all_sixteen_bytes_are_as_expected() {
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(), 0)) {
      long at = cell(fabric);
      ThreadPort port = fabric.attachThread(Locus.gpu(0, 0), budget -> 0);
      assertThat(port.exchange128(at, 1, 2, RELAXED)).isZero();
      assertThat(port.high).isZero();
      assertThat(port.compareAndSwap128(at, 1, 3, 9, 9, RELAXED)).isEqualTo(1);
      assertThat(port.high).isEqualTo(2);
      assertThat(port.compareAndSwap128(at, 1, 2, 5, 6, RELAXED)).isEqualTo(1);
      assertThat(RawMemory.getLong(at)).isEqualTo(5);
      assertThat(RawMemory.getLong(at + 8)).isEqualTo(6);
    }
  }

  @Test
  void swaps_of_two_host_threads_lose_nothing() throws InterruptedException {
    int rounds = 20_000;
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(), 0)) {
      long at = cell(fabric);
      ThreadPort one = fabric.attachThread(Locus.gpu(0, 0), budget -> 0);
      ThreadPort two = fabric.attachThread(Locus.gpu(0, 0), budget -> 0);
      Thread beside = new Thread(() -> count(two, at, rounds));
      beside.start();
      count(one, at, rounds);
      beside.join();
      assertThat(RawMemory.getLong(at)).isEqualTo(2L * rounds);
      assertThat(RawMemory.getLong(at + 8)).isEqualTo(-2L * rounds);
    }
  }

  /** Counts up in the lower half and down in the upper one. */
  private static void count(ThreadPort port, long at, int rounds) {
    for (int i = 0; i < rounds; i++) {
      long low = 0;
      long high = 0;
      while (true) {
        long seen = port.compareAndSwap128(at, low, high, low + 1, high - 1, RELAXED);
        if (seen == low && port.high == high) {
          break;
        }
        low = seen;
        high = port.high;
      }
    }
  }

  @Test
  void memory_that_is_not_there_is_refused() {
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(), 0)) {
      ThreadPort port = fabric.attachThread(Locus.gpu(0, 0), budget -> 0);
      assertThatThrownBy(() -> port.exchange128(4096, 0, 0, RELAXED))
          .isInstanceOf(AccessFault.class)
          .hasMessageContaining("atomic of 16 bytes");
    }
  }

  private static long cell(DirectFabric fabric) {
    return fabric.memory().allocate(MemoryKind.DEVICE, Locus.gpu(0, 0), 16, "cell").address();
  }
}
