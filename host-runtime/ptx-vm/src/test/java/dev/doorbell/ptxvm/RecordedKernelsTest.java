package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.gpu.GpuModule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Kernels of CUDA C++, compiled by nvcc, compute here what they computed on an H200. */
class RecordedKernelsTest {
  @Test
  void every_kernel_computes_what_the_hardware_did() {
    List<String> wrong = new ArrayList<>();
    try (World world = new World()) {
      Map<String, GpuModule> modules = new HashMap<>();
      for (RecordedLaunches.Launch launch : RecordedLaunches.all()) {
        GpuModule module =
            modules.computeIfAbsent(
                launch.file() + ".ptx",
                file -> world.gpu.load(file, World.resourceText("kernels/" + file)));
        wrong.addAll(RecordedLaunches.differences(world, module, launch));
      }
    }
    assertThat(wrong).isEmpty();
  }
}
