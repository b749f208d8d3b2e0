package dev.doorbell.experiments.config;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.schema.Vocabulary;
import java.util.List;

/** Small experiments for tests. */
public final class Configs {
  public static final Vocabulary WORDS =
      new Vocabulary(
          List.of("put_latency", "put_bandwidth"),
          List.of(
              "same-switch",
              "cross-rc",
              "cross-socket",
              "h200-cx7",
              "h200-cx7-epyc",
              "h200nvl-cx7-far"));

  /** Three paths, two sizes, one of the six points excluded. */
  public static final String SMALL =
      """
      experiment: small
      question: Does it run?
      kernel: put_latency
      axes:
        path: [pull, push.inline, push.memic]
        size: [64, 4K]
      exclude:
        - { path: push.inline, size: ">220" }
      measure:
        metrics: [latency, goodput, tlp.bytes]
        samples: 5
        timeout: 10s
      outputs:
        figures:
          - { name: latency, x: size, y: latency, series: path, logx: true, logy: true }
        crossovers:
          - { metric: latency, axis: path, between: [pull, push.memic], over: size }
      """;

  private Configs() {}

  /** Reads a config that is sound. */
  public static ExperimentConfig read(String text, String... overrides) {
    try {
      return new ConfigReader(WORDS).read("small.yaml", text, List.of(overrides));
    } catch (ConfigException e) {
      throw new AssertionError(e.problems().toString(), e);
    }
  }

  /** The problems of a config that is not. */
  public static List<String> problems(String text, String... overrides) {
    try {
      new ConfigReader(WORDS).read("small.yaml", text, List.of(overrides));
      return List.of();
    } catch (ConfigException e) {
      return e.problems().stream().map(Problem::text).toList();
    }
  }
}
