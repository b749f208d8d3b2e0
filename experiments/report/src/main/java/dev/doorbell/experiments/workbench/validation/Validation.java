package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.run.PointWorkers;
import dev.doorbell.experiments.stats.Summary;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.workbench.dma.DmaProbe;
import dev.doorbell.experiments.workbench.dma.DmaSetting;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Holds rows against machines. What a row gives depends on its config and its machine alone. */
public final class Validation {
  private static final Environment.Request VIRTUAL =
      new Environment.Request("vm", "soft", "virtual");
  private static final Map<String, Double> NANOS = Map.of("ns", 1.0, "us", 1e3);

  private static final int LAUNCHES = 3;

  private final ExperimentRuntime runtime;
  private final RowPoints points;
  private final PointWorkers workers;

  /**
   * A validation.
   *
   * @param workers that run the points
   */
  public Validation(ExperimentRuntime runtime, PointWorkers workers) {
    this(runtime, workers, LAUNCHES);
  }

  private Validation(ExperimentRuntime runtime, PointWorkers workers, int launches) {
    this.runtime = runtime;
    this.points = new RowPoints(runtime, launches);
    this.workers = workers;
  }

  /** The same with one launch of each point, which shows how rows change with a constant. */
  Validation ofOneLaunch() {
    return new Validation(runtime, workers, 1);
  }

  /** A point of one topology; terms that are alike share it. */
  private record Asked(String topology, List<String> settings, String metric) {
    static Asked of(ModelMachine machine, RowConfig.Term term) {
      return new Asked(machine.topology(), term.settings(), term.metric());
    }
  }

  private record Bound(Row row, ModelMachine machine, RowConfig config) {}

  /**
   * Where rows are collected while they are bound: those of points, and those without one.
   *
   * @param dma machines of the rows that {@link DmaRow} checks, by the row's place
   */
  private record Binding(
      List<Optional<Bound>> bound, List<CheckedRow> results, Map<Integer, ModelMachine> dma) {}

  /**
   * Runs rows on machines.
   *
   * @return a result for each row on each machine that stands for its own, in the order of the
   *     rows; rows without such a machine are among them
   * @throws EnvironmentException when there is no virtual time here
   * @throws InterruptedException when the user ends it
   */
  public List<CheckedRow> check(List<Row> rows, List<ModelMachine> machines)
      throws EnvironmentException, InterruptedException {
    return check(rows, machines, row -> {});
  }

  /**
   * Does the same, and reports each row as soon as its points have ended. When the user interrupts
   * it, the rows that have ended are all that it returns.
   *
   * @param ended is called from any thread, by one at a time
   */
  public List<CheckedRow> check(
      List<Row> rows, List<ModelMachine> machines, Consumer<CheckedRow> ended)
      throws EnvironmentException, InterruptedException {
    Binding binding = new Binding(new ArrayList<>(), new ArrayList<>(), new LinkedHashMap<>());
    Map<Asked, Point> asked = new LinkedHashMap<>();
    for (Row row : rows) {
      List<ModelMachine> own =
          machines.stream().filter(machine -> machine.rows().contains(row.machine())).toList();
      if (own.isEmpty()) {
        withoutPoint(
            binding,
            CheckedRow.without(
                row, "", "no topology stands for machine %s".formatted(row.machine())));
      }
      for (ModelMachine machine : own) {
        bind(row, machine, asked, binding);
      }
    }
    binding.dma.entrySet().parallelStream()
        .map(dma -> Map.entry(dma.getKey(), checkDma(binding, dma)))
        .toList()
        .forEach(
            checked -> {
              binding.results.set(checked.getKey(), checked.getValue());
              ended.accept(checked.getValue());
            });
    Set<Bound> open = new LinkedHashSet<>();
    binding.bound.forEach(bound -> bound.ifPresent(open::add));
    IdentityHashMap<Point, PointWorkers.Ending> endings = new IdentityHashMap<>();
    workers.run(
        asked.values().stream()
            .sorted(Comparator.comparingLong(point -> -runtime.estimateNanos(point)))
            .toList(),
        runtime.runner(runtime.choose(VIRTUAL)),
        (point, ending) -> {
          if (ending instanceof PointWorkers.Ending.Failed && workers.interruption().requested()) {
            return;
          }
          endings.put(point, ending);
          open.removeIf(
              bound -> {
                boolean all = hasEnded(bound, asked, endings);
                if (all) {
                  ended.accept(result(bound, asked, endings));
                }
                return all;
              });
        });
    List<CheckedRow> results = new ArrayList<>();
    for (int i = 0; i < binding.results.size(); i++) {
      Optional<Bound> bound = binding.bound.get(i);
      if (bound.isEmpty()) {
        results.add(binding.results.get(i));
      } else if (hasEnded(bound.get(), asked, endings)) {
        results.add(result(bound.get(), asked, endings));
      }
    }
    return results;
  }

