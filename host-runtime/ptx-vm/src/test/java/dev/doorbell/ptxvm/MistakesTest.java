package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.assertj.core.api.InstanceOfAssertFactories.THROWABLE;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import java.util.List;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Mistakes of kernels end the kernel with a message that finds them, and nothing else. */
class MistakesTest {
  private World world;
  private GpuModule module;
  private Memory out;
  private long inUse;

  @BeforeEach
  void load() {
    world = new World();
    module = world.load("mistakes.ptx");
    out = world.gpu.allocate(MemoryKind.DEVICE, 4096, "results");
    inUse = world.fabric.memory().bytesInUse();
  }

  /** Whatever went wrong: the launch's memory is back, and the GPU runs the next kernel. */
  @AfterEach
  void the_world_stays_usable() {
    assertThat(world.fabric.memory().bytesInUse()).isEqualTo(inUse);
    world.run(module, "fine", LaunchConfig.of(2, 32), new KernelArguments().add(out)).check();
    world.close();
  }

  private AbstractThrowableAssert<?, ?> failureOf(
      String kernel, LaunchConfig config, KernelArguments arguments) {
    Launch launch = world.run(module, kernel, config, arguments);
    assertThat(launch.done()).isTrue();
    return assertThatThrownBy(launch::check)
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("kernel " + kernel + " was stopped");
  }

  private AbstractThrowableAssert<?, ?> failureOf(
      String kernel, int threads, KernelArguments arguments) {
    return failureOf(kernel, LaunchConfig.of(1, threads), arguments);
  }

  @Test
  void a_wild_store_names_line_thread_address_and_nearest_allocation() {
    failureOf("wild_store", 32, new KernelArguments().add(out).add(1030))
        .hasMessageContaining("store of 4 bytes at 0x%x".formatted(out.address() + 4120))
        .hasMessageContaining("24 bytes past the end of 'results'")
        .hasMessageContaining("mistakes.ptx:")
        .hasMessageContaining("'st.global.u32 \t[%rd4], %r3;'")
        .hasMessageContaining("(mistakes.cu:6)")
        .hasMessageContaining("block (0,0,0) thread (5,0,0)");
  }

  @Test
  void a_wild_load_and_a_wild_atomic_are_stopped() {
    failureOf("wild_load", 1, new KernelArguments().add(0x10L).add(out))
        .hasMessageContaining("load of 8 bytes at 0x10");
    failureOf("wild_atomic", 1, new KernelArguments().add(-64L))
        .hasMessageContaining("atomic of 4 bytes");
  }

  /** A device that fails stands for an instruction that the VM carries out wrongly. */
  @Test
  void a_fault_of_the_vm_itself_comes_with_its_instruction() {
    Fabric fabric = world.fabric;
    Locus nic = Locus.nic(0, 0);
    Allocation page = fabric.memory().allocate(MemoryKind.UAR, nic, AddressSpace.PAGE, "registers");
    fabric
        .attachDevice(nic, budget -> 0)
        .onMmio(
            page.address(),
            (address, source, bytes) -> {
              throw new IndexOutOfBoundsException("a table that is too short");
            });
    KernelArguments arguments = new KernelArguments().add(page.address()).add(0);
    Launch launch =
        world.gpu.launch(
            module.kernel("wild_store"), LaunchConfig.of(1, 32), arguments, world.stream);
    assertThatThrownBy(() -> fabric.run(launch::done, 60_000_000_000L))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .extracting(fault -> List.of(fault.getSuppressed()), LIST)
        .singleElement(THROWABLE)
        .hasMessageContaining("block (0,0,0) thread (5,0,0) of kernel wild_store")
        .hasMessageContaining("'st.global.u32 \t[%rd4], %r3;'");
    launch.cancel("the test is over");
    fabric.memory().free(page);
  }

