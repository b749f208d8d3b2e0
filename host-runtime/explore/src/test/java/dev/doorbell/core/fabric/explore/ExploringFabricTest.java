package dev.doorbell.core.fabric.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.explore.model.CalmChooser;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.memory.AddressSpace;
import java.util.List;
import org.junit.jupiter.api.Test;

class ExploringFabricTest {
  @Test
  void where_all_wait_for_the_host_time_passes_as_on_the_wall() {
    try (ExploringFabric fabric =
        new ExploringFabric(
            AddressSpace.reserve(),
            new CalmChooser(1, List.of()),
            new ExploringFabric.Options(Policy.VENDOR, true, Long.MAX_VALUE))) {
      fabric.sweep();
      long first = System.nanoTime();
      long last = first;
      while (last - first < 20_000_000) {
        last = System.nanoTime();
        fabric.sweep();
      }
      assertThat(fabric.now()).isGreaterThanOrEqualTo(last - first);
    }
  }
}
