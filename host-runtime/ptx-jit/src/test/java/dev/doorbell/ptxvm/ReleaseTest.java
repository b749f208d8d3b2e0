package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.ptxvm.launch.VmOptions;
import java.io.IOException;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a module used is given back when it is closed: heap, classes, native memory. */
class ReleaseTest {
  private static final String KERNEL =
      """
      .global .u32 total;
      .visible .entry add(.param .u64 out) {
        .shared .align 8 .b8 board[256];
        .reg .b64 %rd<3>; .reg .b32 %r<6>; .reg .pred %p;
        ld.param.u64 %rd0, [out];
        mov.u32 %r0, %tid.x;
        mov.u32 %r1, 0;
      again:
        red.global.add.u32 [total], %r0;
        bar.warp.sync 0xffffffff;
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p, %r1, 3;
        @%p bra again;
        bar.sync 0;
        ld.global.u32 %r2, [total];
        st.global.u32 [%rd0], %r2;
        ret;
      }
      """;

  /** Counts the threads whose local memory is not zero at first, and leaves it so. */
  private static final String FRAMES =
      """
      .visible .entry frames(.param .u64 out) {
        .local .align 8 .b8 depot[4096];
        .reg .b64 %rd<4>; .reg .b32 %r<3>; .reg .pred %p;
        ld.param.u64 %rd0, [out];
        mov.u64 %rd1, depot;
        ld.local.u32 %r0, [%rd1+2048];
        st.local.u32 [%rd1+2048], 7;
        setp.ne.u32 %p, %r0, 0;
        @%p red.global.add.u32 [%rd0], 1;
        ret;
      }
      """;

  /** Bytes of each kind in use after a collection. */
  private record Use(long heap, long classes, long loaded, long resident, long emulated) {}

  private static Use use(World world) {
    System.gc();
    System.gc();
    long classes = 0;
    for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
      if (pool.getName().equals("Metaspace")) {
        classes = pool.getUsage().getUsed();
      }
    }
    ClassLoadingMXBean loading = ManagementFactory.getClassLoadingMXBean();
    return new Use(
        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
        classes,
        loading.getLoadedClassCount(),
        resident(),
        world.fabric.memory().bytesInUse());
  }

  /** The process's resident bytes, or 0 where the system does not tell. */
  private static long resident() {
    try {
      return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ", -1)[1]) * 4096;
    } catch (IOException | NumberFormatException e) {
      return 0;
    }
  }

  @Test
  void a_closed_module_leaves_nothing_behind() {
    requireFlat(150, 400, 8);
  }

  @Test
  void local_memory_of_a_launch_is_zero_although_it_is_kept_for_the_next_one() {
    try (World world = new World();
        Memory out = world.device(8)) {
      long before = world.fabric.memory().bytesInUse();
      try (GpuModule module = world.gpu.load("frames.ptx", World.ptx(FRAMES))) {
        for (int launch = 0; launch < 3; launch++) {
          world
              .run(module, "frames", LaunchConfig.of(2, 128), new KernelArguments().add(out))
              .check();
        }
        assertThat(out.getLong(0)).isZero();
        assertThat(world.fabric.memory().bytesInUse()).isGreaterThan(before + 256L * 4096);
      }
      assertThat(world.fabric.memory().bytesInUse()).isEqualTo(before);
    }
  }

  /**
   * With classes of regions, and of warps. For {@code -Ddoorbell.release.loads=}, 10,000 unless
   * set.
   */
  @Test
  @Tag("slow")
  void thousands_of_modules_leave_nothing_behind() {
    int loads = Integer.getInteger("doorbell.release.loads", 4_000);
    requireFlat(loads / 5, loads, 48);
  }

  private static void requireFlat(int settled, int loads, int megabytes) {
    VmOptions options = VmOptions.defaults().withEngine(VmOptions.Engine.WARP);
    try (World world = new World(0, options);
        Memory out = world.device(8)) {
      loadAndRun(world, out, settled);
      Use before = use(world);
      loadAndRun(world, out, loads - settled);
      Use after = use(world);
      String both = "before: %s, after: %s".formatted(before, after);
      long slack = (long) megabytes << 20;
      assertThat(after.emulated).as(both).isEqualTo(before.emulated);
      assertThat(after.heap).as(both).isLessThan(before.heap + slack);
      assertThat(after.classes).as(both).isLessThan(before.classes + slack / 4);
      assertThat(after.loaded).as(both).isLessThan(before.loaded + (loads - settled) / 2);
      if (loads >= 1000) {
        assertThat(after.resident).as(both).isLessThan(before.resident + 4 * slack);
      }
    }
  }

  private static void loadAndRun(World world, Memory out, int times) {
    String ptx = World.ptx(KERNEL);
    for (int i = 0; i < times; i++) {
      try (GpuModule module = world.gpu.load("add.ptx", ptx)) {
        world.run(module, "add", LaunchConfig.of(1, 64), new KernelArguments().add(out)).check();
      }
      assertThat(out.getLong(0)).isEqualTo(3L * (63 * 64 / 2));
    }
  }
}
