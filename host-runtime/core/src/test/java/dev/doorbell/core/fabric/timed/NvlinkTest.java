package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.timed.link.Links.LinkTraffic;
import dev.doorbell.core.fabric.timed.machine.Nvlink;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.FabricMemory;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.Multicast;
import dev.doorbell.core.memory.RawMemory;
import java.util.List;
import org.junit.jupiter.api.Test;

/** GPUs of a node that address each other's memory, against times computed by hand. */
class NvlinkTest {
  private static final int WEAK = Access.WEAK;
  private static final int RELAXED = Access.RELAXED | Access.SYS;
  private static final int RELEASE = Access.RELEASE | Access.SYS;
  private static final int ACQUIRE = Access.ACQUIRE | Access.SYS;
  private static final long LATENCY = 500;
  private static final double RATE = 160;

  private static Topology topology() {
    Topology base = RoundConstants.sameSwitch();
    return new Topology(
        "round-nvlink",
        base.description(),
        base.gpus(),
        base.cpus(),
        base.nics(),
        base.links(),
        base.paths(),
        base.network(),
        new Nvlink(2, LATENCY, RATE, 128, 0, false),
        List.of());
  }

  private static World world() {
    return new World(new TimedFabric(topology(), 1));
  }

  private static Allocation memory(World world, int rank) {
    return world.fabric.memory().allocate(MemoryKind.DEVICE, Locus.gpu(rank, 0), 1 << 20, "memory");
  }

  @Test
  void a_load_and_an_atomic_take_a_round_trip_and_the_service_of_the_memory() {
    try (World world = world()) {
      Allocation there = memory(world, 1);
      RawMemory.putLong(there.address(), 5);
      double service = topology().gpus().getFirst().memoryService();
      World.Script load = world.thread(World.GPU).poll(p -> p.load64(there.address(), RELAXED), 5);
      assertThat(world.nanos(load)).isCloseTo(Math.round(2 * LATENCY + service), within(25L));
      long before = world.fabric.now();
      World.Script add =
          world
              .thread(World.GPU)
              .poll(p -> p.atomic(Rmw.ADD, there.address(), 8, 2, 0, RELAXED), 5);
      assertThat(world.nanos(add) - before)
          .isCloseTo(Math.round(2 * LATENCY + service), within(25L));
      assertThat(RawMemory.getLong(there.address())).isEqualTo(7);
    }
  }

  @Test
  void a_flag_stored_with_release_arrives_behind_the_data() {
    try (World world = world()) {
      Allocation there = memory(world, 1);
      long data = there.address();
      long flag = data + 4096;
      world
          .thread(World.GPU)
          .then(p -> p.store64(data, 42, WEAK))
          .poll(
              p -> {
                p.store64(flag, 1, RELEASE);
                return 1;
              },
              1);
      long[] seen = new long[1];
      World.Script reader =
          world
              .thread(Locus.gpu(1, 0))
              .poll(p -> p.load64(flag, ACQUIRE), 1)
              .then(p -> seen[0] = p.load64(data, WEAK));
      assertThat(world.nanos(reader)).isGreaterThan(LATENCY);
      assertThat(seen[0]).isEqualTo(42);
    }
  }

  @Test
  void a_system_fence_awaits_the_acknowledgement_of_a_store_and_no_later_fence_does() {
    try (World world = world()) {
      Allocation there = memory(world, 1);
      int fence = Access.ACQ_REL | Access.SYS;
      World.Script first =
          world
              .thread(World.GPU)
              .then(p -> p.store64(there.address(), 1, RELAXED))
              .then(p -> p.fence(fence));
      double service = topology().gpus().getFirst().memoryService();
      long acknowledged = world.nanos(first);
      assertThat(acknowledged).isCloseTo(Math.round(2 * LATENCY + service), within(25L));
      World.Script other = world.thread(World.GPU).then(p -> p.fence(fence));
      assertThat(world.nanos(other) - acknowledged).isLessThan(LATENCY);
    }
  }

  @Test
  void stores_share_the_port_of_the_sender_and_that_of_the_receiver() {
    try (World world = world()) {
      Allocation there = memory(world, 1);
      World.Script script = world.thread(World.GPU);
      for (int at = 0; at < 1 << 16; at += 16) {
        int offset = at;
        script.then(p -> p.store128(there.address() + offset, 1, 2, WEAK));
      }
      world.nanos(script);
      world.fabric.quiesce();
      List<LinkTraffic> traffic = ((TimedFabric) world.fabric).counters().links();
      assertThat(traffic)
          .filteredOn(each -> each.link().contains("nvlink"))
          .extracting(LinkTraffic::link, LinkTraffic::payloadBytes)
          .contains(
              tuple("rank0.nvlink:gpu0>nvswitch", 1L << 16),
              tuple("rank1.nvlink:nvswitch>gpu0", 1L << 16));
    }
  }

  @Test
  void the_switch_copies_one_request_to_all_members_and_answers_once() {
    try (World world = world()) {
      int bytes = 1 << 12;
      List<Memory> members = List.of(device(world, 0, bytes), device(world, 1, bytes));
      members.get(0).putLong(16, 3);
      members.get(1).putLong(16, 5);
      try (Multicast all =
          new Multicast(world.fabric.memory(), Locus.gpu(0, 0), members, "members")) {
        long[][] seen = new long[1][];
        double service = topology().gpus().getFirst().memoryService();
        World.Script load =
            world
                .thread(World.GPU)
                .poll(
                    p -> {
                      seen[0] = p.loadMembers(all.address() + 16, 8, WEAK);
                      return p.parked ? 0 : 1;
                    },
                    1);
        assertThat(world.nanos(load)).isCloseTo(Math.round(2 * LATENCY + service), within(25L));
        assertThat(seen[0]).containsExactly(3, 0, 5, 0);
        World.Script store = world.thread(World.GPU);
        for (int at = 0; at < bytes; at += 16) {
          long address = all.address() + at;
          store.then(p -> p.storeMembers(address, 16, address, 7, WEAK));
        }
        world.nanos(store);
        world.fabric.quiesce();
        for (Memory member : members) {
          assertThat(member.getLong(bytes - 16)).isEqualTo(all.address() + bytes - 16);
        }
        assertThat(((TimedFabric) world.fabric).counters().links())
            .extracting(LinkTraffic::link, LinkTraffic::payloadBytes)
            .contains(
                tuple("rank0.nvlink:gpu0>nvswitch", bytes + 8L),
                tuple("rank1.nvlink:gpu0>nvswitch", 8L),
                tuple("rank0.nvlink:nvswitch>gpu0", bytes + 8L),
                tuple("rank1.nvlink:nvswitch>gpu0", (long) bytes));
        World.Script plain = world.thread(World.GPU).then(p -> p.store64(all.address(), 1, WEAK));
        assertThatThrownBy(() -> world.nanos(plain)).isInstanceOf(AccessFault.class);
      }
    }
  }

  private static Memory device(World world, int rank, long bytes) {
    return FabricMemory.of(world.fabric.memory(), rank)
        .allocate(MemoryKind.DEVICE, bytes, "member");
  }

  @Test
  void what_is_not_of_the_node_is_refused_by_name() {
    try (World world = world()) {
      Allocation there = memory(world, 2);
      World.Script script = world.thread(World.GPU).then(p -> p.store64(there.address(), 1, WEAK));
      assertThatThrownBy(() -> world.nanos(script))
          .hasMessageContaining("rank0.gpu0 cannot address memory of rank2.gpu0")
          .hasMessageContaining("round-nvlink");
    }
  }
}
