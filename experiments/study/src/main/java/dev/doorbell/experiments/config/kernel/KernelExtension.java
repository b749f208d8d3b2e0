package dev.doorbell.experiments.config.kernel;

import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.value.Value;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The part of a kernel beyond messages, stamps and signals: its settings, metrics and buffers, and
 * what has to be in the buffers at the end.
 */
public record KernelExtension(
    List<KernelSetting> settings,
    List<KernelMetric> metrics,
    List<KernelBuffer> buffers,
    Optional<KernelVerification> verification) {

  /** The extension of a kernel that brings nothing. */
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

  /** Returns what its formulas may name, in the order of their frames. */
  public Formula.Names formulaNames() {
    List<String> variables = new ArrayList<>(VARIABLES);
    settings.forEach(setting -> variables.add(setting.name()));
    variables.add(Formula.RANK);
    variables.add(Formula.INDEX);
    return new Formula.Names(variables, buffers.stream().map(KernelBuffer::name).toList());
  }

  /**
   * Memory that a kernel brings at each rank, registered with the HCA. It gets, as a parameter of
   * that name, a {@code doorbell::location} for each rank, where that rank's buffer lies.
   *
   * @param count of numbers
   * @param fill what number {@code i} is at the start; null for zero
   * @param multicast a parameter of this name gets the address of a multicast object over the
   *     buffers of all ranks; null for none
   */
  public record KernelBuffer(
      String name,
      String description,
      NumberType type,
      Formula count,
      @Nullable Formula fill,
      @Nullable String multicast) {}

  /**
   * A setting that a kernel brings: experiments fix or sweep it like a built-in one, and the kernel
   * gets it as a parameter of that name.
   *
   * @param unit of its values; empty for counts
   * @param standard the value when an experiment is silent
   * @param least smallest value
   * @param most largest value
   */
  public record KernelSetting(
      String name,
      String description,
      NumberType type,
      String unit,
      Value standard,
      double least,
      double most) {

    /** The number of a value. */
    public static double number(Value value) {
      return switch (value) {
        case Value.Whole(long whole) -> whole;
        case Value.Real(double real) -> real;
        case Value.Text _, Value.Flag _ ->
            throw new IllegalArgumentException(value.text() + " is no number");
      };
    }

    /** The bits that a kernel gets for a value. */
    public long bits(Value value) {
      return value instanceof Value.Whole(long whole) ? type.bits(whole) : type.bits(number(value));
    }
  }

  /**
   * A metric that a kernel brings: it gets an array as a parameter of that name, zero at first, and
   * writes a number for each measured iteration, or one for the launch.
   *
   * @param type {@code U64} or {@code F64}
   * @param unit of its samples, as built-in metrics have it, such as {@code ns}
   * @param higherIsBetter which direction counts as better
   * @param across which ranks' numbers are samples
   * @param once one number for a launch, not one for each iteration
   */
  public record KernelMetric(
      String name,
      String description,
      NumberType type,
      String unit,
      boolean higherIsBetter,
      Across across,
      boolean once) {

    /**
     * Returns whether higher values of a metric are better: of rates, unless a kernel that brings
     * it says otherwise; of everything else (times, shares, counts) lower ones are.
     */
    public static boolean higherIsBetter(
        Map<String, KernelMetric> brought, String metric, String unit) {
      KernelMetric own = brought.get(metric);
      return own != null ? own.higherIsBetter : unit.endsWith("/s") || unit.endsWith("/ns");
    }

    /** Rule that makes a sample of the numbers that ranks write at the same index. */
    public enum Across {
      /** Rank 0's. */
      FIRST,
      /** Each rank's is a sample; those of rank 0 come first. */
      ALL,
      MAX,
      MIN,
      SUM,
      MEAN
    }
  }

  /** Required contents of a kernel's own buffers when it is done. */
  public sealed interface KernelVerification {

    /** The buffers that are looked at. */
    List<String> buffers();

    /**
     * Each number is what a formula says.
     *
     * @param expected formulas by buffer
     * @param tolerance relative, of decimal numbers
     */
    record Expected(SequencedMap<String, Formula> expected, double tolerance)
        implements KernelVerification {
      public Expected {
        expected = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(expected));
      }

      @Override
      public List<String> buffers() {
        return List.copyOf(expected.keySet());
      }
    }

    /**
     * An entry of the kernel's PTX decides, on the PTX VM: a block for each rank, over copies of
     * all ranks' buffers.
     *
     * @param parameters what each parameter of the entry gets
     * @param threads of a block
     * @param buffers those among the parameters
     */
    record Entry(String name, List<String> parameters, int threads, List<String> buffers)
        implements KernelVerification {
      /** Parameters of an entry that are neither settings nor buffers. */
      public static final List<String> PARAMETERS = List.of("status", "found");

      public Entry {
        parameters = List.copyOf(parameters);
        buffers = List.copyOf(buffers);
      }
    }
  }
}
