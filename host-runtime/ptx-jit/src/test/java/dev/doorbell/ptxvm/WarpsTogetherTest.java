package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.launch.VmOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Warps whose lanes go on together from where they meet. */
class WarpsTogetherTest {
  private static final VmOptions WARP = VmOptions.defaults().withEngine(VmOptions.Engine.WARP);

  /** Eight rounds, each of which begins where all lanes meet; {@code body} is a lane's part. */
  private static String rounds(String body) {
    return World.ptx(
        """
        .visible .entry rounds(.param .u64 out) {
          .reg .b64 %%rd<6>; .reg .b32 %%r<10>; .reg .pred %%p, %%q;
          ld.param.u64 %%rd0, [out];
          mov.u32 %%r0, %%tid.x;
          mul.wide.u32 %%rd1, %%r0, 4;
          add.u64 %%rd1, %%rd1, %%rd0;
          mov.u32 %%r1, 0;
          mov.u32 %%r2, 0;
        again:
          bar.warp.sync 0xffffffff;
        %s
          add.u32 %%r1, %%r1, 1;
          setp.lt.u32 %%p, %%r1, 8;
          @%%p bra again;
          st.global.u32 [%%rd1], %%r2;
          ret;
        }
        """
            .formatted(body));
  }

  private static int[] run(VmOptions options, String ptx, int threads) {
    try (World world = new World(0, options);
        Memory out = world.device(4096)) {
      out.fill(0, 4096, (byte) 0);
      try (GpuModule module = world.gpu.load("rounds.ptx", ptx)) {
        LaunchConfig config = LaunchConfig.of(1, threads).withTimeout(20_000_000_000L);
        world.run(module, "rounds", config, new KernelArguments().add(out)).check();
      }
      int[] values = new int[threads];
      for (int i = 0; i < threads; i++) {
        values[i] = (int) (out.getLong(4L * (i & -2)) >>> (32 * (i & 1)));
      }
      return values;
    }
  }

  @Test
  void a_lane_that_polls_for_the_store_of_a_later_one_gets_it() {
    String ptx =
        rounds(
            """
              setp.ne.u32 %p, %r0, 0;
              @%p bra others;
            poll:
              ld.acquire.gpu.global.u32 %r3, [%rd0+2048];
              setp.le.u32 %q, %r3, %r1;
              @%q bra poll;
              add.u32 %r2, %r2, %r3;
              bra joined;
            others:
              setp.ne.u32 %p, %r0, 31;
              @%p bra joined;
              add.u32 %r4, %r1, 1;
              st.release.gpu.global.u32 [%rd0+2048], %r4;
            joined:
            """);
    assertThat(run(WARP, ptx, 32)[0]).isEqualTo(1 + 2 + 3 + 4 + 5 + 6 + 7 + 8);
  }

  @Test
  void lanes_take_a_lock_from_each_other() {
    String ptx =
        rounds(
            """
            take:
              atom.acquire.gpu.global.cas.b32 %r3, [%rd0+2048], 0, 1;
              setp.ne.u32 %q, %r3, 0;
              @%q bra take;
              ld.relaxed.gpu.global.u32 %r4, [%rd0+2052];
              add.u32 %r4, %r4, 1;
              st.relaxed.gpu.global.u32 [%rd0+2052], %r4;
              st.release.gpu.global.u32 [%rd0+2048], 0;
              bar.warp.sync 0xffffffff;
              ld.relaxed.gpu.global.u32 %r2, [%rd0+2052];
              bar.warp.sync 0xffffffff;
            """);
    assertThat(run(WARP, ptx, 32)).containsOnly(8 * 32);
  }

  @ParameterizedTest
  @CsvSource({"4", "7", "32", "45"})
  void a_warp_that_is_not_full_goes_together_too(int threads) {
    String ptx =
        rounds(
            """
              add.u32 %r3, %r0, %r1;
              shfl.sync.bfly.b32 %r4, %r3, 1, 0x1f, 0xffffffff;
              mad.lo.u32 %r2, %r4, 3, %r2;
            """);
    VmOptions interpreter = VmOptions.defaults().withEngine(VmOptions.Engine.INTERPRETER);
    assertThat(run(WARP, ptx, threads)).isEqualTo(run(interpreter, ptx, threads));
  }

