package dev.doorbell.core.fabric.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.explore.model.CalmChooser;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import java.util.List;
import org.junit.jupiter.api.Test;

class ExploringFabricTest {
  @Test
  void clocks_do_not_grow_with_the_threads_that_have_ended() {
    try (ExploringFabric fabric = fabric()) {
      for (int i = 0; i < 1000; i++) {
        Agent agent =
            new Agent() {
              @Override
              public int step(int budget) {
                return 0;
              }

              @Override
              public String where() {
                return "nowhere";
              }
            };
        fabric.attachThread(Locus.gpu(0, 0), 0, agent);
        fabric.detach(agent);
      }
      assertThat(fabric.machine().nextNumber()).isLessThan(10);
    }
  }

  @Test
  void where_all_wait_for_the_host_time_passes_as_on_the_wall() {
    try (ExploringFabric fabric = fabric()) {
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

  private static ExploringFabric fabric() {
    return new ExploringFabric(
        AddressSpace.reserve(),
        new CalmChooser(1, List.of()),
        new ExploringFabric.Options(
            Policy.VENDOR, true, Long.MAX_VALUE, Adapter.DEFAULT.promises()));
  }
}
