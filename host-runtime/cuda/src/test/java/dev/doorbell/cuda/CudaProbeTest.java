package dev.doorbell.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.doorbell.core.Probe;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.Locus;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Absence is a value: what the probe says of drivers that this machine need not have. */
class CudaProbeTest {
  @Test
  void a_machine_without_a_driver_is_told_so() {
    assertThat(CudaProbe.probe("libdoorbell-does-not-exist.so.1"))
        .isInstanceOf(Probe.NoDriver.class)
        .extracting(Probe::describe)
        .asString()
        .startsWith("libdoorbell-does-not-exist.so.1 not found; install the NVIDIA driver");
  }

  @Test
  void a_library_that_lacks_functions_is_told_by_their_names() {
    Probe probe = CudaProbe.probe("libc.so.6");
    assertThat(probe).isInstanceOf(Probe.MissingSymbols.class);
    assertThat(((Probe.MissingSymbols) probe).symbols()).contains("cuInit", "cuLaunchKernel");
  }

  @Test
  void a_driver_without_a_device_is_told_so() throws ReflectiveOperationException {
    try (Arena arena = Arena.ofConfined()) {
      assertThat(CudaProbe.probe("libcuda.so.1", driver(arena, 100, 0)))
          .isInstanceOf(Probe.NoDevice.class);
      assertThat(CudaProbe.probe("libcuda.so.1", driver(arena, 0, 0)))
          .isInstanceOf(Probe.NoDevice.class);
      assertThat(CudaProbe.probe("libcuda.so.1", driver(arena, 803, 2)).describe())
          .startsWith("libcuda.so.1 (cuInit answers 803) is there, but no device; see what");
      assertThat(CudaProbe.probe("libcuda.so.1", driver(arena, 34, 2)))
          .isInstanceOf(Probe.NoDriver.class);
    }
  }

  @Test
  void a_driver_with_devices_is_ready() throws ReflectiveOperationException {
    try (Arena arena = Arena.ofConfined()) {
      assertThat(CudaProbe.probe("libcuda.so.1", driver(arena, 0, 2)))
          .isEqualTo(new Probe.Ready("CUDA 12.6", List.of("Test GPU", "Test GPU")));
    }
  }

  @Test
  void opening_a_gpu_without_a_driver_says_what_the_probe_says() {
    Probe probe = CudaProbe.probe();
    assumeFalse(probe instanceof Probe.Ready, "this machine has a GPU");
    try (DirectFabric fabric = new DirectFabric()) {
      assertThatThrownBy(() -> new CudaGpu(fabric, Locus.gpu(0, 0), 0))
          .isInstanceOf(GpuException.class)
          .hasMessage("no CUDA GPU: " + probe.describe());
      assertThat(fabric.memory().bytesInUse()).isZero();
    }
  }

  /** A driver of which only what the probe calls does something. */
  private static SymbolLookup driver(Arena arena, int initStatus, int devices)
      throws ReflectiveOperationException {
    MemorySegment init =
        stub(
            arena,
            "init",
            MethodType.methodType(int.class, int.class, int.class),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
            initStatus);
    FunctionDescriptor fill = FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    MethodType filled = MethodType.methodType(int.class, int.class, MemorySegment.class);
    MemorySegment count = stub(arena, "fill", filled, fill, devices);
    MemorySegment version = stub(arena, "fill", filled, fill, 12060);
    MemorySegment name =
        stub(
            arena,
            "name",
            MethodType.methodType(int.class, int.class, MemorySegment.class, int.class, int.class),
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                ValueLayout.ADDRESS,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT),
            0);
    return symbol ->
        Optional.of(
            switch (symbol) {
              case "cuDeviceGetCount" -> count;
              case "cuDriverGetVersion" -> version;
              case "cuDeviceGetName" -> name;
              default -> init;
            });
  }

  @SuppressWarnings("restricted")
  private static MemorySegment stub(
      Arena arena, String method, MethodType type, FunctionDescriptor descriptor, int answer)
      throws ReflectiveOperationException {
    return Linker.nativeLinker()
        .upcallStub(
            MethodHandles.insertArguments(
                MethodHandles.lookup().findStatic(CudaProbeTest.class, method, type), 0, answer),
            descriptor,
            arena);
  }

  @SuppressWarnings("unused") // called through a method handle
  private static int init(int status, int flags) {
    return status;
  }

  @SuppressWarnings({"unused", "restricted"}) // called through a method handle
  private static int fill(int value, MemorySegment target) {
    target.reinterpret(4).set(ValueLayout.JAVA_INT, 0, value);
    return 0;
  }

  @SuppressWarnings({"unused", "restricted"}) // called through a method handle
  private static int name(int status, MemorySegment target, int bytes, int device) {
    target.reinterpret(bytes).setString(0, "Test GPU");
    return status;
  }
}