  private static boolean hasEnded(
      Bound bound, Map<Asked, Point> asked, Map<Point, PointWorkers.Ending> endings) {
    return bound.config.terms().stream()
        .allMatch(term -> endings.containsKey(asked.get(Asked.of(bound.machine, term))));
  }

  private static CheckedRow checkDma(Binding binding, Map.Entry<Integer, ModelMachine> dma) {
    return DmaRow.check(binding.results.get(dma.getKey()).row(), dma.getValue());
  }

  private static void withoutPoint(Binding binding, CheckedRow row) {
    binding.bound.add(Optional.empty());
    binding.results.add(row);
  }

  private void bind(Row row, ModelMachine machine, Map<Asked, Point> asked, Binding binding) {
    if (row.config().isEmpty()) {
      withoutPoint(
          binding, CheckedRow.without(row, machine.topology(), "nothing binds it to a config"));
      return;
    }
    if (DmaRow.is(row.config())) {
      binding.dma.put(binding.results.size(), machine);
      withoutPoint(binding, CheckedRow.run(row, machine, Double.NaN));
      return;
    }
    try {
      RowConfig config = RowConfig.parse(row.place(), row.config());
      if (config.reason() != null) {
        withoutPoint(binding, CheckedRow.without(row, machine.topology(), config.reason()));
        return;
      }
      for (RowConfig.Term term : config.terms()) {
        Asked one = Asked.of(machine, term);
        if (!asked.containsKey(one)) {
          asked.put(one, points.point(row, term, machine.topology()));
        }
      }
      Bound bound = new Bound(row, machine, config);
      binding.bound.add(Optional.of(bound));
      binding.results.add(CheckedRow.run(row, machine, Double.NaN));
    } catch (ConfigException e) {
      withoutPoint(
          binding,
          CheckedRow.without(
              row, machine.topology(), CheckedRow.State.WRONG_CONFIG, e.problems().getFirst()));
    }
  }

  private static CheckedRow result(
      Bound bound, Map<Asked, Point> asked, Map<Point, PointWorkers.Ending> endings) {
    double sum = 0;
    for (RowConfig.Term term : bound.config.terms()) {
      Point point = asked.get(Asked.of(bound.machine, term));
      switch (endings.get(point)) {
        case PointWorkers.Ending.Failed(PointFailure failure) -> {
          return failed(bound, failure.problem());
        }
        case PointWorkers.Ending.Done(PointResult result) -> {
          Quantity read = read(term, result);
          OptionalDouble value = read == null ? OptionalDouble.empty() : in(bound.row.unit(), read);
          if (value.isEmpty()) {
            return failed(bound, unreadable(bound.row, term, read));
          }
          sum += term.sign() * value.getAsDouble();
        }
        case null -> throw new IllegalStateException("point without an ending: " + point);
      }
    }
    return CheckedRow.run(bound.row, bound.machine, sum / bound.config.divisor());
  }

  private static CheckedRow failed(Bound bound, Problem problem) {
    return CheckedRow.without(
        bound.row, bound.machine.topology(), CheckedRow.State.FAILED, problem);
  }

  private static Problem unreadable(Row row, RowConfig.Term term, @Nullable Quantity read) {
    return Problem.of(
        "DB-C081",
        row.place(),
        read == null
            ? "the point gives no %s".formatted(term.metric())
            : "%s is in %s, and the row in %s"
                .formatted(
                    term.metric(), read.unit().isEmpty() ? "counts" : read.unit(), row.unit()));
  }

  private static @Nullable Quantity read(RowConfig.Term term, PointResult result) {
    for (Samples samples : result.samples()) {
      if (samples.metric().equals(term.metric())) {
        Summary summary = Summary.of(samples.values(), 0);
        double value =
            switch (term.statistic()) {
              case MEDIAN -> summary.median();
              case P99 -> summary.p99().orElse(Double.NaN);
              case MIN -> summary.min();
              case MAX -> summary.max();
            };
        return new Quantity(value, samples.unit());
      }
    }
    return result.counters().get(term.metric());
  }

