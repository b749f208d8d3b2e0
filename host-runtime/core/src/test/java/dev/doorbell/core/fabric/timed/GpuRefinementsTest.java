package dev.doorbell.core.fabric.timed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.link.Links.LinkTraffic;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Tlp;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the refined prices of a GPU do, against values computed by hand from round constants. */
class GpuRefinementsTest {
  private static final int WEAK = Access.WEAK;
  private static final int RELAXED = Access.RELAXED | Access.SYS;
  private static final int SYSTEM_FENCE = Access.ACQ_REL | Access.SYS;
  private static final int GPU_FENCE = Access.ACQ_REL | Access.GPU;

  /** There and back, 450 ns each, and 90 ns in between. */
  private static final long ROUND_TRIP = 990;

  /** Bytes a nanosecond that TLPs get on Gen4 x16. */
  private static final double RATE = Link.rate(4, 16) * RoundConstants.EFFICIENCY;

  private static final int LINE = 128;
  private static final int WARP = 32;
  private static final int WRITE_OVERHEAD = Tlp.LONG_HEADER + Tlp.FRAMING;
  private static final int COMPLETION_OVERHEAD = Tlp.SHORT_HEADER + Tlp.FRAMING;

  private static GpuRefinements fences(boolean awaitsArrival) {
    return Prices.of(
        GpuRefinements.class,
        Map.of(
            "fenceSystemFloor",
            500,
            "fenceRemote",
            240,
            "fenceSystemRemote",
            600,
            "fenceAwaitsArrival",
            awaitsArrival));
  }

  private static GpuRefinements loads(int granule) {
    return Prices.of(
        GpuRefinements.class,
        Map.of(
            "remoteLoad",
            30,
            "remoteAtomic",
            20,
            "remoteSpread",
            50,
            "remoteContention",
            2,
            "loadGranule",
            granule));
  }

  private static GpuRefinements rates(double block, double load, double store) {
    return Prices.of(
        GpuRefinements.class,
        Map.of(
            "fenceAwaitsArrival",
            false,
            "blockStoreRate",
            block,
            "loadRate",
            load,
            "storeRate",
            store));
  }

  private static World world(GpuRefinements refinements) {
    return new World(new TimedFabric(RoundConstants.refined(refinements), 1));
  }

  /** Runs a script of the GPU to its end; returns when that was. */
  private static long nanos(World world, World.Script script) {
    long[] at = new long[1];
    script.then(p -> at[0] = p.now());
    assertThat(world.fabric.run(script.ended(), World.FOREVER)).isEqualTo(RunOutcome.DONE);
    return at[0];
  }

  private static World.Script inBlock(World world, long block) {
    World.Script script = new World.Script();
    script.attach(world.fabric.attachThread(World.GPU, block, script));
    return script;
  }

  @Test
  void a_fence_of_system_scope_has_a_floor_of_its_own() {
    try (World world = world(fences(true))) {
      World.Script gpu = world.thread(World.GPU).then(p -> p.fence(GPU_FENCE));
      assertThat(nanos(world, gpu)).isZero();
      gpu.then(p -> p.fence(SYSTEM_FENCE)).then(p -> p.fence(SYSTEM_FENCE));
      assertThat(nanos(world, gpu)).isEqualTo(2 * 500);
    }
  }

