package dev.doorbell.experiments.session.diff;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.cuda.CudaGpu;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.function.BiFunction;

/** A run with random parameters that is to leave the same on two GPUs. */
interface Compared {
  /** After which a kernel, or a wait of one, has failed; on the wall's clock. */
  long DEADLINE_NANOS = 20_000_000_000L;

  /** How a real GPU's memory is reached. */
  CudaGpu.Mover mover();

  /** The parameters, in words. */
  String parameters();

  /**
   * Runs it.
   *
   * @param gpus makes the GPU of a rank on a fabric
   * @return memory by name
   * @throws dev.doorbell.core.gpu.GpuException when a kernel does not end well
   */
  SequencedMap<String, byte[]> on(BiFunction<DirectFabric, Integer, Gpu> gpus);

  /** What of a memory does not depend on who came first, or looked first. */
  byte[] canonical(String name, byte[] bytes);

  /**
   * Compares what two GPUs left.
   *
   * @return what differs, in words
   */
  default List<String> compare(
      SequencedMap<String, byte[]> expected, SequencedMap<String, byte[]> actual) {
    List<String> differences = new ArrayList<>();
    if (!expected.keySet().equals(actual.keySet())) {
      differences.add("allocated %s, not %s".formatted(actual.keySet(), expected.keySet()));
      return differences;
    }
    expected.forEach(
        (name, bytes) -> {
          byte[] wanted = canonical(name, bytes);
          byte[] found = canonical(name, Objects.requireNonNull(actual.get(name)));
          int at = Arrays.mismatch(wanted, found);
          if (at >= 0) {
            differences.add(
                "%s, byte %d of %d: 0x%02x instead of 0x%02x"
                    .formatted(
                        name,
                        at,
                        wanted.length,
                        at < found.length ? found[at] : 0,
                        at < wanted.length ? wanted[at] : 0));
          }
        });
    return differences;
  }
}
