package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.trace.Trace;
import dev.doorbell.core.trace.TraceEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimedThreadPortTest {
  private static final int WEAK = Access.WEAK;
  private static final int RELAXED = Access.RELAXED | Access.SYS;
  private static final int SYSTEM_FENCE = Access.SC | Access.SYS;
  private static final int MMIO = Access.MMIO | Access.SYS;

  private static World world() {
    return new World(new TimedFabric(RoundConstants.sameSwitch(), 1));
  }

  @Test
  void an_idle_thread_of_the_host_wakes_when_what_it_polled_elsewhere_is_written() {
    try (World world = world()) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 4096);
      long[] found = new long[2];
      ThreadPort[] port = new ThreadPort[1];
      port[0] =
          world.fabric.attachThread(
              World.CPU,
              budget -> {
                long value = port[0].load64(device.address() + 512, RELAXED);
                if (!port[0].parked && value == 0) {
                  port[0].pollFailed(1_000_000_000L);
                } else if (value != 0) {
                  found[0] = value;
                  found[1] = port[0].now();
                }
                return 0;
              });
      world
          .thread(World.GPU)
          .then(p -> p.spend(7000))
          .then(p -> p.store64(device.address() + 512, 9, RELAXED));
      world.fabric.run(() -> found[0] == 9, World.FOREVER);
      // A round takes a round trip of 1200 ns; the store comes in the middle of one.
      assertThat(found[1]).isBetween(7000L + 600, 7000L + 2 * 1210);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {100, 9_000, 19_980, 20_000, 20_015, 20_030})
  void the_last_thing_to_happen_ends_the_wait_of_the_thread_that_polls_it(long nanos) {
    try (World world = world()) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 4096);
      boolean[] found = new boolean[1];
      ThreadPort[] port = new ThreadPort[1];
      port[0] =
          world.fabric.attachThread(
              World.GPU,
              budget -> {
                if (!found[0]) {
                  found[0] = port[0].load64(device.address(), RELAXED) == 9 && !port[0].parked;
                }
                if (!found[0] && !port[0].parked) {
                  port[0].pollFailed(1_000_000_000L);
                }
                return found[0] ? 0 : 1;
              });
      world
          .thread(World.GPU)
          .then(p -> p.spend(nanos))
          .then(p -> p.store64(device.address(), 9, RELAXED));
      for (int i = 0; i < 100 && !found[0]; i++) {
        world.fabric.sweep();
      }
      assertThat(found[0]).isTrue();
    }
  }

  @Test
  void threads_that_meet_go_on_at_the_instant_at_which_the_last_one_came() {
    try (World world = new World(new TimedFabric(RoundConstants.sameSwitch(), 1))) {
      List<World.Script> threads = new ArrayList<>();
      long[] at = new long[3];
      for (int i = 0; i < at.length; i++) {
        int which = i;
        World.Script thread = world.thread(World.GPU);
        threads.add(thread.then(p -> p.spend(100L * (which + 1))).then(p -> at[which] = p.now()));
      }
      threads.forEach(world::nanos);
      assertThat(at).containsExactly(100, 200, 300);
      Object meeting = null;
      for (World.Script thread : threads) {
        meeting = thread.port().arrive(meeting);
      }
      for (World.Script thread : threads) {
        thread.port().leave(meeting);
      }
      assertThat(threads).allSatisfy(thread -> assertThat(world.nanos(thread)).isEqualTo(300));
    }
  }

  @Test
  void quiescing_lets_everything_under_way_arrive() {
    try (World world = world();
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation host = world.allocate(MemoryKind.HOST, 1 << 20);
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.store64(host.address(), 1, WEAK))
              .then(p -> p.store64(host.address() + 64, 2, RELAXED));
      long source = nic.buffer(1 << 20);
      RawMemory.fill(source, 1 << 20, (byte) 3);
      nic.then(p -> p.write(source, host.address() + 4096, (1 << 20) - 4096, false));
      world.fabric.run(gpu.ended(), World.FOREVER);
      assertThat(RawMemory.getLong(host.address())).isZero();
      world.fabric.quiesce();
      assertThat(RawMemory.getLong(host.address())).isEqualTo(1);
      assertThat(RawMemory.getLong(host.address() + 64)).isEqualTo(2);
      assertThat(RawMemory.getByte(host.address() + (1 << 20) - 1)).isEqualTo((byte) 3);
    }
  }

  @Test
  void what_an_ended_thread_stored_is_there_when_the_run_is_done() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 128);
      World.Script gpu = world.thread(World.GPU).then(p -> p.store64(host.address(), 1, WEAK));
      boolean[] ended = new boolean[1];
      gpu.then(
          p -> {
            world.fabric.detach(gpu);
            ended[0] = true;
          });
      world.fabric.run(() -> ended[0], World.FOREVER);
      assertThat(RawMemory.getLong(host.address())).isEqualTo(1);
      assertThat(world.fabric.now()).isCloseTo(990, within(3L));
    }
  }

  @Test
  void weak_stores_merge_into_lines_and_strong_ones_do_not() {
    assertThat(storeTlps(WEAK)).isEqualTo(2);
    assertThat(storeTlps(RELAXED)).isEqualTo(16);
  }

  private static long storeTlps(int access) {
    TimedFabric fabric = new TimedFabric(RoundConstants.sameSwitch(), 1);
    try (World world = new World(fabric)) {
      Allocation host = world.allocate(MemoryKind.HOST, 256);
      World.Script gpu = world.thread(World.GPU);
      for (int i = 0; i < 256; i += 16) {
        int at = i;
        gpu.then(p -> p.store128(host.address() + at, at, at, access));
      }
      gpu.then(p -> p.fence(SYSTEM_FENCE));
      fabric.run(gpu.ended(), World.FOREVER);
      assertThat(RawMemory.getLong(host.address() + 240)).isEqualTo(240);
      return fabric.counters().links().getFirst().tlps();
    }
  }

  @Test
  void a_line_that_nobody_ends_leaves_when_its_window_has_passed() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 256);
      world
          .thread(World.GPU)
          .then(p -> p.store8(host.address() + 3, 7, WEAK))
          .then(p -> p.store32(host.address() + 40, 8, WEAK));
      long[] seen = new long[1];
      World.Script cpu =
          world
              .thread(World.CPU)
              .poll(p -> p.load32(host.address() + 40, RELAXED), 8)
              .then(p -> seen[0] = p.load8(host.address() + 3, RELAXED));
      assertThat(world.nanos(cpu)).isBetween(500L, 510L);
      assertThat(seen[0]).isEqualTo(7);
    }
  }

  @Test
  void pieces_of_a_blueflame_block_arrive_as_one_transaction_and_doorbells_each_alone() {
    try (World world = world();
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation page = world.allocate(MemoryKind.UAR, 4096);
      List<String> arrived = new ArrayList<>();
      nic.port.onMmio(
          page.address(),
          (address, source, bytes) ->
              arrived.add(
                  "%d+%d=%d"
                      .formatted(address - page.address(), bytes, RawMemory.getLong(source))));
      World.Script gpu = world.thread(World.GPU);
      for (int i = 0; i < 128; i += 16) {
        int at = i;
        gpu.then(p -> p.store128(page.address() + 0x800 + at, at, at, RELAXED));
      }
      gpu.then(p -> p.store64(page.address() + 0x800, 1, MMIO))
          .then(p -> p.store64(page.address() + 0x808, 2, MMIO))
          .then(p -> p.store64(page.address() + 0x800, 3, MMIO));
      world.fabric.run(() -> arrived.size() == 5, World.FOREVER);
      assertThat(arrived)
          .containsExactly("2048+64=0", "2112+64=64", "2048+8=1", "2056+8=2", "2048+8=3");
    }
  }

  @Test
  void a_torn_blueflame_block_arrives_in_the_pieces_that_were_stored() {
    try (World world = world();
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation page = world.allocate(MemoryKind.UAR, 4096);
      List<Integer> arrived = new ArrayList<>();
      nic.port.onMmio(page.address(), (address, source, bytes) -> arrived.add(bytes));
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.store128(page.address(), 1, 2, RELAXED))
              .then(p -> p.store128(page.address() + 16, 3, 4, RELAXED))
              .then(p -> p.store128(page.address() + 48, 5, 6, RELAXED));
      world.fabric.run(() -> arrived.size() == 2, World.FOREVER);
      assertThat(arrived).containsExactly(32, 16);
      assertThat(gpu.ended().getAsBoolean()).isTrue();
    }
  }

  @Test
  void without_a_fence_the_doorbell_overtakes_what_went_to_host_memory() {
    assertThat(seenAtDoorbell(false)).isZero();
    assertThat(seenAtDoorbell(true)).isEqualTo(77);
  }

  private static long seenAtDoorbell(boolean fenced) {
    try (World world = world();
        DeviceScript nic = new DeviceScript(world.fabric, World.NIC)) {
      Allocation page = world.allocate(MemoryKind.UAR, 4096);
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      List<Long> seen = new ArrayList<>();
      nic.port.onMmio(
          page.address(), (address, source, bytes) -> seen.add(RawMemory.getLong(host.address())));
      World.Script gpu = world.thread(World.GPU).then(p -> p.store64(host.address(), 77, WEAK));
      if (fenced) {
        gpu.then(p -> p.fence(SYSTEM_FENCE));
      }
      gpu.then(p -> p.store64(page.address(), 1, MMIO));
      world.fabric.run(() -> !seen.isEmpty(), World.FOREVER);
      return seen.getFirst();
    }
  }

  @Test
  void an_atomic_on_host_memory_is_performed_where_the_memory_is() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      long[] old = new long[2];
      for (int i = 0; i < 2; i++) {
        int thread = i;
        world
            .thread(World.GPU)
            .then(p -> old[thread] = p.atomic(Rmw.ADD, host.address(), 8, 5, 0, RELAXED));
      }
      world.fabric.run(() -> false, 10_000);
      assertThat(old).containsExactlyInAnyOrder(0, 5);
      assertThat(RawMemory.getLong(host.address())).isEqualTo(10);
    }
  }

  @Test
  void memory_sees_the_accesses_of_all_threads_in_the_order_of_their_times() {
    try (World world = world()) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 64);
      List<Long> times = new ArrayList<>();
      for (int i = 1; i <= 5; i++) {
        int step = 3 * i + 1;
        World.Script thread = world.thread(World.GPU);
        for (int k = 0; k < 40; k++) {
          thread
              .then(p -> p.spend(step))
              .then(
                  p -> {
                    p.atomic(Rmw.ADD, device.address(), 8, 1, 0, RELAXED);
                    if (!p.parked) {
                      times.add(p.now());
                    }
                  });
        }
      }
      world.fabric.run(() -> times.size() == 200, World.FOREVER);
      assertThat(times).hasSize(200).isSorted();
      assertThat(RawMemory.getLong(device.address())).isEqualTo(200);
    }
  }

  @Test
  void a_wait_that_nobody_will_end_is_a_stall_and_the_report_says_who_waits_for_what() {
    TimedFabric fabric = new TimedFabric(RoundConstants.sameSwitch(), 1);
    try (World world = new World(fabric)) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 64);
      World.Script poller =
          world.thread(World.GPU).poll(p -> p.load64(device.address() + 8, RELAXED), 1);
      world.thread(World.CPU);
      assertThat(fabric.run(poller.ended(), Long.MAX_VALUE)).isEqualTo(RunOutcome.STALLED);
      assertThat(fabric.waiting())
          .anySatisfy(
              line -> assertThat(line).startsWith("act 0 waits for a write to").contains("'gpu"));
    }
  }

  @Test
  void a_poll_with_a_limit_returns_when_it_is_over() {
    try (World world = world()) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 64);
      long[] looks = new long[1];
      World.Script gpu =
          world
              .thread(World.GPU)
              .poll(
                  p -> {
                    looks[0]++;
                    long value = p.load64(device.address(), RELAXED);
                    return p.now() >= 3_000_000 ? 1 : value;
                  },
                  1);
      assertThat(world.nanos(gpu)).isBetween(3_000_000L, 3_500_000L);
      assertThat(looks[0]).isLessThan(200);
    }
  }

  @Test
  void an_idle_thread_of_the_host_wakes_when_host_memory_is_written() {
    try (World world = world()) {
      Allocation host = world.allocate(MemoryKind.HOST, 4096);
      long[] found = new long[2];
      ThreadPort[] port = new ThreadPort[1];
      port[0] =
          world.fabric.attachThread(
              World.CPU,
              budget -> {
                if (found[0] == 0) {
                  found[0] = port[0].load64(host.address() + 512, WEAK);
                  found[1] = port[0].now();
                }
                return 0;
              });
      world
          .thread(World.GPU)
          .then(p -> p.spend(7000))
          .then(p -> p.store64(host.address() + 512, 9, RELAXED));
      world.fabric.run(() -> found[0] == 9, World.FOREVER);
      assertThat(found[1]).isBetween(7450L, 7455L);
    }
  }

  @Test
  void a_run_ends_at_its_deadline_and_goes_on_from_there() {
    try (World world = world()) {
      long[] at = new long[1];
      World.Script gpu =
          world.thread(World.GPU).then(p -> p.spend(1000)).then(p -> at[0] = p.now());
      Allocation device = world.allocate(MemoryKind.DEVICE, 64);
      gpu.then(p -> p.load64(device.address(), RELAXED));
      World.Script other = world.thread(World.GPU).then(p -> p.spend(5000));
      for (int i = 0; i < 2; i++) {
        other.then(p -> p.load64(device.address(), RELAXED));
      }
      assertThat(world.fabric.run(other.ended(), 2000)).isEqualTo(RunOutcome.DEADLINE);
      assertThat(world.fabric.now()).isEqualTo(2000);
      assertThat(world.fabric.run(other.ended(), 4000)).isEqualTo(RunOutcome.DONE);
      assertThat(at[0]).isEqualTo(1000);
    }
  }

  @Test
  void what_the_topology_does_not_have_is_refused_in_words() {
    try (World world = world()) {
      assertThatThrownBy(() -> world.fabric.attachThread(Locus.gpu(0, 3), budget -> 0))
          .hasMessageContaining("topology 'round-pix' has no gpu3")
          .hasMessageContaining("1 GPUs");
      Allocation foreign =
          world.fabric.memory().allocate(MemoryKind.HOST, Locus.cpu(1), 64, "rank 1's");
      World.Script gpu = world.thread(World.GPU).then(p -> p.load64(foreign.address(), WEAK));
      assertThatThrownBy(() -> world.fabric.run(gpu.ended(), 1000))
          .hasMessageContaining("rank0.gpu0 cannot address memory of rank1.cpu0");
    }
  }

  @Test
  void a_wild_address_is_a_fault_that_names_the_nearest_allocation() {
    try (World world = world()) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 64);
      World.Script gpu =
          world.thread(World.GPU).then(p -> p.store64(device.address() + 64, 1, WEAK));
      assertThatThrownBy(() -> world.fabric.run(gpu.ended(), 1000))
          .isInstanceOf(AccessFault.class)
          .hasMessageContaining("store of 8 bytes")
          .hasMessageContaining("'gpu memory of a test'");
      Allocation page = world.allocate(MemoryKind.UAR, 4096);
      World.Script ringer = world.thread(World.GPU).then(p -> p.store64(page.address(), 1, MMIO));
      world.fabric.detach(gpu);
      assertThatThrownBy(() -> world.fabric.run(ringer.ended(), 1000))
          .isInstanceOf(AccessFault.class);
    }
  }

  @Test
  void events_come_in_the_order_of_their_times() {
    TimedFabric fabric = new TimedFabric(RoundConstants.sameSwitch(), 1);
    List<TraceEvent> events = new ArrayList<>();
    fabric.trace(
        new Trace() {
          @Override
          public boolean enabled() {
            return true;
          }

          @Override
          public void record(TraceEvent event) {
            events.add(event);
          }
        });
    try (World world = new World(fabric);
        DeviceScript nic = new DeviceScript(fabric, World.NIC)) {
      Allocation page = world.allocate(MemoryKind.UAR, 4096);
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      int[] rings = new int[1];
      nic.port.onMmio(page.address(), (address, source, bytes) -> rings[0]++);
      world
          .thread(World.GPU)
          .then(p -> p.store64(host.address(), 1, WEAK))
          .then(p -> p.fence(SYSTEM_FENCE))
          .then(p -> p.store64(page.address(), 1, MMIO));
      fabric.run(() -> rings[0] == 1, World.FOREVER);
      assertThat(events)
          .extracting(TraceEvent::kind)
          .containsExactly(
              TraceEvent.Kind.STORE,
              TraceEvent.Kind.TLP,
              TraceEvent.Kind.FENCE,
              TraceEvent.Kind.STORE,
              TraceEvent.Kind.TLP,
              TraceEvent.Kind.MMIO);
      assertThat(events).extracting(TraceEvent::nanos).isSorted();
      assertThat(events.get(1).value()).as("its arrival").isGreaterThan(events.get(1).nanos());
    }
  }
}
