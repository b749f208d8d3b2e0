package dev.doorbell.experiments.config;

import java.util.List;

/** Words that a config may use and that the schema cannot know: the runtime brings them. */
public record Vocabulary(List<String> kernels, List<String> topologies) {
  public Vocabulary {
    kernels = List.copyOf(kernels);
    topologies = List.copyOf(topologies);
  }

  /** The legal words of a vocabulary that the schema names. */
  List<String> words(String name) {
    return switch (name) {
      case "kernel" -> kernels;
      case "topology" -> topologies;
      default -> throw new IllegalStateException("the schema names no known vocabulary: " + name);
    };
  }
}
