package dev.doorbell.experiments.plan;

import java.util.List;

/** Kernels and topologies of the runtime, for {@code list} and {@code describe}. */
public record Catalogue(List<Entry> kernels, List<Entry> topologies) {
  public Catalogue {
    kernels = List.copyOf(kernels);
    topologies = List.copyOf(topologies);
  }

  /**
   * One thing with a name.
   *
   * @param summary one line
   * @param text everything else worth saying; may be empty
   */
  public record Entry(String name, String summary, String text) {}
}