  @Test
  void a_misaligned_access_is_stopped() {
    failureOf("misaligned", 2, new KernelArguments().add(out))
        .hasMessageContaining("misaligned store of 4 bytes")
        .hasMessageContaining("must be a multiple of 4")
        .hasMessageContaining("thread (1,0,0)");
  }

  @Test
  void shared_memory_ends_where_the_launch_says() {
    failureOf(
            "shared_overrun",
            LaunchConfig.of(1, 1).withSharedBytes(64),
            new KernelArguments().add(16).add(out))
        .hasMessageContaining("at shared offset 0x40: the shared memory here has 64 bytes");
  }

  @Test
  void local_memory_of_another_thread_is_out_of_reach() {
    failureOf("other_local", 2, new KernelArguments().add(out).add(1))
        .hasMessageContaining("nor in the local memory of this thread");
  }

  @Test
  void a_barrier_that_exited_threads_never_reach_is_reported() {
    failureOf("early_exit", 64, new KernelArguments().add(out))
        .hasMessageContaining("barrier 3: 60 of 64 threads have arrived")
        .hasMessageContaining("4 of its 64 threads have exited")
        .hasMessageContaining("60 waiting at mistakes.ptx:");
  }

  @Test
  void barrier_ids_and_counts_must_exist() {
    failureOf("barrier_id", 32, new KernelArguments().add(16))
        .hasMessageContaining("there is no barrier 16");
    failureOf("barrier_count", 64, new KernelArguments().add(33))
        .hasMessageContaining("barrier of 33 threads");
    failureOf("barrier_counts_differ", 96, new KernelArguments())
        .hasMessageContaining("expects 96 threads, those before it expect 64");
  }

  @Test
  void a_lane_must_be_in_its_own_mask() {
    failureOf("not_in_mask", 32, new KernelArguments().add(out))
        .hasMessageContaining("mask 0xfffffffe does not name it")
        .hasMessageContaining("thread (0,0,0)");
  }

  @Test
  void a_mask_that_never_fills_is_reported_with_what_both_sides_wait_for() {
    failureOf("never_fills", 32, new KernelArguments().add(out))
        .hasMessageContaining("no thread of block (0,0,0) can go on")
        .hasMessageContaining("16 waiting at")
        .hasMessageContaining("shfl.sync")
        .hasMessageContaining("bar.sync");
  }

  @Test
  void lanes_at_different_warp_operations_are_reported_with_both_lines() {
    failureOf("two_shuffles", 32, new KernelArguments().add(out))
        .hasMessageContaining("at another warp operation")
        .hasMessageContaining("shfl.sync.idx")
        .hasMessageContaining("shfl.sync.bfly");
  }

  @Test
  void a_trap_is_reported() {
    failureOf("traps", 32, new KernelArguments().add(7))
        .hasMessageContaining("trap")
        .hasMessageContaining("thread (7,0,0)");
  }

  @Test
  void a_kernel_that_polls_in_vain_is_stopped_by_its_timeout() {
    failureOf(
            "waits_forever",
            LaunchConfig.of(1, 32).withTimeout(300_000_000),
            new KernelArguments().add(out))
        .hasMessageContaining("did not end within 300 ms")
        .hasMessageContaining("3 polling at mistakes.ptx:")
        .hasMessageContaining("first block (0,0,0) thread (0,0,0)");
  }

  @Test
  void a_kernel_that_computes_forever_is_stopped_by_its_timeout() {
    failureOf(
            "spins_forever",
            LaunchConfig.of(1, 1).withTimeout(300_000_000),
            new KernelArguments().add(out))
        .hasMessageContaining("1 running at mistakes.ptx:");
  }

  @Test
  void arguments_must_fit_the_parameters() {
    assertThatThrownBy(() -> failureOf("wild_store", 1, new KernelArguments().add(out)))
        .isInstanceOf(GpuException.class)
        .hasMessage("kernel wild_store takes 2 parameters, 1 arguments were given");
  }
}
