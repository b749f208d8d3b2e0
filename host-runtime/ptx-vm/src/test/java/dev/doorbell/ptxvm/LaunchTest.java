package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.agent.ForwardProgress;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.ptxvm.launch.PtxCheck;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.launch.VmOptions;
import dev.doorbell.ptxvm.parser.PtxParser;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Modules, streams, waves, and what launching leaves behind. */
class LaunchTest {
  /** out[0] = out[0] * 3 + add, once; a sequence shows the order of launches. */
  private static final String STEP =
      """
      .visible .entry step(.param .u64 out, .param .u32 add) {
        .reg .b64 %rd<2>; .reg .b32 %r<4>;
        ld.param.u64 %rd1, [out];
        ld.param.u32 %r1, [add];
        ld.global.u32 %r2, [%rd1];
        mad.lo.u32 %r3, %r2, 3, %r1;
        st.global.u32 [%rd1], %r3;
        ret;
      }
      """;

  @Test
  void launches_of_a_stream_run_in_order_and_streams_side_by_side() {
    try (World world = new World(3, VmOptions.defaults())) {
      GpuModule module = world.gpu.load("step.ptx", World.ptx(STEP));
      Memory a = world.device(8);
      Memory b = world.device(8);
      GpuStream other = world.gpu.createStream();
      Launch lastA = null;
      Launch lastB = null;
      long expected = 0;
      for (int i = 1; i <= 10; i++) {
        lastA =
            world.gpu.launch(
                module.kernel("step"),
                LaunchConfig.of(1, 1),
                new KernelArguments().add(a).add(i),
                world.stream);
        lastB =
            world.gpu.launch(
                module.kernel("step"),
                LaunchConfig.of(1, 1),
                new KernelArguments().add(b).add(i),
                other);
        expected = expected * 3 + i;
      }
      assertThat(world.stream.idle()).isFalse();
      world.fabric.run(() -> world.stream.idle() && other.idle(), 120_000_000_000L);
      lastA.check();
      lastB.check();
      assertThat(a.getLong(0)).isEqualTo(expected);
      assertThat(b.getLong(0)).isEqualTo(expected);
    }
  }

  @Test
  void closing_a_stream_cancels_what_runs_and_what_waits_in_it() {
    try (World world = new World()) {
      GpuModule module = world.load("mistakes.ptx");
      GpuStream stream = world.gpu.createStream();
      KernelArguments arguments = new KernelArguments().add(world.device(8));
      LaunchConfig one = LaunchConfig.of(1, 1);
      Launch running = world.gpu.launch(module.kernel("spins_forever"), one, arguments, stream);
      Launch waiting = world.gpu.launch(module.kernel("fine"), one, arguments, stream);
      stream.close();
      assertThat(stream.idle()).isTrue();
      assertThatThrownBy(running::check).hasMessageContaining("its stream was closed");
      assertThatThrownBy(waiting::check).hasMessageContaining("its stream was closed");
      assertThatThrownBy(() -> world.gpu.launch(module.kernel("fine"), one, arguments, stream))
          .hasMessageContaining("the stream is not one of this GPU, or it is closed");
    }
  }

  @Test
  void a_launch_behind_a_failed_one_still_runs() {
    try (World world = new World()) {
      GpuModule module = world.load("mistakes.ptx");
      Memory out = world.device(4096);
      Launch bad =
          world.gpu.launch(
              module.kernel("traps"),
              LaunchConfig.of(1, 1),
              new KernelArguments().add(0),
              world.stream);
      Launch good =
          world.gpu.launch(
              module.kernel("fine"),
              LaunchConfig.of(1, 32),
              new KernelArguments().add(out),
              world.stream);
      world.fabric.run(good::done, 120_000_000_000L);
      assertThatThrownBy(bad::check).isInstanceOf(GpuException.class);
      good.check();
      assertThat(out.getLong(0)).isEqualTo(0x1_0000_0001L);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 7})
  void blocks_beyond_the_resident_ones_run_in_waves(int resident) {
    try (World world = new World(5, VmOptions.defaults().withMaxResidentBlocks(resident))) {
      Memory out = world.device(4096);
      Launch launch =
          world.run(
              world.load("mistakes.ptx"),
              "fine",
              LaunchConfig.of(29, 32),
              new KernelArguments().add(out));
      launch.check();
      for (int i = 0; i < 29 * 16; i++) {
        assertThat(out.getLong(i * 8L)).isEqualTo(0x1_0000_0001L);
      }
      assertThat(out.getLong(29 * 128)).isZero();
    }
  }

  @Test
  void a_grid_barrier_over_more_blocks_than_run_at_once_times_out_as_it_hangs_on_hardware() {
    try (World world = new World(0, VmOptions.defaults().withMaxResidentBlocks(4))) {
      Memory words = world.device(1024);
      GpuModule module = world.load("meeting.ptx");
      KernelArguments arguments =
          new KernelArguments().add(words).add(words.address() + 512).add(1);
      LaunchConfig five = LaunchConfig.of(5, 32).withTimeout(50_000_000);
      assertThatThrownBy(() -> world.run(module, "grid_barrier", five, arguments).check())
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("did not end within");
      assertThatThrownBy(() -> world.run(module, "grid_barrier", five.asCooperative(), arguments))
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("a cooperative launch of 5 blocks, at most 4 run at once");
    }
  }

