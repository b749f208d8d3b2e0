package dev.doorbell.experiments.scenario.nic;

import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.kernels.KernelCatalogue;
import java.util.LinkedHashMap;
import java.util.Map;

/** Kernels of the catalogue on one GPU, each loaded once, and a stream for them. */
final class NicKernels implements AutoCloseable {
  private static final KernelCatalogue CATALOGUE = KernelCatalogue.load();

  private final Gpu gpu;
  private final GpuStream stream;
  private final Map<String, GpuModule> modules = new LinkedHashMap<>();

  NicKernels(Gpu gpu) {
    this.gpu = gpu;
    this.stream = gpu.createStream();
  }

  /** A kernel, which is loaded at the first call. */
  Kernel kernel(String name) {
    return modules
        .computeIfAbsent(
            name, key -> gpu.load(key, CATALOGUE.ptx(CATALOGUE.find(key).orElseThrow())))
        .kernel(name);
  }

  Launch launch(String name, LaunchConfig config, long views, long job) {
    return gpu.launch(kernel(name), config, new KernelArguments().add(views).add(job), stream);
  }

  @Override
  public void close() {
    stream.close();
    modules.values().forEach(GpuModule::close);
  }
}