  /** Compiled in the middle of a launch, for what had run until then; the meetings had not. */
  @Test
  void lanes_that_meet_where_none_had_been_before_go_together() {
    String body =
        """
          shfl.sync.bfly.b32 %r4, %r2, 1, 0x1f, 0xffffffff;
          and.b32 %r5, %r4, 1;
          setp.ne.u32 %q, %r5, 0;
          @%q bra odd;
          add.u32 %r4, %r4, %r0;
        odd:
          mad.lo.u32 %r2, %r4, 3, %r1;
        """;
    String first =
        """
          mov.u32 %r6, 0;
        alone:
          add.u32 %r2, %r2, %r0;
          add.u32 %r6, %r6, 1;
          setp.lt.u32 %p, %r6, 10000;
          @%p bra alone;
        again:
        """;
    String ptx = rounds(body).replace("again:\n", first);
    VmOptions late = WARP.withCompileAfter(1000);
    VmOptions interpreter = VmOptions.defaults().withEngine(VmOptions.Engine.INTERPRETER);
    assertThat(engine(late, ptx)).isEqualTo("warp");
    assertThat(run(late, ptx, 32)).isEqualTo(run(interpreter, ptx, 32));
  }

  @ParameterizedTest
  @CsvSource({"INTERPRETER", "WARP"})
  void an_error_names_the_lane_and_the_line(VmOptions.Engine engine) {
    String ptx =
        rounds(
            """
              setp.ne.u32 %p, %r1, 5;
              @%p bra fine;
              setp.ne.u32 %p, %r0, 13;
              @%p bra fine;
              mov.u64 %rd2, 64;
              st.global.u32 [%rd2], %r1;
            fine:
            """);
    VmOptions options = VmOptions.defaults().withEngine(engine);
    assertThatThrownBy(() -> run(options, ptx, 32))
        .hasMessageContaining("store of 4 bytes at 0x40")
        .hasMessageContaining("'st.global.u32 [%rd2], %r1;'")
        .hasMessageContaining("thread (13,0,0)");
  }

  @ParameterizedTest
  @CsvSource({"INTERPRETER, 0, 1", "INTERPRETER, 1, 0", "WARP, 0, 1", "WARP, 1, 0"})
  void a_rank_without_nvlink_stores_to_its_own_memory_alone(
      VmOptions.Engine engine, int rank, int peer) {
    DirectFabric fabric = new DirectFabric();
    fabric.memory().separate(2, 1, "no way");
    VmOptions options = VmOptions.defaults().withEngine(engine);
    LaunchConfig config = LaunchConfig.of(1, 32).withTimeout(20_000_000_000L);
    try (World world = new World(fabric, Locus.gpu(rank, 0), options);
        VmGpu other = new VmGpu(fabric, Locus.gpu(peer, 0), options);
        Memory own = world.device(4096);
        Memory far = other.allocate(MemoryKind.DEVICE, 4096, "far");
        GpuModule module = world.gpu.load("rounds.ptx", rounds(" add.u32 %r2, %r2, 3;"))) {
      world.run(module, "rounds", config, new KernelArguments().add(own)).check();
      assertThat(own.getLong(0)).isEqualTo(24L << 32 | 24);
      Launch launch = world.run(module, "rounds", config, new KernelArguments().add(far));
      assertThat(catchThrowable(launch::check))
          .hasMessageContaining("gpu0 cannot address memory of rank%d.gpu0".formatted(peer))
          .hasMessageContaining("no NVLink is between them (no way)");
      assertThat(far.getLong(0)).isZero();
    }
  }

  @Test
  void a_warp_that_never_ends_is_stopped_at_its_deadline() {
    String ptx = rounds("  mov.u32 %r1, 0;\n");
    try (World world = new World(0, WARP);
        Memory out = world.device(4096);
        GpuModule module = world.gpu.load("rounds.ptx", ptx)) {
      LaunchConfig config = LaunchConfig.of(1, 32).withTimeout(50_000_000L);
      Launch launch = world.run(module, "rounds", config, new KernelArguments().add(out));
      assertThat(catchThrowable(launch::check)).hasMessageContaining("did not end within 50.0 ms");
    }
  }

  @Test
  void a_launch_says_whether_lanes_go_together() {
    assertThat(engine(WARP, rounds(""))).isEqualTo("warp");
    assertThat(engine(WARP, rounds("").replace("bar.warp.sync 0xffffffff;", "")))
        .isEqualTo("interpreter (its lanes never meet)");
  }

  private static String engine(VmOptions options, String ptx) {
    try (World world = new World(0, options);
        Memory out = world.device(4096);
        GpuModule module = world.gpu.load("rounds.ptx", ptx)) {
      Launch launch =
          world.run(module, "rounds", LaunchConfig.of(1, 32), new KernelArguments().add(out));
      launch.check();
      return launch.engine();
    }
  }
}
