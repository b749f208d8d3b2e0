package dev.doorbell.experiments.config.schema;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Words that a config may use and that the schema does not list: the runtime brings them.
 *
 * @param kernels names of protocol kernels; null when any word will do
 * @param topologies names of topologies; null when any word will do
 */
public record Vocabulary(@Nullable List<String> kernels, @Nullable List<String> topologies) {
  public Vocabulary {
    kernels = kernels == null ? null : List.copyOf(kernels);
    topologies = topologies == null ? null : List.copyOf(topologies);
  }

  public static Vocabulary anything() {
    return new Vocabulary(null, null);
  }

  /** The kernels, none where any word will do. */
  public List<String> kernelNames() {
    return kernels == null ? List.of() : kernels;
  }

  /** The legal words of a vocabulary that the schema names; null when any word will do. */
  public @Nullable List<String> words(String name) {
    return switch (name) {
      case "kernel" -> kernels;
      case "topology" -> topologies;
      default -> throw new IllegalStateException("the schema names no known vocabulary: " + name);
    };
  }
}
