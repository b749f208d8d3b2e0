package dev.doorbell.experiments.workbench.diff.run;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.cuda.CudaGpu;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/** A run with random parameters that is to leave the same on two GPUs. */
interface Compared {
  interface Machine {
    String name();

    DirectFabric fabric();

    Gpu gpu(DirectFabric fabric, int rank);
  }

  CudaGpu.Mover mover();

  String parameters();

  /**
   * Runs it.
   *
   * @param nanos after which a kernel has failed, on the wall's clock
   * @return memory by name
   * @throws dev.doorbell.core.gpu.GpuException when a kernel does not end well
   */
  SequencedMap<String, byte[]> on(Machine machine, long nanos);

  /** Returns what of a memory does not depend on who came first, or looked first. */
  byte[] canonical(String name, byte[] bytes);

  /** Describes the place of a byte in the words of who filled the memory; empty for none. */
  default String place(String name, int at) {
    return "";
  }

  /**
   * Returns the run with more room where its contents show too little to be compared; else null.
   */
  default @Nullable Compared roomier(SequencedMap<String, byte[]> contents) {
    return null;
  }

  /** Compares the contents that two GPUs left, and describes the differences. */
  default List<String> compare(
      String one,
      SequencedMap<String, byte[]> expected,
      String other,
      SequencedMap<String, byte[]> actual) {
    List<String> differences = new ArrayList<>();
    if (!expected.keySet().equals(actual.keySet())) {
      differences.add(
          "%s allocated %s, %s allocated %s"
              .formatted(other, actual.keySet(), one, expected.keySet()));
      return differences;
    }
    expected.forEach(
        (name, bytes) -> {
          byte[] wanted = canonical(name, bytes);
          byte[] found = canonical(name, Objects.requireNonNull(actual.get(name)));
          int at = Arrays.mismatch(wanted, found);
          if (at >= 0) {
            differences.add(
                "%s, byte %d of %d%s: %s on %s, %s on %s; %s"
                    .formatted(
                        name,
                        at,
                        wanted.length,
                        place(name, at),
                        word(found, at),
                        other,
                        word(wanted, at),
                        one,
                        extent(wanted, found)));
          }
        });
    return differences;
  }

  /** The aligned word around a byte. */
  private static String word(byte[] bytes, int at) {
    int from = at & -Long.BYTES;
    if (from + Long.BYTES > bytes.length) {
      return at < bytes.length ? "0x%02x".formatted(bytes[at]) : "nothing";
    }
    return "0x%016x"
        .formatted(
            MemorySegment.ofArray(bytes)
                .get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), from));
  }

  private static String extent(byte[] wanted, byte[] found) {
    int differ = 0;
    int last = 0;
    for (int i = 0; i < Math.min(wanted.length, found.length); i++) {
      if (wanted[i] != found[i]) {
        differ++;
        last = i;
      }
    }
    return differ == 1
        ? "1 byte differs"
        : "%d bytes differ, the last is %d".formatted(differ, last);
  }
}