  @Test
  void a_thousand_launches_leave_no_memory_behind() {
    try (World world = new World()) {
      GpuModule module = world.load("language.ptx");
      Memory in = world.device(1024);
      Memory out = world.device(1024);
      long before = world.fabric.memory().bytesInUse();
      for (int i = 0; i < 1000; i++) {
        world
            .run(
                module,
                "block_sum",
                LaunchConfig.of(2, 32).withSharedBytes(128),
                new KernelArguments().add(in).add(out))
            .check();
        assertThat(world.fabric.memory().bytesInUse()).isEqualTo(before);
      }
    }
  }

  @Test
  void loading_and_unloading_leaves_no_memory_behind() {
    try (World world = new World()) {
      long before = world.fabric.memory().bytesInUse();
      for (int i = 0; i < 20; i++) {
        world.load("language.ptx").close();
        assertThat(world.fabric.memory().bytesInUse()).isEqualTo(before);
      }
    }
  }

  @Test
  void a_module_whose_kernel_runs_is_not_unloaded() {
    try (World world = new World()) {
      GpuModule module = world.load("mistakes.ptx");
      Memory out = world.device(8);
      Launch launch =
          world.gpu.launch(
              module.kernel("spins_forever"),
              LaunchConfig.of(1, 1),
              new KernelArguments().add(out),
              world.stream);
      assertThatThrownBy(module::close)
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("spins_forever still runs");
      assertThatThrownBy(launch::check).hasMessageContaining("still runs");
      launch.cancel("the test has seen enough");
      assertThatThrownBy(launch::check).hasMessageContaining("the test has seen enough");
      module.close();
    }
  }

  @Test
  void impossible_launches_are_refused_with_the_limit() {
    try (World world = new World()) {
      GpuModule module = world.load("mistakes.ptx");
      KernelArguments arguments = new KernelArguments().add(0L);
      assertThatThrownBy(() -> world.run(module, "fine", LaunchConfig.of(1, 1025), arguments))
          .hasMessageContaining("1025 threads a block, at most 1024");
      assertThatThrownBy(() -> world.run(module, "fine", LaunchConfig.of(0, 1), arguments))
          .hasMessageContaining("at least 1");
      assertThatThrownBy(
              () ->
                  world.run(
                      module, "fine", LaunchConfig.of(1, 1).withSharedBytes(1 << 20), arguments))
          .hasMessageContaining("1048576 bytes of shared memory a block, at most 232448");
      assertThatThrownBy(() -> module.kernel("fin"))
          .hasMessageContaining("mistakes.ptx has no entry 'fin'; it has wild_store,");
    }
  }

  @Test
  void a_gpu_has_no_user_access_regions() {
    try (World world = new World()) {
      assertThatThrownBy(() -> world.gpu.allocate(MemoryKind.UAR, 100, "u"))
          .isInstanceOf(GpuException.class);
    }
  }

  @Test
  void closing_the_gpu_gives_everything_back() {
    try (World world = new World()) {
      long before = world.fabric.memory().bytesInUse();
      VmGpu gpu = new VmGpu(world.fabric, Locus.gpu(1, 0));
      GpuModule module = gpu.load("mistakes.ptx", World.text("mistakes.ptx"));
      Memory out = gpu.allocate(MemoryKind.DEVICE, 64, "out");
      Launch launch =
          gpu.launch(
              module.kernel("spins_forever"),
              LaunchConfig.of(1, 1),
              new KernelArguments().add(out),
              gpu.createStream());
      gpu.close();
      assertThat(launch.done()).isTrue();
      assertThat(world.fabric.memory().bytesInUse()).isEqualTo(before);
      assertThatThrownBy(() -> gpu.allocate(MemoryKind.DEVICE, 64, "late"))
          .hasMessageContaining("this GPU is closed");
    }
  }

  @Test
  void a_file_for_a_newer_gpu_is_refused() {
    try (World world = new World()) {
      assertThatThrownBy(
              () ->
                  world.gpu.load(
                      "new.ptx", ".version 8.8\n.target sm_100\n.address_size 64\n" + STEP))
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("new.ptx is for sm_100, this GPU has compute capability 9.0");
    }
  }