  @Test
  void a_fence_that_acquires_alone_awaits_no_store_and_has_no_floor() {
    try (World world = world(fences(true))) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.store64(host.address(), 1, WEAK))
              .then(p -> p.fence(Access.ACQUIRE | Access.SYS));
      assertThat(nanos(world, gpu)).isZero();
      gpu.then(p -> p.fence(Access.RELEASE | Access.SYS));
      assertThat(nanos(world, gpu)).isGreaterThanOrEqualTo(500);
    }
  }

  @Test
  void a_fence_of_gpu_scope_after_a_store_to_the_host_has_its_price_once() {
    try (World world = world(fences(true))) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.store64(host.address(), 1, WEAK))
              .then(p -> p.fence(GPU_FENCE))
              .then(p -> p.fence(GPU_FENCE));
      assertThat(nanos(world, gpu)).isEqualTo(240);
    }
  }

  @Test
  void a_fence_that_awaits_arrival_takes_the_round_trip_and_one_that_does_not_its_price() {
    assertThat(storeAndFence(true)).isCloseTo(ROUND_TRIP, within(3L));
    assertThat(storeAndFence(false)).isEqualTo(600);
  }

  private static long storeAndFence(boolean awaitsArrival) {
    try (World world = world(fences(awaitsArrival))) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      World.Script gpu =
          world
              .thread(World.GPU)
              .then(p -> p.store64(host.address(), 1, WEAK))
              .then(p -> p.fence(SYSTEM_FENCE));
      return nanos(world, gpu);
    }
  }

  @Test
  void a_fence_that_does_not_await_arrival_waits_until_the_link_has_taken_everything() {
    int lines = 1024;
    try (World world = world(fences(false))) {
      Allocation host = world.allocate(MemoryKind.HOST, (long) lines * LINE);
      World.Script gpu = world.thread(World.GPU);
      for (int i = 0; i < lines * LINE; i += 16) {
        long at = host.address() + i;
        gpu.then(p -> p.store128(at, 1, 2, WEAK));
      }
      gpu.then(p -> p.fence(SYSTEM_FENCE));
      long sent = Math.round(lines * (LINE + WRITE_OVERHEAD) / RATE);
      assertThat(nanos(world, gpu)).isCloseTo(sent, within(1L));
    }
  }

  @Test
  void loads_of_one_instant_from_one_line_are_one_request() {
    assertThat(warpLoads(128).tlps).isEqualTo(1);
    assertThat(warpLoads(64).tlps).isEqualTo(2);
    assertThat(warpLoads(0).tlps).isEqualTo(32);
  }

  @Test
  void a_request_that_lanes_share_brings_them_the_line_at_one_time() {
    Loads shared = warpLoads(128);
    // The request, the way there and back, the completion with the line, and what GPUs take on top.
    double wire = (WRITE_OVERHEAD + LINE + COMPLETION_OVERHEAD) / RATE;
    assertThat(shared.times).allSatisfy(t -> assertThat(t).isEqualTo(shared.times.getFirst()));
    assertThat(shared.times.getFirst())
        .isCloseTo(Math.round(ROUND_TRIP + wire + 30 + 32 * 2), within(1L));
  }

  @Test
  void what_a_load_and_an_atomic_take_beyond_their_way_is_theirs_alone() {
    double wire = (WRITE_OVERHEAD + 8 + COMPLETION_OVERHEAD) / RATE;
    try (World world = world(loads(128))) {
      Allocation host = world.allocate(MemoryKind.HOST, 64);
      World.Script gpu = world.thread(World.GPU).then(p -> p.load64(host.address(), RELAXED));
      long first = Math.round(ROUND_TRIP + wire + 30 + 2);
      assertThat(nanos(world, gpu)).isCloseTo(first, within(1L));
      gpu.then(p -> p.atomic(Rmw.ADD, host.address(), 8, 1, 0, RELAXED));
      wire += 8 / RATE;
      assertThat(nanos(world, gpu))
          .isCloseTo(first + Math.round(ROUND_TRIP + wire + 20), within(2L));
    }
  }

  @Test
  void lanes_that_share_requests_wait_longer_the_wider_they_load() {
    // Two lines of 16 lanes and four of 8; those whose request is theirs alone wait for nobody.
    double wire = (WRITE_OVERHEAD + LINE + COMPLETION_OVERHEAD) / RATE;
    assertThat(lastOf(16, 8, 128))
        .isCloseTo(Math.round(ROUND_TRIP + wire + 30 + 16 * 2 + 50), within(1L));
    assertThat(lastOf(8, 16, 128))
        .isCloseTo(Math.round(ROUND_TRIP + wire + 30 + 8 * 2 + 100), within(1L));
    wire = (WRITE_OVERHEAD + 16 + COMPLETION_OVERHEAD) / RATE;
    assertThat(lastOf(1, 16, 0)).isCloseTo(Math.round(ROUND_TRIP + wire + 30 + 2), within(1L));
  }

  /** So many threads load a line of the host together; when the last one has its part. */
  private static long lastOf(int lanes, int bytes, int granule) {
    try (World world = world(loads(granule))) {
      Allocation host = world.allocate(MemoryKind.HOST, LINE);
      List<World.Script> scripts = new ArrayList<>();
      for (int i = 0; i < lanes; i++) {
        long at = host.address() + (long) bytes * i;
        World.Script lane = world.thread(World.GPU);
        scripts.add(
            bytes == 16
                ? lane.then(p -> p.load128(at, RELAXED))
                : lane.then(p -> p.load64(at, RELAXED)));
      }
      return scripts.stream().mapToLong(lane -> nanos(world, lane)).max().orElseThrow();
    }
  }

  private static final class Loads {
    private final List<Long> times = new ArrayList<>();
    private long tlps;
  }

  /** Thirty-two threads load the 4-byte words of a line of the host at once. */
  private static Loads warpLoads(int granule) {
    Loads loads = new Loads();
    try (World world = world(loads(granule))) {
      Allocation host = world.allocate(MemoryKind.HOST, LINE);
      List<World.Script> lanes = new ArrayList<>();
      for (int i = 0; i < 32; i++) {
        long at = host.address() + 4L * i;
        int value = 100 + i;
        RawMemory.putInt(at, value);
        long[] seen = new long[1];
        lanes.add(
            world
                .thread(World.GPU)
                .then(p -> seen[0] = p.load32(at, RELAXED))
                .then(
                    p -> {
                      assertThat(seen[0]).isEqualTo(value);
                      loads.times.add(p.now());
                    }));
      }
      world.fabric.run(
          () -> lanes.stream().allMatch(lane -> lane.ended().getAsBoolean()), World.FOREVER);
      loads.tlps = requests(world);
    }
    assertThat(loads.times).hasSize(32);
    return loads;
  }

  /** On the first link on their way; completions come back on its other direction. */
  private static long requests(World world) {
    return ((TimedFabric) world.fabric)
        .counters().links().stream()
            .filter(link -> link.link().endsWith("gpu0>switch"))
            .mapToLong(LinkTraffic::tlps)
            .sum();
  }

  @Test
  void a_thread_that_stored_into_the_line_loads_with_a_request_of_its_own_and_sees_its_store() {
    try (World world = world(loads(128))) {
      Allocation host = world.allocate(MemoryKind.HOST, 8192);
      World.Script other = world.thread(World.GPU).then(p -> p.load32(host.address(), RELAXED));
      long[] seen = new long[1];
      World.Script writer = world.thread(World.GPU);
      // So much before it that the request of the other thread is answered before it arrives.
      for (int i = LINE; i < 8192; i += 16) {
        long at = host.address() + i;
        writer.then(p -> p.store128(at, 1, 1, RELAXED));
      }
      writer
          .then(p -> p.store32(host.address() + 4, 7, RELAXED))
          .then(p -> seen[0] = p.load32(host.address() + 4, RELAXED));
      nanos(world, writer);
      nanos(world, other);
      assertThat(seen[0]).isEqualTo(7);
    }
  }

  @Test
  void stores_of_a_block_pass_its_gate_and_another_block_has_another_gate() {
    assertThat(storesOfTwo(1, 1, MemoryKind.DEVICE)).isCloseTo(2 * 100 * 32 / 32, within(2L));
    assertThat(storesOfTwo(1, 2, MemoryKind.DEVICE)).isCloseTo(100 * 32 / 32, within(2L));
    assertThat(storesOfTwo(1, 1, MemoryKind.HOST)).isCloseTo(2 * 100 * 32 / 32, within(2L));
  }

  /**
   * Two threads store a hundred times 16 bytes each, each time a sector of its own, at 32 bytes a
   * nanosecond and block.
   */
  private static long storesOfTwo(long block, long other, MemoryKind kind) {
    try (World world = world(rates(32, 0, 0))) {
      Allocation memory = world.allocate(kind, 8192);
      World.Script first = inBlock(world, block);
      World.Script second = inBlock(world, other);
      for (int i = 0; i < 100; i++) {
        long at = memory.address() + 16L * i;
        first.then(p -> p.store128(at, 1, 1, WEAK));
        second.then(p -> p.store128(at + 4096, 1, 1, WEAK));
      }
      return Math.max(nanos(world, first), nanos(world, second));
    }
  }

  @Test
  void a_warp_passes_a_gate_as_one_request_and_warps_one_after_another() {
    // 512 bytes of a warp at 32 bytes a nanosecond: its requests have their turns 16 ns apart.
    int warps = 3;
    int rounds = 4;
    long[][][] behind = new long[warps][WARP][rounds];
    try (World world = world(rates(32, 0, 0))) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 16L * WARP * warps);
      World.Script last = new World.Script();
      for (int thread = 0; thread < warps * WARP; thread++) {
        last = inBlock(world, 1);
        long at = device.address() + 16L * thread;
        long[] times = behind[thread / WARP][thread % WARP];
        for (int round = 0; round < rounds; round++) {
          int which = round;
          last.then(p -> p.store128(at, 1, 1, WEAK))
              .then(p -> times[which] = p.now())
              .then(p -> p.spend(1));
        }
      }
      nanos(world, last);
    }
    for (int warp = 0; warp < warps; warp++) {
      for (int lane = 0; lane < WARP; lane++) {
        for (int round = 0; round < rounds; round++) {
          assertThat(behind[warp][lane][round])
              .as("round %d of lane %d of warp %d", round, lane, warp)
              .isEqualTo(16L * (warps * round + warp));
        }
      }
    }
  }

  @Test
  void lanes_that_passed_gates_together_still_share_the_requests_of_their_loads() {
    GpuRefinements all =
        Prices.of(
            GpuRefinements.class,
            Map.of(
                "fenceAwaitsArrival",
                false,
                "loadGranule",
                LINE,
                "blockStoreRate",
                32,
                "loadRate",
                64,
                "storeRate",
                48));
    try (World world = world(all)) {
      Allocation host = world.allocate(MemoryKind.HOST, 4L * WARP);
      Allocation device = world.allocate(MemoryKind.DEVICE, 16L * WARP);
      List<World.Script> lanes = new ArrayList<>();
      for (int i = 0; i < WARP; i++) {
        long from = host.address() + 4L * i;
        long to = device.address() + 16L * i;
        World.Script lane = inBlock(world, 1);
        for (int round = 0; round < 5; round++) {
          lane.then(p -> p.load32(from, RELAXED))
              .then(p -> p.store128(to, 1, 1, WEAK))
              .then(p -> p.load128(to, RELAXED))
              .then(p -> p.spend(1));
        }
        lanes.add(lane);
      }
      lanes.forEach(lane -> nanos(world, lane));
      assertThat(requests(world)).isEqualTo(5);
    }
  }

  @Test
  void loads_and_stores_of_device_memory_share_its_bandwidth() {
    try (World world = world(rates(0, 64, 32))) {
      Allocation device = world.allocate(MemoryKind.DEVICE, 4096);
      World.Script stores = world.thread(World.GPU);
      World.Script loads = world.thread(World.GPU);
      for (int i = 0; i < 200; i++) {
        long at = device.address() + 16L * i;
        stores.then(p -> p.store128(at, 1, 1, WEAK));
        loads.then(p -> p.load128(at, WEAK));
      }
      assertThat(nanos(world, stores)).isCloseTo(200 * 16 / 32, within(1L));
      assertThat(nanos(world, loads)).isCloseTo(200 * 16 / 64, within(1L));
    }
  }
}