  /** A quantity in another unit; empty where it has none in it. */
  private static OptionalDouble in(String unit, Quantity quantity) {
    Double from = NANOS.get(quantity.unit());
    Double to = NANOS.get(unit);
    if (from != null && to != null) {
      return OptionalDouble.of(quantity.value() * from / to);
    }
    return quantity.unit().equals(unit)
        ? OptionalDouble.of(quantity.value())
        : OptionalDouble.empty();
  }

  /** Makes the points of a config: those that {@code run} would run with the same settings. */
  static final class RowPoints {
    private final ExperimentRuntime runtime;
    private final ConfigReader reader;
    private final String experiment;

    RowPoints(ExperimentRuntime runtime, int launches) {
      this.runtime = runtime;
      // Rows are of real HCAs; the model's answer comes in virtual time, whatever the machine has.
      this.experiment =
          """
          experiment: validation
          question: What does the model say about a published row?
          kernel: put_price
          gpu: vm
          hca: soft
          clock: virtual
          axes: { placement: same-switch }
          measure: { metrics: [post], launches: %d, timeout: 5min }
          """
              .formatted(launches);
      this.reader = new ConfigReader(runtime.names());
    }

    /**
     * The point of one term on a topology.
     *
     * @throws ConfigException when its settings name none, several, or one that cannot be run
     */
    Point point(Row row, RowConfig.Term term, String topology) throws ConfigException {
      List<String> overrides = new ArrayList<>(term.settings());
      overrides.add("placement=" + topology);
      overrides.add("metrics=" + term.metric());
      Plan plan;
      try {
        plan = Plan.of(reader.read(row.place(), experiment, overrides));
      } catch (ConfigException e) {
        throw new ConfigException(e.problems().stream().map(each -> of(row, each)).toList());
      }
      if (plan.points().size() != 1) {
        throw new ConfigException(
            List.of(
                Problem.of(
                    "DB-C081",
                    row.place(),
                    "'%s' names %d points, and a row is one"
                        .formatted(String.join(" ", term.settings()), plan.points().size()))));
      }
      Point point = plan.points().getFirst();
      List<Problem> problems = runtime.check(point);
      if (!problems.isEmpty()) {
        throw new ConfigException(problems.stream().map(each -> of(row, each)).toList());
      }
      return point;
    }

    /** A problem at the row that it is about. */
    private static Problem of(Row row, Problem problem) {
      return new Problem(
          problem.code(), row.place(), problem.what(), problem.effect(), problem.fix());
    }
  }

  /**
   * Rows of a device's DMA, which no kernel posts: their config is {@code dma:} and the words of a
   * {@link DmaSetting}. The model's answer is one of {@link DmaProbe}.
   */
  static final class DmaRow {
    private static final String PREFIX = "dma:";

    private DmaRow() {}

    /** Whether {@code config} is one. */
    static boolean is(String config) {
      return config.startsWith(PREFIX);
    }

    /** Holds {@code row} against {@code machine}. */
    static CheckedRow check(Row row, ModelMachine machine) {
      try {
        DmaSetting setting = setting(row.config());
        double measured = DmaProbe.measure(TopologyFile.load(machine.topology()), setting);
        return switch (row.unit()) {
          case "ns" -> of(row, machine, setting, true, measured);
          case "us" -> of(row, machine, setting, true, measured / 1e3);
          default -> of(row, machine, setting, false, measured);
        };
      } catch (IllegalArgumentException e) {
        return wrong(row, machine, CheckedRow.State.WRONG_CONFIG, String.valueOf(e.getMessage()));
      } catch (ConfigException e) {
        return CheckedRow.without(
            row, machine.topology(), CheckedRow.State.FAILED, e.problems().getFirst());
      }
    }

    /**
     * Reads a config.
     *
     * @throws IllegalArgumentException with a sentence for users
     */
    static DmaSetting setting(String config) {
      return DmaSetting.parse(config.substring(PREFIX.length()));
    }

    private static CheckedRow of(
        Row row, ModelMachine machine, DmaSetting setting, boolean time, double value) {
      if (time != setting.transfer().latency() || row.unit().equals("M/s")) {
        return wrong(
            row,
            machine,
            CheckedRow.State.FAILED,
            "%s is in %s, and the row in %s"
                .formatted(
                    setting.transfer().word(),
                    setting.transfer().latency() ? "ns" : "GB/s",
                    row.unit()));
      }
      return CheckedRow.run(row, machine, value);
    }

    private static CheckedRow wrong(
        Row row, ModelMachine machine, CheckedRow.State state, String what) {
      return CheckedRow.without(
          row, machine.topology(), state, Problem.of("DB-C081", row.place(), what));
    }
  }
}
