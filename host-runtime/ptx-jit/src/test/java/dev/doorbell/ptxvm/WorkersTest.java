package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.ptxvm.launch.VmOptions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Blocks on several host threads. */
class WorkersTest {
  private static final int WORKERS = 3;
  private static final VmOptions OPTIONS =
      VmOptions.defaults().withEngine(VmOptions.Engine.WARP).withWorkers(WORKERS);

  /** Every thread adds 1 to a counter 100 times, and the block's number to a sum once. */
  private static final String COUNT =
      """
      .visible .entry count(.param .u64 cells) {
        .reg .b64 %rd<3>; .reg .b32 %r<4>; .reg .pred %p;
        ld.param.u64 %rd0, [cells];
        mov.u32 %r0, 0;
      again:
        atom.global.add.u64 %rd1, [%rd0], 1;
        add.u32 %r0, %r0, 1;
        setp.lt.u32 %p, %r0, 100;
        @%p bra again;
        mov.u32 %r1, %ctaid.x;
        cvt.u64.u32 %rd2, %r1;
        red.global.add.u64 [%rd0+8], %rd2;
        ret;
      }
      """;

  /** A chain: block n waits until block n-1 has passed, so that all must be running. */
  private static final String CHAIN =
      """
      .visible .entry chain(.param .u64 cells) {
        .reg .b64 %rd<3>; .reg .b32 %r<4>; .reg .pred %p;
        ld.param.u64 %rd0, [cells];
        mov.u32 %r1, %ctaid.x;
      wait:
        ld.acquire.gpu.global.u32 %r2, [%rd0];
        setp.ne.u32 %p, %r2, %r1;
        @%p bra wait;
        add.u32 %r2, %r2, 1;
        st.release.gpu.global.u32 [%rd0], %r2;
        ret;
      }
      """;

  /** Each block stores 100 times to the register, its number and a sequence number. */
  private static final String RING =
      """
      .visible .entry ring(.param .u64 register) {
        .reg .b64 %rd<2>; .reg .b32 %r<3>; .reg .pred %p;
        ld.param.u64 %rd0, [register];
        mov.u32 %r0, %ctaid.x;
        mov.u32 %r1, 0;
      again:
        mov.b64 %rd1, {%r1, %r0};
        st.mmio.relaxed.sys.global.b64 [%rd0], %rd1;
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p, %r1, 100;
        @%p bra again;
        ret;
      }
      """;

  private static final String FAULT =
      """
      .visible .entry fault(.param .u64 cells) {
        .reg .b64 %rd<2>; .reg .b32 %r<3>; .reg .pred %p;
        ld.param.u64 %rd0, [cells];
        mov.u32 %r0, %ctaid.x;
        setp.eq.u32 %p, %r0, 5;
        @!%p bra spin;
        st.global.u32 [%rd0+65536], %r0;
      spin:
        ld.acquire.gpu.global.u32 %r1, [%rd0];
        setp.eq.u32 %p, %r1, 0;
        @%p bra spin;
        ret;
      }
      """;

  @ParameterizedTest
  @EnumSource(VmOptions.Engine.class)
  void atomics_of_blocks_on_different_workers_add_up(VmOptions.Engine engine) {
    try (World world = new World(0, OPTIONS.withEngine(engine).withMaxResidentBlocks(7));
        Memory cells = world.device(16)) {
      Launch launch =
          world.runText(COUNT, "count", LaunchConfig.of(40, 32), new KernelArguments().add(cells));
      assertThat(cells.getLong(0)).isEqualTo(40L * 32 * 100);
      assertThat(cells.getLong(8)).isEqualTo(32L * (39 * 40 / 2));
      assertThat(launch.instructions()).isEqualTo(40L * 32 * (2 + 4 * 100 + 4));
    }
  }

  @Test
  void a_block_waits_for_one_on_another_worker() {
    try (World world = new World(0, OPTIONS);
        Memory cells = world.device(16)) {
      world.runText(CHAIN, "chain", LaunchConfig.of(30, 1), new KernelArguments().add(cells));
      assertThat(cells.getLong(0)).isEqualTo(30);
    }
  }

  @Test
  void doorbells_reach_the_device_on_its_own_thread_in_the_order_of_each_block() {
    try (World world = new World(0, OPTIONS)) {
      Locus nic = Locus.nic(0, 0);
      Allocation page =
          world.fabric.memory().allocate(MemoryKind.UAR, nic, AddressSpace.PAGE, "registers");
      List<Long> rung = new ArrayList<>();
      Set<Thread> threads = new HashSet<>();
      MmioTarget device =
          (address, source, bytes) -> {
            rung.add(RawMemory.getLong(source));
            threads.add(Thread.currentThread());
          };
      world.fabric.attachDevice(nic, budget -> 0).onMmio(page.address(), device);
      world.runText(RING, "ring", LaunchConfig.of(8, 1), new KernelArguments().add(page.address()));
      world.fabric.run(() -> rung.size() == 800, Long.MAX_VALUE);
      assertThat(rung).hasSize(800);
      assertThat(threads).containsExactly(Thread.currentThread());
      for (long block = 0; block < 8; block++) {
        long number = block;
        assertThat(rung.stream().filter(value -> value >>> 32 == number).map(v -> v & 0xffffffffL))
            .isSorted()
            .hasSize(100);
      }
    }
  }

  @Test
  void a_bad_store_on_one_worker_stops_the_kernel_on_all() {
    try (World world = new World(0, OPTIONS);
        Memory cells = world.device(16)) {
      Launch launch =
          world.run(
              world.gpu.load("fault.ptx", World.ptx(FAULT)),
              "fault",
              LaunchConfig.of(9, 32),
              new KernelArguments().add(cells));
      assertThat(launch.done()).isTrue();
      assertThatThrownBy(launch::check)
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("block (5,0,0)")
          .hasMessageContaining("st.global.u32 [%rd0+65536]");
      assertThat(world.fabric.memory().find(cells.address())).isNotNull();
      Memory again = world.device(16);
      world.runText(CHAIN, "chain", LaunchConfig.of(4, 1), new KernelArguments().add(again));
      assertThat(again.getLong(0)).isEqualTo(4);
    }
  }

  @Test
  void a_kernel_that_waits_for_ever_is_stopped_by_its_timeout_on_all_workers() {
    try (World world = new World(0, OPTIONS);
        Memory cells = world.device(16)) {
      cells.putLong(0, 77);
      Launch launch =
          world.run(
              world.gpu.load("chain.ptx", World.ptx(CHAIN)),
              "chain",
              LaunchConfig.of(6, 1).withTimeout(50_000_000),
              new KernelArguments().add(cells));
      assertThatThrownBy(launch::check)
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("it did not end within 50.0 ms");
    }
  }

  @Test
  void a_launch_can_be_cancelled_while_the_fabric_rests() {
    try (World world = new World(0, OPTIONS);
        Memory cells = world.device(16)) {
      cells.putLong(0, 77);
      Launch launch =
          world.gpu.launch(
              world.gpu.load("chain.ptx", World.ptx(CHAIN)).kernel("chain"),
              LaunchConfig.of(6, 1),
              new KernelArguments().add(cells),
              world.stream);
      world.fabric.run(launch::done, 20_000_000);
      launch.cancel("enough");
      assertThat(launch.done()).isTrue();
      assertThatThrownBy(launch::check).hasMessageContaining("enough");
    }
  }

  @Test
  void a_seed_keeps_everything_on_one_thread() {
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(), 17)) {
      assertThat(fabric.workers(4)).isEqualTo(1);
    }
  }
}