  @Test
  void a_gpu_of_a_higher_compute_capability_loads_what_the_check_allows_it() {
    String text = ".version 8.8\n.target sm_100a\n.address_size 64\n" + STEP;
    PtxParser.Result parsed = PtxParser.parse("new.ptx", text);
    assertThat(PtxCheck.of(parsed, 100).refusals()).isEmpty();
    assertThat(PtxCheck.of(parsed, 90).refusals())
        .singleElement()
        .satisfies(refusal -> assertThat(refusal.line()).isEqualTo(2))
        .satisfies(refusal -> assertThat(refusal.reason()).contains("-Ddoorbell.compute=100"));
    VmOptions newer = new VmOptions(1, VmOptions.Engine.INTERPRETER, 0, ForwardProgress.FAIR, 100);
    try (DirectFabric fabric = new DirectFabric();
        VmGpu gpu = new VmGpu(fabric, Locus.gpu(0, 0), newer)) {
      assertThat(gpu.attributes().computeCapability()).isEqualTo(100);
      assertThat(gpu.load("new.ptx", text).entries()).isNotEmpty();
    }
  }

  @Test
  void a_failed_poll_is_reported_and_a_scan_with_strong_loads_is_none() {
    String ptx =
        World.ptx(
            """
            .visible .entry scan(.param .u64 p, .param .u64 stop) {
              .reg .b64 %p, %s; .reg .b32 %i, %x, %y, %sum; .reg .pred %q;
              ld.param.u64 %p, [p];
              ld.param.u64 %s, [stop];
              mov.u32 %i, 0;
              mov.u32 %sum, 0;
            L:
              ld.volatile.global.u32 %x, [%p];
              ld.relaxed.sys.global.u32 %y, [%s];
              add.u32 %sum, %sum, %x;
              add.u64 %p, %p, 4;
              add.u32 %i, %i, 1;
              setp.lt.u32 %q, %i, 100;
              @%q bra L;
              st.global.u32 [%s+8], %sum;
              ret;
            }
            """);
    ParkingFabric fabric = new ParkingFabric(1);
    try (World world = new World(fabric, VmOptions.defaults())) {
      Memory in = world.device(400);
      Memory stop = world.device(16);
      in.putLong(0, 5);
      in.putLong(392, 7L << 32);
      KernelArguments arguments = new KernelArguments().add(in).add(stop);
      world.run(world.gpu.load("scan.ptx", ptx), "scan", LaunchConfig.of(1, 1), arguments).check();
      assertThat(stop.getLong(8)).isEqualTo(12);
      assertThat(fabric.failedPolls).isZero();
      Memory flags = world.device(1024);
      world
          .run(
              world.load("meeting.ptx"),
              "chain",
              LaunchConfig.of(1, 64),
              new KernelArguments().add(flags).add(64))
          .check();
      assertThat(fabric.failedPolls).isGreaterThan(60);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void accesses_that_park_are_issued_again_and_change_no_result(long seed) {
    requireResults(new ParkingFabric(seed));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void loads_that_go_ahead_of_their_thread_change_no_result(long seed) {
    ParkingFabric fabric = new ParkingFabric(seed, (int) (1 + seed * 7));
    requireResults(fabric);
    assertThat(fabric.mostAhead).as("loads under way at a time").isGreaterThan(1);
  }

  private static void requireResults(ParkingFabric fabric) {
    try (World world = new World(fabric, VmOptions.defaults())) {
      GpuModule language = world.load("language.ptx");
      Memory in = world.device(512);
      Memory out = world.device(1024);
      for (int i = 0; i < 64; i++) {
        in.putLong(i * 8L, i * 77L);
      }
      KernelArguments both = new KernelArguments().add(in).add(out);
      Launch sum =
          world.run(language, "block_sum", LaunchConfig.of(1, 128).withSharedBytes(512), both);
      sum.check();
      assertThat(out.getLong(0) & 0xffffffffL).isEqualTo(77 * 63 * 64 / 2);
      assertThat(fabric.executed).isEqualTo(sum.instructions());

      GpuModule meeting = world.load("meeting.ptx");
      Memory flags = world.device(1024);
      world
          .run(meeting, "chain", LaunchConfig.of(2, 64), new KernelArguments().add(flags).add(128))
          .check();
      Memory lock = world.device(8);
      Memory counted = world.device(8);
      world
          .run(
              meeting,
              "lock",
              LaunchConfig.of(1, 64),
              new KernelArguments().add(lock).add(counted).add(5))
          .check();
      assertThat(counted.getLong(0)).isEqualTo(320);

      GpuModule posts = world.load("posts.ptx");
      Memory q = world.device(64);
      Memory ring = world.device(1 << 16);
      Memory words = world.device(4096);
      q.putLong(0, ring.address());
      for (int i = 1; i < 5; i++) {
        q.putLong(i * 8L, words.address() + i * 256L);
      }
      q.putLong(40, 1023);
      world
          .run(
              posts,
              "put_post",
              LaunchConfig.of(1, 64),
              new KernelArguments().add(q).add(1L << 40).add(1L << 41).add(1).add(2).add(64).add(9))
          .check();
      long[] owners = new long[64 * 9];
      for (int i = 0; i < owners.length; i++) {
        owners[i] = ring.getLong(i * 64L + 48);
      }
      Arrays.sort(owners);
      assertThat(Arrays.stream(owners).distinct().count()).isEqualTo(owners.length);
      assertThat(fabric.parks).isGreaterThan(1000);
    }
  }
}
