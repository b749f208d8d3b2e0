package dev.doorbell.core.gpu;

import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.memory.Multicast;
import java.util.List;

/**
 * A GPU: memory, modules, launches.
 *
 * <p>A launch only starts a kernel. What makes it progress is the fabric of the world it lives in:
 * for an emulated GPU its threads are agents there; for a real one the hardware runs by itself, and
 * running the fabric drives only HCAs and proxies.
 */
public interface Gpu extends MemoryProvider, AutoCloseable {
  /** Returns its place in the machine. */
  Locus locus();

  /** Returns its model and limits. */
  GpuAttributes attributes();

  /**
   * Allocates zeroed memory, aligned to 4096: {@link MemoryKind#DEVICE}, {@link MemoryKind#MANAGED}
   * or {@link MemoryKind#HOST} (page-locked, GPU-addressable).
   */
  @Override
  Memory allocate(MemoryKind kind, long bytes, String label);

  /**
   * Makes device registers (a UAR page, on-chip memory) addressable for kernels.
   *
   * @param hostAddress where the host has them mapped
   * @return the address that kernels use
   * @throws GpuException when the driver refuses; the message names the setting that allows it
   */
  long mapDeviceRegisters(long hostAddress, long bytes);

  /**
   * Ends {@link #mapDeviceRegisters} of the same address. Whoever unmaps that range in the host, or
   * gives it to another, calls this before; no kernel may store there any more. What is not ended
   * ends with this GPU. For registers that are not mapped this does nothing.
   */
  default void unmapDeviceRegisters(long hostAddress) {}

  /**
   * Creates a multicast object, which {@code multimem} instructions of this GPU's kernels use.
   *
   * @param members memory of GPUs, of one size
   * @throws GpuException where this GPU has none, or a member is no memory of a GPU
   */
  default Multicast multicast(List<Memory> members, String label) {
    throw new GpuException(
        "no %s on %s: multicast objects are emulated on the PTX VM alone (gpu: vm)"
            .formatted(label, locus()));
  }

  /**
   * Loads PTX.
   *
   * @param name for messages, usually the file's name
   * @throws GpuException with file, line and text of every instruction or directive that is refused
   */
  GpuModule load(String name, String ptx);

  /**
   * Starts {@code kernel}. Launches of one {@code stream} run one after another.
   *
   * @throws GpuException when the configuration is impossible
   */
  Launch launch(Kernel kernel, LaunchConfig config, KernelArguments arguments, GpuStream stream);

  /** Creates a stream of the usual priority. */
  default GpuStream createStream() {
    return createStream(GpuStream.Priority.USUAL);
  }

  /**
   * Creates a stream. A GPU whose blocks never wait for a multiprocessor, which is what the virtual
   * machine is, has no use for the priority.
   */
  GpuStream createStream(GpuStream.Priority priority);

  /** Frees modules, streams and memory that are still open. */
  @Override
  void close();
}
