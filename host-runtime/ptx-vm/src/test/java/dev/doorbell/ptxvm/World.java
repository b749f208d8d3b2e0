package dev.doorbell.ptxvm;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.ptxvm.ir.Refusal;
import dev.doorbell.ptxvm.launch.PtxCheck;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.launch.VmOptions;
import dev.doorbell.ptxvm.parser.PtxParser;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A fabric, a GPU in it and a stream, for tests. */
final class World implements AutoCloseable {
  private static final long PATIENCE = 60_000_000_000L;

  final Fabric fabric;
  final VmGpu gpu;
  final GpuStream stream;

  World() {
    this(0, VmOptions.defaults());
  }

  World(long seed, VmOptions options) {
    this(new DirectFabric(AddressSpace.reserve(), seed), options);
  }

  World(Fabric fabric, VmOptions options) {
    this(fabric, Locus.gpu(0, 0), options);
  }

  World(Fabric fabric, Locus locus, VmOptions options) {
    this.fabric = fabric;
    gpu = new VmGpu(fabric, locus, options);
    stream = gpu.createStream();
  }

  GpuModule load(String resource) {
    return gpu.load(resource, text(resource));
  }

  Memory device(long bytes) {
    return gpu.allocate(MemoryKind.DEVICE, bytes, "buffer");
  }

  /** Starts a kernel and runs the fabric until it is done, however it ends. */
  Launch run(GpuModule module, String kernel, LaunchConfig config, KernelArguments arguments) {
    Launch launch = gpu.launch(module.kernel(kernel), config, arguments, stream);
    fabric.run(launch::done, PATIENCE);
    return launch;
  }

  /** Loads and runs PTX with a standard header, which must end well. */
  Launch runText(String body, String kernel, LaunchConfig config, KernelArguments arguments) {
    Launch launch = run(gpu.load("test.ptx", ptx(body)), kernel, config, arguments);
    launch.check();
    return launch;
  }

  /** Returns the problems for which loading would refuse a text, by line. */
  static List<Refusal> check(String name, String ptx) {
    return PtxCheck.of(PtxParser.parse(name, ptx)).refusals();
  }

  static String ptx(String body) {
    return ".version 8.3\n.target sm_75\n.address_size 64\n" + body;
  }

  static String text(String resource) {
    return resourceText("ptx/" + resource);
  }

  /** As {@link #text}, from the root of the class path: a jar has no {@code ..}. */
  static String resourceText(String resource) {
    return new String(bytes(resource), StandardCharsets.UTF_8);
  }

  static byte[] bytes(String resource) {
    try (InputStream in = World.class.getResourceAsStream("/" + resource)) {
      if (in == null) {
        throw new IllegalArgumentException(resource);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    gpu.close();
    fabric.close();
  }
}
