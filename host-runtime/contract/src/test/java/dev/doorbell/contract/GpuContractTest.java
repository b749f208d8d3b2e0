package dev.doorbell.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.AccessFault;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of every GPU, emulated or real, with correct kernels. */
@SuppressWarnings("NullAway.Init") // JUnit calls open first
public abstract class GpuContractTest {
  private static final long ONE_TEBIBYTE = 1L << 40;
  private static final LaunchConfig ONE_THREAD = LaunchConfig.of(1, 1);

  private GpuWorld world;

  /** A GPU at rank 0, index 0, in a direct fabric without a seed. */
  protected abstract GpuWorld openWorld();

  @BeforeEach
  void open() {
    world = openWorld();
  }

  @AfterEach
  void close() {
    world.close();
  }

  @ParameterizedTest
  @EnumSource(names = {"DEVICE", "MANAGED", "HOST"})
  void memory_of_every_kind_is_zeroed_and_gives_back_what_was_written(MemoryKind kind) {
    try (Memory memory = world.gpu().allocate(kind, 3 << 20, "buffer")) {
      assertThat(memory.kind()).isEqualTo(kind);
      assertThat(memory.size()).isEqualTo(3 << 20);
      assertThat(memory.address() % 4096).isZero();
      assertThat(memory.getBytes(0, 3 << 20)).containsOnly(0);
      byte[] pattern = new byte[(2 << 20) + 5];
      new Random(7).nextBytes(pattern);
      memory.putBytes(4093, pattern);
      memory.fill(4093 + 100, 50, (byte) 0x5a);
      java.util.Arrays.fill(pattern, 100, 150, (byte) 0x5a);
      assertThat(memory.getBytes(4093, pattern.length)).isEqualTo(pattern);
      assertThat(memory.getBytes(0, 4093)).containsOnly(0);
      assertThat(memory.getBytes(4093 + pattern.length, 100)).containsOnly(0);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"DEVICE", "MANAGED", "HOST"})
  void accesses_of_the_host_end_with_the_memory(MemoryKind kind) {
    Memory memory = world.gpu().allocate(kind, 100, "short one");
    assertThatThrownBy(() -> memory.putBytes(93, new byte[8]))
        .isInstanceOf(AccessFault.class)
        .hasMessageContaining("short one");
    assertThatThrownBy(() -> memory.getLong(-1)).isInstanceOf(AccessFault.class);
    assertThatThrownBy(() -> memory.fill(0, 101, (byte) 1)).isInstanceOf(AccessFault.class);
    memory.putBytes(92, new byte[8]);
    memory.close();
    memory.close();
    assertThatThrownBy(() -> memory.getLong(0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("short one");
  }

  @Test
  void a_gpu_allocates_device_managed_and_host_memory_alone() {
    assertThatThrownBy(() -> world.gpu().allocate(MemoryKind.UAR, 4096, "page"))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("page")
        .hasMessageContaining("device, managed or host");
  }

  @Test
  void memory_that_does_not_fit_is_refused_and_the_gpu_goes_on() {
    for (MemoryKind kind : List.of(MemoryKind.DEVICE, MemoryKind.HOST)) {
      assertThatThrownBy(() -> world.gpu().allocate(kind, ONE_TEBIBYTE, "far too much"))
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("far too much")
          .hasMessageContaining(Long.toString(ONE_TEBIBYTE));
    }
    assertThat(sumOfGrid(MemoryKind.DEVICE, 2, 64)).isEqualTo(2 * 64);
  }

  @ParameterizedTest
  @EnumSource(names = {"DEVICE", "MANAGED", "HOST"})
  void kernels_see_what_the_host_wrote_and_the_host_what_they_stored(MemoryKind kind) {
    assertThat(sumOfGrid(kind, 13, 96)).isEqualTo(13 * 96);
  }

  /** Adds 7 to the words of a grid; the number of words that are right. */
  private int sumOfGrid(MemoryKind kind, int blocks, int threads) {
    int words = blocks * threads;
    Memory in = world.gpu().allocate(kind, words * 4L, "in");
    Memory out = world.gpu().allocate(kind, words * 4L, "out");
    MemorySegment content = MemorySegment.ofArray(new byte[words * 4]);
    for (int i = 0; i < words; i++) {
      content.set(ValueLayout.JAVA_INT_UNALIGNED, i * 4L, i * 31);
    }
    in.write(0, content);
    world
        .run(
            world.load(),
            "add",
            LaunchConfig.of(blocks, threads),
            new KernelArguments().add(in).add(out).add(7))
        .check();
    out.read(0, content);
    int right = 0;
    for (int i = 0; i < words; i++) {
      right += content.get(ValueLayout.JAVA_INT_UNALIGNED, i * 4L) == i * 31 + 7 ? 1 : 0;
    }
    return right;
  }

  @Test
  void launches_of_a_stream_run_in_order_and_streams_side_by_side() {
    GpuModule module = world.load();
    Memory a = world.device(8);
    Memory b = world.device(8);
    try (GpuStream other = world.gpu().createStream()) {
      List<Launch> launches = new ArrayList<>();
      long expected = 0;
      for (int i = 1; i <= 10; i++) {
        launches.add(world.start(module, "step", ONE_THREAD, new KernelArguments().add(a).add(i)));
        launches.add(
            world
                .gpu()
                .launch(
                    module.kernel("step"), ONE_THREAD, new KernelArguments().add(b).add(i), other));
        expected = expected * 3 + i;
      }
      world.until(() -> world.stream().idle() && other.idle());
      launches.forEach(Launch::check);
      assertThat(a.getLong(0)).isEqualTo(expected);
      assertThat(b.getLong(0)).isEqualTo(expected);
    }
  }

  @Test
  void parameters_lie_where_the_ptx_says_and_structures_go_by_value() {
    GpuModule module = world.load();
    Kernel kernel = module.kernel("parameters");
    assertThat(kernel.parameters()).isEqualTo(3);
    assertThat(kernel.parameterOffset(1)).isEqualTo(8);
    assertThat(kernel.parameterBytes(1)).isEqualTo(16);
    assertThat(kernel.parameterBytes()).isEqualTo(32);
    Memory out = world.device(64);
    byte[] pair = new byte[16];
    for (int i = 0; i < pair.length; i++) {
      pair[i] = (byte) (i + 1);
    }
    world
        .run(
            module,
            "parameters",
            ONE_THREAD,
            new KernelArguments().add(new byte[] {9}).add(pair).add(out))
        .check();
    assertThat(out.getLong(0)).isEqualTo(9);
    assertThat(out.getBytes(8, 16)).isEqualTo(pair);
  }

  @Test
  void arguments_that_do_not_fit_the_parameters_are_refused() {
    GpuModule module = world.load();
    assertThatThrownBy(() -> world.start(module, "step", ONE_THREAD, new KernelArguments().add(1L)))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("step takes 2 parameters, 1 arguments were given");
    assertThatThrownBy(
            () -> world.start(module, "step", ONE_THREAD, new KernelArguments().add(1L).add(2L)))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("argument 1 of kernel step has 8 bytes");
  }

  @Test
  void a_module_names_its_entries_and_variables() {
    GpuModule module = world.load();
    assertThat(module.name()).isEqualTo(ContractKernels.NAME);
    assertThat(module.entries())
        .containsExactly("add", "step", "parameters", "count", "reverse", "meet", "answer", "ring");
    assertThatThrownBy(() -> module.kernel("stepp"))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("contract.ptx has no entry 'stepp'; it has add, step");
    assertThatThrownBy(() -> module.global("nothing"))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("contract.ptx has no variable 'nothing'; it has")
        .hasMessageContaining("counter")
        .hasMessageContaining("table");
  }

  @Test
  void variables_of_a_module_are_shared_by_its_kernels_and_the_host() {
    GpuModule module = world.load();
    Memory counter = module.global("counter");
    assertThat(counter.size()).isEqualTo(8);
    assertThat(counter.getLong(0)).isEqualTo(40);
    assertThat(module.global("table").getBytes(0, 8)).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
    world.run(module, "count", LaunchConfig.of(10, 64), new KernelArguments()).check();
    assertThat(counter.getLong(0)).isEqualTo(680);
    counter.putLong(0, 1);
    world.run(module, "count", LaunchConfig.of(1, 2), new KernelArguments()).check();
    assertThat(counter.getLong(0)).isEqualTo(3);
    module.close();
    module.close();
  }

  @Test
  void a_block_has_the_shared_memory_that_the_launch_asks_for() {
    GpuModule module = world.load();
    Memory out = world.device(4096);
    int most = world.gpu().attributes().sharedBytesPerBlock();
    for (int bytes : new int[] {4 * 64, most}) {
      out.fill(0, 4096, (byte) 0);
      world
          .run(
              module,
              "reverse",
              LaunchConfig.of(1, 64).withSharedBytes(bytes),
              new KernelArguments().add(out))
          .check();
      MemorySegment words = MemorySegment.ofArray(out.getBytes(0, 256));
      for (int i = 0; i < 64; i++) {
        assertThat(words.get(ValueLayout.JAVA_INT_UNALIGNED, i * 4L)).isEqualTo(63 - i);
      }
    }
  }

  @Test
  void blocks_of_a_cooperative_launch_are_resident_together() {
    GpuModule module = world.load();
    int blocks = Math.min(64, world.gpu().attributes().maxResidentBlocks());
    Memory words = world.device(8);
    LaunchConfig grid = LaunchConfig.of(blocks, 1).asCooperative();
    world.run(module, "meet", grid, new KernelArguments().add(words)).check();
    assertThat(words.getLong(0)).isEqualTo(blocks | (long) blocks << 32);
  }

  @Test
  void a_cooperative_launch_that_is_not_resident_together_is_refused_with_the_limit() {
    GpuModule module = world.load();
    Memory words = world.device(8);
    int blocks = 1 << 20;
    assertThatThrownBy(
            () ->
                world.start(
                    module,
                    "meet",
                    LaunchConfig.of(blocks, 1).asCooperative(),
                    new KernelArguments().add(words)))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining(
            "meet cannot be launched: a cooperative launch of 1048576 blocks, at most");
  }

  @Test
  void impossible_launches_are_refused_with_the_limit() {
    GpuModule module = world.load();
    KernelArguments none = new KernelArguments();
    int most = world.gpu().attributes().sharedBytesPerBlock();
    assertThatThrownBy(() -> world.start(module, "count", LaunchConfig.of(1, 1025), none))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("1025 threads a block, at most 1024");
    assertThatThrownBy(() -> world.start(module, "count", LaunchConfig.of(0, 1), none))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("at least 1");
    assertThatThrownBy(
            () ->
                world.start(module, "count", LaunchConfig.of(1, 1).withSharedBytes(most + 1), none))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining(
            "%d bytes of shared memory a block, at most %d".formatted(most + 1, most));
    world.run(module, "count", ONE_THREAD, none).check();
  }

  @Test
  void ptx_that_is_wrong_is_refused_with_file_and_line() {
    assertThatThrownBy(() -> world.gpu().load("broken.ptx", ContractKernels.broken()))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("broken.ptx")
        .hasMessageContaining("7");
    assertThat(sumOfGrid(MemoryKind.DEVICE, 1, 32)).isEqualTo(32);
  }

  @Test
  void a_running_kernel_and_the_host_answer_each_other_over_host_memory() {
    int rounds = 100;
    Memory question = world.host(8);
    Memory answer = world.host(8);
    Launch launch =
        world.start(
            world.load(),
            "answer",
            ONE_THREAD,
            new KernelArguments().add(question).add(answer).add(rounds));
    long[] asked = {0};
    world.until(
        () -> {
          if (asked[0] < rounds && RawMemory.getLongAcquire(answer.address()) == asked[0]) {
            RawMemory.putLongRelease(question.address(), ++asked[0]);
          }
          return launch.done();
        });
    launch.check();
    assertThat(answer.getLong(0)).isEqualTo(rounds);
  }

  @Test
  void a_device_receives_the_last_doorbell_and_reads_what_was_stored_before_it() {
    int rings = 1000;
    Memory record = world.host(8);
    Allocation page =
        world.fabric().memory().allocate(MemoryKind.UAR, Locus.nic(0, 0), 4096, "doorbell page");
    DevicePort port = world.fabric().attachDevice(Locus.nic(0, 0), budget -> 0);
    List<Long> heard = new ArrayList<>();
    List<Long> recorded = new ArrayList<>();
    port.onMmio(
        page.address(),
        (address, source, bytes) -> {
          assertThat(address).isEqualTo(page.address() + 0x800);
          assertThat(bytes).isEqualTo(8);
          heard.add(RawMemory.getLong(source));
          recorded.add(RawMemory.getLongAcquire(record.address()));
        });
    long register = world.gpu().mapDeviceRegisters(page.address() + 0x800, 8);
    Launch launch =
        world.start(
            world.load(),
            "ring",
            ONE_THREAD,
            new KernelArguments().add(record).add(register).add(rings));
    world.until(() -> launch.done() && !heard.isEmpty() && heard.getLast() == rings);
    launch.check();
    for (int i = 0; i < heard.size(); i++) {
      assertThat(heard.get(i)).isGreaterThan(i == 0 ? 0 : heard.get(i - 1));
      assertThat(recorded.get(i)).isGreaterThanOrEqualTo(heard.get(i));
    }
    assertThat(heard.getLast()).isEqualTo(rings);
  }

  @Test
  void a_kernel_that_does_not_end_in_time_is_reported_and_the_gpu_goes_on_when_it_has_ended() {
    Memory question = world.host(8);
    Memory answer = world.host(8);
    GpuModule module = world.load();
    Launch launch =
        world.run(
            module,
            "answer",
            ONE_THREAD.withTimeout(20_000_000),
            new KernelArguments().add(question).add(answer).add(1));
    assertThatThrownBy(launch::check)
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("answer")
        .hasMessageContaining("did not end within 20.0 ms");
    RawMemory.putLongRelease(question.address(), 1);
    world.until(world.stream()::idle);
    world.run(module, "count", ONE_THREAD, new KernelArguments()).check();
    assertThat(module.global("counter").getLong(0)).isEqualTo(41);
  }

  @Test
  void a_module_whose_kernel_runs_is_not_unloaded_and_a_cancelled_launch_says_why() {
    Memory question = world.host(8);
    Memory answer = world.host(8);
    GpuModule module = world.load();
    Launch launch =
        world.start(
            module, "answer", ONE_THREAD, new KernelArguments().add(question).add(answer).add(1));
    assertThat(launch.done()).isFalse();
    assertThatThrownBy(launch::check)
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("answer still runs");
    assertThatThrownBy(module::close)
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("contract.ptx cannot be unloaded: its kernel answer still runs");
    launch.cancel("the test has seen enough");
    assertThat(launch.done()).isTrue();
    assertThatThrownBy(launch::check)
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("the test has seen enough");
    RawMemory.putLongRelease(question.address(), 1);
    world.until(world.stream()::idle);
    module.close();
  }

  @Test
  void a_gpu_says_what_it_can_do() {
    var attributes = world.gpu().attributes();
    assertThat(attributes.name()).isNotBlank();
    assertThat(attributes.computeCapability()).isGreaterThanOrEqualTo(75);
    assertThat(attributes.multiprocessors()).isPositive();
    assertThat(attributes.maxThreadsPerBlock()).isEqualTo(1024);
    assertThat(attributes.maxResidentBlocks()).isGreaterThanOrEqualTo(attributes.multiprocessors());
    assertThat(attributes.sharedBytesPerBlock()).isGreaterThanOrEqualTo(48 << 10);
    assertThat(world.gpu().locus()).isEqualTo(Locus.gpu(0, 0));
  }

  @Test
  void closing_gives_everything_back_and_refuses_what_comes_later() {
    Memory host = world.host(100);
    Memory device = world.device(100);
    world.load();
    world.gpu().close();
    world.gpu().close();
    assertThat(world.fabric().memory().bytesInUse()).isZero();
    assertThatThrownBy(() -> host.getLong(0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> device.getLong(0)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> world.device(64))
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("this GPU is closed");
    assertThatThrownBy(() -> world.gpu().createStream())
        .isInstanceOf(GpuException.class)
        .hasMessageContaining("this GPU is closed");
  }
}
