package dev.doorbell.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.core.Probe;
import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who else reaches the memory of a real GPU: devices in software, drivers, another GPU. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CudaReachTest {
  private static final long PATIENCE = 20_000_000_000L;
  private static final int TRANSFERS = 40_000;
  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final String PTX =
      """
      .version 7.0
      .target sm_75
      .address_size 64

      // Stores a value when it sees another.
      .visible .entry answer(.param .u64 flag, .param .u64 seen, .param .u64 place, .param .u64 value) {
        .reg .b64 %f, %s, %p, %v, %x;
        .reg .pred %q;
        ld.param.u64 %f, [flag];
        ld.param.u64 %s, [seen];
        ld.param.u64 %p, [place];
        ld.param.u64 %v, [value];
      AGAIN:
        ld.acquire.sys.global.u64 %x, [%f];
        setp.ne.u64 %q, %x, %s;
        @%q bra AGAIN;
        st.global.u64 [%p], %v;
        ret;
      }
      """;

  @BeforeAll
  static void requireGpu() {
    Probe probe = CudaProbe.probe();
    assumeTrue(probe instanceof Probe.Ready, probe::describe);
  }

  @Test
  void the_copy_engine_copies_all_bytes_both_ways_and_says_how_long_it_took() {
    byte[] sent = new byte[3 << 20];
    new SplittableRandom(5).nextBytes(sent);
    try (CudaGpu gpu = new CudaGpu(new DirectFabric(), Locus.gpu(0, 0), 0);
        Memory host = gpu.allocate(MemoryKind.HOST, sent.length, "from the host");
        Memory device = gpu.allocate(MemoryKind.DEVICE, sent.length, "in the device");
        Memory back = gpu.allocate(MemoryKind.HOST, sent.length, "to the host")) {
      host.putBytes(0, sent);
      assertThat(gpu.copyNanos(host, device, 3)).isPositive();
      assertThat(gpu.copyNanos(device, back, 1)).isPositive();
      assertThat(back.getBytes(0, sent.length)).isEqualTo(sent);
      assertThatThrownBy(() -> gpu.copyNanos(host, back, 1))
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("one is device memory, the other pinned");
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = CudaGpu.Mover.class,
      names = {"COPY", "KERNEL"})
  void a_device_reads_back_what_it_wrote_at_any_alignment_and_of_any_size(CudaGpu.Mover by) {
    long seed = 20261121;
    SplittableRandom random = new SplittableRandom(seed);
    try (DirectFabric fabric = new DirectFabric();
        CudaGpu gpu = new CudaGpu(fabric, Locus.gpu(0, 0), 0, by);
        Arena arena = Arena.ofConfined()) {
      DevicePort port = fabric.attachDevice(Locus.nic(0, 0), idle());
      int room = 1 << 20;
      Memory memory = gpu.allocate(MemoryKind.DEVICE, room, "target");
      byte[] model = new byte[room];
      MemorySegment source = arena.allocate(room, 64);
      MemorySegment target = arena.allocate(room, 64);
      for (int round = 0; round < 400; round++) {
        int bytes = 1 + random.nextInt(1 << random.nextInt(1, 18));
        int at = random.nextInt(room - bytes);
        if (random.nextBoolean()) {
          at &= -64;
        }
        byte[] content = new byte[bytes];
        random.nextBytes(content);
        MemorySegment.copy(content, 0, source, ValueLayout.JAVA_BYTE, 0, bytes);
        port.write(source.address(), memory.address() + at, bytes, false);
        System.arraycopy(content, 0, model, at, bytes);
      }
      boolean[] done = new boolean[1];
      // In parts that follow each other, which a mover may put together.
      for (int at = 0; at < room; at += 4096) {
        boolean last = at + 4096 == room;
        port.read(memory.address() + at, target.address() + at, 4096, ok -> done[0] |= last);
      }
      assertThat(fabric.run(() -> done[0], PATIENCE)).isEqualTo(RunOutcome.DONE);
      assertThat(Arrays.mismatch(target.toArray(ValueLayout.JAVA_BYTE), model))
          .as("first byte that differs, seed %d", seed)
          .isEqualTo(-1);
      assertThat(Arrays.mismatch(memory.getBytes(0, room), model))
          .as("as the host sees it, seed %d", seed)
          .isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = CudaGpu.Mover.class,
      names = {"COPY", "KERNEL"})
  void a_kernel_that_waits_sees_a_flag_that_a_device_writes_and_the_device_its_answer(
      CudaGpu.Mover by) {
    try (DirectFabric fabric = new DirectFabric();
        CudaGpu gpu = new CudaGpu(fabric, Locus.gpu(0, 0), 0, by);
        Arena arena = Arena.ofConfined()) {
      DevicePort port = fabric.attachDevice(Locus.nic(0, 0), idle());
      Memory words = gpu.allocate(MemoryKind.DEVICE, 4096, "words");
      GpuModule module = gpu.load("reach.ptx", PTX);
      Launch launch =
          gpu.launch(
              module.kernel("answer"),
              LaunchConfig.of(1, 1),
              new KernelArguments()
                  .add(words.address())
                  .add(42L)
                  .add(words.address() + 128)
                  .add(43L),
              gpu.createStream());
      MemorySegment cell = arena.allocate(64, 64);
      cell.set(WORD, 0, 42);
      port.write(cell.address(), words.address(), Long.BYTES, false);
      assertThat(fabric.run(launch::done, PATIENCE)).isEqualTo(RunOutcome.DONE);
      launch.check();
      boolean[] read = new boolean[1];
      port.read(words.address() + 128, cell.address() + 8, Long.BYTES, ok -> read[0] = true);
      assertThat(fabric.run(() -> read[0], PATIENCE)).isEqualTo(RunOutcome.DONE);
      assertThat(cell.get(WORD, 8)).isEqualTo(43);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = CudaGpu.Mover.class,
      names = {"COPY", "KERNEL"})
  void moving_allocates_nothing_in_the_java_heap(CudaGpu.Mover by) {
    try (DirectFabric fabric = new DirectFabric();
        CudaGpu gpu = new CudaGpu(fabric, Locus.gpu(0, 0), 0, by);
        Arena arena = Arena.ofConfined()) {
      DevicePort port = fabric.attachDevice(Locus.nic(0, 0), idle());
      Memory memory = gpu.allocate(MemoryKind.DEVICE, 1 << 16, "target");
      MemorySegment cell = arena.allocate(4096, 64);
      long[] left = new long[1];
      var completion = (dev.doorbell.core.fabric.Completion) ok -> left[0]--;
      long[] used = new long[3];
      for (int round = 0; round < used.length; round++) {
        System.gc();
        long before = used();
        for (int i = 0; i < TRANSFERS; i++) {
          port.write(cell.address(), memory.address() + (i & 7) * 4096L, 4096, false);
          left[0]++;
          port.read(memory.address() + (i & 7) * 4096L, cell.address(), 4096, completion);
          fabric.run(() -> left[0] == 0, PATIENCE);
        }
        used[round] = used() - before;
      }
      // A run of the fabric has a lambda or two of its own; a kernel that was started again, a
      // launch.
      assertThat(used[used.length - 1] / TRANSFERS)
          .as("bytes a transfer; bytes by round: %s", Arrays.toString(used))
          .isLessThan(300);
    }
  }

  private static long used() {
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  @Test
  void device_memory_is_exported_as_a_dma_buf_where_the_driver_can() throws Throwable {
    try (DirectFabric fabric = new DirectFabric();
        CudaGpu gpu = new CudaGpu(fabric, Locus.gpu(0, 0), 0)) {
      Memory memory = gpu.allocate(MemoryKind.DEVICE, 5000, "exported");
      OptionalInt descriptor = memory.exportDmaBuf();
      assumeTrue(descriptor.isPresent(), "this driver exports no dma-bufs");
      assertThat(file(descriptor.getAsInt())).contains("dmabuf");
      close(descriptor.getAsInt());
      assertThat(gpu.allocate(MemoryKind.HOST, 5000, "host").exportDmaBuf()).isEmpty();
    }
  }

  @Test
  void pages_that_are_no_devices_are_not_mapped_as_registers() {
    try (DirectFabric fabric = new DirectFabric();
        CudaGpu gpu = new CudaGpu(fabric, Locus.gpu(0, 0), 0)) {
      assertThatThrownBy(() -> gpu.mapDeviceRegisters(4096, 8))
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("PeerMappingOverride");
      gpu.allocate(MemoryKind.DEVICE, 64, "afterwards").close();
    }
  }

  @Test
  void pages_that_stand_for_more_than_doorbells_are_refused() {
    try (DirectFabric fabric = new DirectFabric();
        CudaGpu gpu = new CudaGpu(fabric, Locus.gpu(0, 0), 0)) {
      long page =
          fabric.memory().allocate(MemoryKind.UAR, Locus.nic(0, 0), 64 << 10, "a chip").address();
      assertThatThrownBy(() -> gpu.mapDeviceRegisters(page, 64 << 10))
          .isInstanceOf(GpuException.class)
          .hasMessageContaining("'a chip' (65536 bytes)");
    }
  }

  @Test
  void what_was_mapped_as_registers_can_be_had_again() {
    try (Arena arena = Arena.ofConfined();
        DirectFabric fabric = new DirectFabric();
        CudaGpu gpu = new CudaGpu(fabric, Locus.gpu(0, 0), 0)) {
      MemorySegment pages = arena.allocate(8192, 4096);
      long mapped = gpu.mapDeviceRegisters(pages.address() + 64, 4096);
      assertThat(gpu.mapDeviceRegisters(pages.address(), 8)).isEqualTo(mapped - 64);
      gpu.unmapDeviceRegisters(pages.address() + 64);
      gpu.unmapDeviceRegisters(pages.address());
    }
  }

  @Test
  void a_kernel_stores_to_the_memory_of_another_gpu() {
    Probe probe = CudaProbe.probe();
    assumeTrue(
        probe instanceof Probe.Ready ready && ready.devices().size() > 1,
        () -> "two GPUs are needed; " + probe.describe());
    try (DirectFabric fabric = new DirectFabric();
        CudaGpu one = new CudaGpu(fabric, Locus.gpu(0, 0), 0);
        CudaGpu other = new CudaGpu(fabric, Locus.gpu(1, 0), 1)) {
      one.reachPeer(other);
      one.reachPeer(other);
      Memory far = other.allocate(MemoryKind.DEVICE, 64, "far");
      Memory near = one.allocate(MemoryKind.DEVICE, 64, "near");
      near.putLong(0, 7);
      Launch launch =
          one.launch(
              one.load("reach.ptx", PTX).kernel("answer"),
              LaunchConfig.of(1, 1),
              new KernelArguments().add(near.address()).add(7L).add(far.address()).add(99L),
              one.createStream());
      assertThat(fabric.run(launch::done, PATIENCE)).isEqualTo(RunOutcome.DONE);
      launch.check();
      assertThat(far.getLong(0)).isEqualTo(99);
    }
  }

  private static Agent idle() {
    return budget -> 0;
  }

  private static String file(int descriptor) throws IOException {
    return Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
  }

  @SuppressWarnings("restricted")
  private static void close(int descriptor) throws Throwable {
    Linker linker = Linker.nativeLinker();
    int rc =
        (int)
            linker
                .downcallHandle(
                    linker.defaultLookup().findOrThrow("close"),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT))
                .invokeExact(descriptor);
    assertThat(rc).isZero();
  }
}
