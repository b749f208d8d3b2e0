package dev.doorbell.core.memory;

/**
 * A place in the emulated machine: which rank, which kind of component, which of them.
 *
 * <p>Host memory lies at the CPU of its rank, device memory at its GPU, MEMIC and UAR pages at
 * their HCA. A topology gives every pair of places a path.
 */
public record Locus(int rank, Part part, int index) {

  /** The kinds of components that issue or answer transactions. */
  public enum Part {
    CPU,
    GPU,
    NIC
  }

  public Locus {
    if (rank < 0 || index < 0 || index > 0xff) {
      throw new IllegalArgumentException("rank=" + rank + " index=" + index);
    }
  }

  /** The CPU of {@code rank} and its memory. */
  public static Locus cpu(int rank) {
    return new Locus(rank, Part.CPU, 0);
  }

  /** GPU {@code index} of {@code rank} and its memory. */
  public static Locus gpu(int rank, int index) {
    return new Locus(rank, Part.GPU, index);
  }

  /** HCA {@code index} of {@code rank}, its on-chip memory and its doorbell pages. */
  public static Locus nic(int rank, int index) {
    return new Locus(rank, Part.NIC, index);
  }

  @Override
  public String toString() {
    return "rank" + rank + "." + part.name().toLowerCase(java.util.Locale.ROOT) + index;
  }
}
