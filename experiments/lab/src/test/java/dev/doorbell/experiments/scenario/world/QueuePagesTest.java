package dev.doorbell.experiments.scenario.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class QueuePagesTest {
  private static final int BLOCKS = 16;
  private static final int RING = BLOCKS * 64;
  private static final long DEADLINE_NANOS = 1_000_000_000;

  private static Connection connect(World world, int count) {
    Endpoint.Shape shape = Endpoint.Shape.builder(BLOCKS, DEADLINE_NANOS).build();
    return Connection.among(world, 2, count, shape, (_, _) -> true);
  }

  private static Set<Allocation> rings(World world, Connection connection) {
    Set<Allocation> rings = new HashSet<>();
    for (Endpoint endpoint : connection.endpoints(0)) {
      rings.add(world.fabric().memory().find(endpoint.queuePair().sendRingAddress()));
    }
    return rings;
  }

  @Test
  void queue_pairs_of_a_rank_share_allocations_where_there_are_more_than_64() {
    try (World world = World.direct(2, 1, SoftHcaOptions.DEFAULT);
        Connection few = connect(world, 32);
        Connection many = connect(world, 33)) {
      assertThat(rings(world, few)).hasSize(32);
      assertThat(rings(world, many)).hasSize(1);
    }
  }

  @Test
  void parts_do_not_overlap_and_end_with_the_connection() {
    try (World world = World.direct(2, 1, SoftHcaOptions.DEFAULT)) {
      AddressSpace memory = world.fabric().memory();
      long before = memory.bytesInUse();
      try (Connection many = connect(world, 33)) {
        List<long[]> parts = new ArrayList<>();
        for (Endpoint endpoint : many.endpoints(0)) {
          parts.add(new long[] {endpoint.queuePair().sendRingAddress(), RING});
          parts.add(new long[] {endpoint.completions().ringAddress(), RING});
          parts.add(new long[] {endpoint.queuePair().recordAddress(), Long.BYTES});
          parts.add(new long[] {endpoint.completions().recordAddress(), Long.BYTES});
        }
        parts.sort((a, b) -> Long.compare(a[0], b[0]));
        for (int i = 1; i < parts.size(); i++) {
          assertThat(parts.get(i)[0])
              .isGreaterThanOrEqualTo(parts.get(i - 1)[0] + parts.get(i - 1)[1]);
        }
      }
      assertThat(memory.bytesInUse()).isEqualTo(before);
    }
  }
}
