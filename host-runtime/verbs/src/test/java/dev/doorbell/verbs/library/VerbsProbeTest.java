package dev.doorbell.verbs.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.doorbell.core.Probe;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.FabricMemory;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.verbs.Mlx5Hca;
import dev.doorbell.verbs.device.DeviceFilter;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** "No RDMA" has four faces; each is told apart and comes with its own fix. */
class VerbsProbeTest {
  @TempDir private Path folder;

  @Test
  void a_machine_without_the_library_is_told_what_to_install() {
    Probe probe = VerbsProbe.probe("libdoorbell-does-not-exist.so.1", folder, folder);
    assertThat(probe).isInstanceOf(Probe.NoDriver.class);
    assertThat(probe.describe())
        .startsWith("libdoorbell-does-not-exist.so.1 not found; apt-get install libibverbs1")
        .contains("hca: soft");
  }

  @Test
  void a_library_that_lacks_functions_is_told_by_their_names() {
    Probe probe = VerbsProbe.probe("libc.so.6", folder, folder);
    assertThat(probe).isInstanceOf(Probe.MissingSymbols.class);
    assertThat(((Probe.MissingSymbols) probe).symbols()).contains("ibv_create_ah");
  }

  @Test
  void a_kernel_without_support_is_told_what_to_load() throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      Probe probe = probe(library(arena, 0, MemorySegment.NULL), folder, folder);
      assertThat(probe).isInstanceOf(Probe.NoKernelSupport.class);
      assertThat(probe.describe())
          .startsWith("this kernel has no RDMA support")
          .contains("modprobe ib_uverbs");
    }
  }

  @Test
  void a_machine_without_a_device_is_told_where_to_look() throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      Probe probe = probe(library(arena, 0, arena.allocate(8)), folder, folder);
      assertThat(probe).isInstanceOf(Probe.NoDevice.class);
      assertThat(probe.describe()).contains("lspci -d 15b3:");
    }
  }

  @Test
  void a_container_without_the_nodes_of_its_devices_is_told_so() throws Exception {
    Path devices = folder.resolve("class");
    Files.createDirectories(devices.resolve("mlx5_0"));
    try (Arena arena = Arena.ofConfined()) {
      Probe probe = probe(library(arena, 0, arena.allocate(8)), devices, folder.resolve("nodes"));
      assertThat(probe).isInstanceOf(Probe.NoDevice.class);
      assertThat(probe.describe()).contains("--device=/dev/infiniband");
    }
  }

  @Test
  void devices_of_another_kind_are_named() throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      SymbolLookup verbs = library(arena, 1, list(arena));
      Probe any = probe(verbs, folder, folder);
      assertThat(any).isEqualTo(new Probe.Ready("test", List.of("rxe0")));
      Probe probe =
          VerbsProbe.onlyMlx5((Probe.Ready) any, "test", verbs, "libmlx5", mlx5(arena, false));
      assertThat(probe).isInstanceOf(Probe.OtherDevices.class);
      assertThat(probe.describe()).startsWith("no mlx5 device, only rxe0; ").contains("hca: soft");
    }
  }

  @Test
  void an_mlx5_device_is_ready() throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      SymbolLookup verbs = library(arena, 1, list(arena));
      Probe any = probe(verbs, folder, folder);
      assertThat(
              VerbsProbe.onlyMlx5((Probe.Ready) any, "test", verbs, "libmlx5", mlx5(arena, true)))
          .isEqualTo(any);
    }
  }

  @Test
  void opening_where_there_is_nothing_says_what_the_probe_says() throws IOException {
    Probe probe = VerbsProbe.probeMlx5();
    assumeFalse(probe instanceof Probe.Ready, "this machine has an mlx5 device");
    try (DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 20), 0)) {
      assertThatThrownBy(
              () ->
                  new Mlx5Hca(
                      fabric,
                      Locus.nic(0, 0),
                      DeviceFilter.ALL,
                      -1,
                      FabricMemory.of(fabric.memory(), 0)))
          .isInstanceOf(HcaException.class)
          .hasMessage("no RDMA device: " + probe.describe());
      assertThat(fabric.memory().bytesInUse()).isZero();
    }
  }

  private static Probe probe(SymbolLookup library, Path sysfs, Path nodes) {
    return VerbsProbe.probe("test", library, sysfs, nodes, List.of());
  }

  /** A list of one device. */
  private static MemorySegment list(Arena arena) {
    MemorySegment list = arena.allocate(2 * Long.BYTES);
    list.set(ValueLayout.ADDRESS, 0, arena.allocateFrom("rxe0"));
    return list;
  }

  /** A libibverbs of which only what the probe calls does something; a device is its name. */
  private static SymbolLookup library(Arena arena, int count, MemorySegment list)
      throws ReflectiveOperationException {
    MemorySegment devices =
        stub(
            arena,
            "devices",
            MethodType.methodType(
                MemorySegment.class, int.class, MemorySegment.class, MemorySegment.class),
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS),
            count,
            list);
    MemorySegment name =
        stub(
            arena,
            "name",
            MethodType.methodType(MemorySegment.class, MemorySegment.class),
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS));
    MemorySegment free =
        stub(
            arena,
            "free",
            MethodType.methodType(void.class, MemorySegment.class),
            FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
    return symbol ->
        Optional.of(
            switch (symbol) {
              case "ibv_get_device_list" -> devices;
              case "ibv_free_device_list" -> free;
              default -> name;
            });
  }

  private static SymbolLookup mlx5(Arena arena, boolean answer)
      throws ReflectiveOperationException {
    MemorySegment supported =
        stub(
            arena,
            "supported",
            MethodType.methodType(boolean.class, boolean.class, MemorySegment.class),
            FunctionDescriptor.of(ValueLayout.JAVA_BOOLEAN, ValueLayout.ADDRESS),
            answer);
    return symbol -> Optional.of(supported);
  }

  @SuppressWarnings("restricted")
  private static MemorySegment stub(
      Arena arena,
      String method,
      MethodType type,
      FunctionDescriptor descriptor,
      Object... arguments)
      throws ReflectiveOperationException {
    return Linker.nativeLinker()
        .upcallStub(
            MethodHandles.insertArguments(
                MethodHandles.lookup().findStatic(VerbsProbeTest.class, method, type),
                0,
                arguments),
            descriptor,
            arena);
  }

  @SuppressWarnings({"unused", "restricted"}) // called through a method handle
  private static MemorySegment devices(int count, MemorySegment list, MemorySegment number) {
    number.reinterpret(Integer.BYTES).set(ValueLayout.JAVA_INT, 0, count);
    return list;
  }

  @SuppressWarnings("unused") // called through a method handle
  private static MemorySegment name(MemorySegment device) {
    return device;
  }

  @SuppressWarnings("unused") // called through a method handle
  private static void free(MemorySegment list) {}

  @SuppressWarnings("unused") // called through a method handle
  private static boolean supported(boolean answer, MemorySegment device) {
    return answer;
  }
}
