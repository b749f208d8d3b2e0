package dev.doorbell.experiments.config.kernel;

import dev.doorbell.experiments.config.formula.Formula;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a kernel brings beyond messages, stamps and signals: its settings, metrics and buffers, and
 * what has to be in the buffers at the end.
 */
public record KernelExtension(
    List<KernelSetting> settings,
    List<KernelMetric> metrics,
    List<KernelBuffer> buffers,
    Optional<KernelVerification> verification) {

  /** Of a kernel that brings nothing. */
  static final KernelExtension NONE =
      new KernelExtension(List.of(), List.of(), List.of(), Optional.empty());

  /** Numbers that any formula may name, besides settings. */
  public static final List<String> VARIABLES =
      List.of("size", "ranks", "window", "blocks", "threads", "iterations", "warmup");

  public KernelExtension {
    settings = List.copyOf(settings);
    metrics = List.copyOf(metrics);
    buffers = List.copyOf(buffers);
  }

  /** Whether there is nothing. */
  public boolean isEmpty() {
    return settings.isEmpty() && metrics.isEmpty() && buffers.isEmpty();
  }

  /** The names of multicast objects over buffers. */
  public List<String> multicasts() {
    return buffers.stream().flatMap(buffer -> Stream.ofNullable(buffer.multicast())).toList();
  }

  /**
   * The names of settings, metrics, buffers and multicast objects: what parameters may name besides
   * fields.
   */
  public List<String> names() {
    List<String> names = new ArrayList<>();
    settings.forEach(setting -> names.add(setting.name()));
    metrics.forEach(metric -> names.add(metric.name()));
    buffers.forEach(buffer -> names.add(buffer.name()));
    names.addAll(multicasts());
    return names;
  }

  /** What its formulas may name, in the order of their frames. */
  public Formula.Names formulaNames() {
    List<String> variables = new ArrayList<>(VARIABLES);
    settings.forEach(setting -> variables.add(setting.name()));
    variables.add(Formula.RANK);
    variables.add(Formula.INDEX);
    return new Formula.Names(variables, buffers.stream().map(KernelBuffer::name).toList());
  }
}
