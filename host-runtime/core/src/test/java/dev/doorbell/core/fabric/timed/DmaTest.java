package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.link.Links.LinkTraffic;
import dev.doorbell.core.fabric.timed.machine.Link.Credits;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DmaTest {
  private static final int MIB = 1 << 20;
  private static final double GEN4 = 31.5077 * RoundConstants.EFFICIENCY;

  @Test
  void a_read_takes_a_round_trip_the_service_and_its_completions() {
    assertThat(read(RoundConstants.sameSwitch(), MemoryKind.DEVICE, 512))
        .isCloseTo(2 * 250 + 300 + 552 / GEN4, within(2.0));
  }

  @Test
  void a_long_read_runs_at_the_rate_of_its_completions() {
    assertThat(read(RoundConstants.sameSwitch(), MemoryKind.DEVICE, MIB))
        .isCloseTo(800 + MIB * 276.0 / 256 / GEN4, within(30.0));
  }

  @Test
  void a_cap_slows_what_the_links_could_carry() {
    assertThat(read(RoundConstants.acrossSockets(), MemoryKind.DEVICE, MIB))
        .isCloseTo(2 * 900 + 300 + MIB / 6.1, within(50.0));
  }

  @Test
  void few_tags_bound_the_rate_by_the_round_trip() {
    Topology tagged =
        RoundConstants.withNic(
            Prices.with(RoundConstants.sameSwitch().nics().getFirst(), Map.of("readTags", 8)));
    double roundTrip = 800 + 552 / GEN4;
    double expected = MIB / (8 * 512 / roundTrip);
    assertThat(read(tagged, MemoryKind.DEVICE, MIB)).isCloseTo(expected, within(expected * 0.05));
  }

  private static double read(Topology topology, MemoryKind kind, int bytes) {
    try (World world = new World(new TimedFabric(topology, 1));
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation source = world.allocate(kind, bytes);
      for (int i = 0; i < bytes; i += 8) {
        RawMemory.putLong(source.address() + i, i * 0x9e3779b97f4a7c15L);
      }
      long target = nic.buffer(bytes);
      nic.then(p -> assertThat(p.read(source.address(), target, bytes, nic::completed)).isFalse());
      assertThat(world.fabric.run(() -> nic.completions == 1, World.FOREVER))
          .isEqualTo(RunOutcome.DONE);
      assertThat(RawMemory.mismatch(source.address(), target, bytes)).isEqualTo(-1);
      assertThat(nic.refusals).isZero();
      return nic.lastAt;
    }
  }

  @Test
  void a_long_write_runs_at_the_rate_of_its_packets_and_is_taken_during_the_call() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1));
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation target = world.allocate(MemoryKind.HOST, MIB);
      long source = nic.buffer(MIB);
      RawMemory.fill(source, MIB, (byte) 5);
      nic.then(
          p -> {
            p.writeThen(source, target.address(), MIB, false, nic::completed);
            RawMemory.fill(source, MIB, (byte) 6);
          });
      world.fabric.run(() -> nic.completions == 1, World.FOREVER);
      assertThat((double) nic.lastAt).isCloseTo(350 + MIB * 280.0 / 256 / GEN4, within(10.0));
      assertThat(RawMemory.getByte(target.address())).isEqualTo((byte) 5);
      assertThat(RawMemory.getByte(target.address() + MIB - 1)).isEqualTo((byte) 5);
    }
  }

  @Test
  void a_read_sees_the_writes_of_its_device_before_it() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1));
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation device = world.allocate(MemoryKind.DEVICE, MIB);
      long source = nic.buffer(MIB);
      long back = nic.buffer(8);
      RawMemory.fill(source, MIB, (byte) 9);
      nic.then(
          p -> {
            p.write(source, device.address(), MIB, false);
            p.read(device.address() + MIB - 8, back, 8, nic::completed);
          });
      world.fabric.run(() -> nic.completions == 1, World.FOREVER);
      assertThat(RawMemory.getLong(back)).isEqualTo(0x0909090909090909L);
    }
  }

  @Test
  void a_short_write_gets_in_between_the_pieces_of_a_long_read() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1));
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation device = world.allocate(MemoryKind.DEVICE, MIB);
      Allocation onChip = world.allocate(MemoryKind.NIC, 64);
      long target = nic.buffer(MIB);
      nic.then(p -> p.read(device.address(), target, MIB, nic::completed));
      long[] drained = new long[1];
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.spend(5000))
              .then(p -> p.store64(onChip.address(), 1, 0))
              .then(p -> p.fence(dev.doorbell.core.fabric.Access.SC))
              .then(p -> drained[0] = p.now() - 5000);
      world.fabric.run(gpu.ended(), World.FOREVER);
      assertThat(drained[0]).isBetween(500L, 700L);
    }
  }

  @Test
  void a_root_complex_that_does_not_route_peer_reads_answers_no_after_a_round_trip() {
    try (World world = new World(new TimedFabric(RoundConstants.withoutPeerReads(), 1));
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 4096);
      Allocation host = world.allocate(MemoryKind.HOST, 4096);
      RawMemory.putLong(device.address(), 1);
      long target = nic.buffer(16);
      nic.then(
          p -> {
            p.read(device.address(), target, 8, nic::completed);
            p.read(host.address(), target + 8, 8, nic::completed);
            p.write(target, device.address() + 8, 8, false);
          });
      world.fabric.run(() -> nic.completions == 2, World.FOREVER);
      assertThat(nic.refusals).isEqualTo(1);
      assertThat(RawMemory.getLong(target)).isZero();
    }
  }

  @Test
  void posted_credits_bound_writes_to_what_comes_back() {
    Credits credits = new Credits(8, 1000, 300);
    try (World world = new World(new TimedFabric(RoundConstants.withCredits(credits), 1));
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation host = world.allocate(MemoryKind.HOST, MIB);
      long source = nic.buffer(MIB);
      nic.then(p -> p.writeThen(source, host.address(), MIB, false, nic::completed));
      world.fabric.run(() -> nic.completions == 1, World.FOREVER);
      double expected = MIB / (8 * 256 / 300.0);
      assertThat((double) nic.lastAt).isCloseTo(expected, within(expected * 0.01));
    }
  }

  @Test
  void writes_to_one_place_arrive_in_order_unless_they_are_relaxed_and_the_path_disturbs_them() {
    assertThat(arrivals(false)).isSorted();
    assertThat(arrivals(true)).isNotEqualTo(arrivals(false).stream().sorted().toList());
  }

  private static List<Integer> arrivals(boolean relaxed) {
    try (World world = new World(new TimedFabric(RoundConstants.withJitter(400), 7));
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation host = world.allocate(MemoryKind.HOST, 4096);
      long source = nic.buffer(64);
      List<Integer> order = new ArrayList<>();
      nic.then(
          p -> {
            for (int i = 0; i < 40; i++) {
              int number = i;
              p.writeThen(source, host.address() + i * 64L, 64, relaxed, ok -> order.add(number));
            }
          });
      world.fabric.run(() -> order.size() == 40, World.FOREVER);
      return order;
    }
  }

  @Test
  void an_atomic_follows_the_writes_before_it_and_returns_the_old_value() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1));
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      long source = nic.buffer(16);
      RawMemory.putLong(source, 40);
      nic.then(
          p -> {
            p.write(source, host.address(), 8, false);
            p.atomic(host.address(), 8, source + 8, old -> old + 2, nic::completed);
          });
      world.fabric.run(() -> nic.completions == 1, World.FOREVER);
      assertThat(RawMemory.getLong(source + 8)).isEqualTo(40);
      assertThat(RawMemory.getLong(host.address())).isEqualTo(42);
      assertThat((double) nic.lastAt).isCloseTo(2 * 350 + 90, within(5.0));
    }
  }

  @Test
  void on_chip_memory_is_read_in_place_and_everything_else_is_not() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1));
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation onChip = world.allocate(MemoryKind.NIC, 64);
      Allocation device = world.allocate(MemoryKind.DEVICE, 64);
      assertThat(nic.port.map(onChip.address(), 64)).isEqualTo(onChip.address());
      assertThat(nic.port.map(device.address(), 64)).isZero();
    }
  }

  @Test
  void timers_of_one_completion_end_at_their_times_and_the_last_one_can_be_cancelled() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1));
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      List<Long> ends = new ArrayList<>();
      Completion.Cancellable timed =
          new Completion.Cancellable() {
            @Override
            public void completed(boolean ok) {
              ends.add(nic.port.now());
              if (ends.size() == 2) {
                nic.port.timer(50, this);
              }
            }
          };
      nic.port.timer(300, timed);
      nic.port.timer(100, timed);
      world.fabric.run(() -> ends.size() == 3, World.FOREVER);
      assertThat(ends).containsExactly(100L, 300L, 350L);
      nic.port.timer(400, timed);
      nic.port.timer(50, timed);
      assertThat(nic.port.cancelTimer(timed)).isTrue();
      assertThat(nic.port.cancelTimer(timed)).isFalse();
      world.fabric.run(() -> ends.size() == 4, World.FOREVER);
      assertThat(ends).endsWith(750L);
    }
  }

  @Test
  void counters_tell_packets_bytes_and_links() {
    TimedFabric fabric = new TimedFabric(RoundConstants.sameSwitch(), 1);
    try (World world = new World(fabric);
        DeviceScript nic = new DeviceScript(fabric, World.NIC)) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 4096);
      long target = nic.buffer(4096);
      FabricCounters before = fabric.counters();
      nic.then(p -> p.read(device.address(), target, 4096, nic::completed));
      fabric.run(() -> nic.completions == 1, World.FOREVER);
      FabricCounters counted = fabric.counters().minus(before);
      assertThat(counted.links())
          .containsExactlyInAnyOrder(
              new LinkTraffic("rank0.nic:nic0>switch", 8, 192, 0),
              new LinkTraffic("rank0.gpu:switch>gpu0", 8, 192, 0),
              new LinkTraffic("rank0.gpu:gpu0>switch", 16, 4416, 4096),
              new LinkTraffic("rank0.nic:switch>nic0", 16, 4416, 4096));
      assertThat(counted.payloadCrossings()).isEqualTo(2 * 4096);
    }
  }
}
