package dev.doorbell.experiments.fuzz.run;

import dev.doorbell.core.adapter.AdapterException;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.config.kernel.KernelDescriptorReader;
import dev.doorbell.experiments.fault.FaultFile;
import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import dev.doorbell.experiments.fuzz.Mutator;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.results.paper.Paper;
import dev.doorbell.experiments.topology.TopologyFile;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;
import java.util.ServiceLoader;
import java.util.function.Supplier;

/** Files that users write: YAML of every kind, adapters, and expressions in them. */
public final class YamlTargets {
  private static final String RESOURCES = "/dev/doorbell/experiments/";
  private static final String FILE = "fuzz.yaml";
  private static final List<String> CONFIGS = List.of("pull-vs-push", "message-rate", "all-to-all");
  private static final List<String> TOPOLOGIES = List.of("same-switch", "two-gpus");
  private static final List<byte[]> WORDS =
      Mutator.bytes(
          "x: &x {<<: *x}",
          "&x [*x]",
          "*x",
          "!!int ",
          "!!binary ",
          "%YAML 1.3\n",
          "---\n",
          "...\n",
          "|\n ",
          ">-\n ",
          "? ",
          "size: [64, 4K]",
          "1e309",
          ".inf",
          ".nan",
          "0o7",
          "0x_",
          "name: ");

  /** Returns the targets. */
  public List<FuzzTarget> targets() {
    return List.of(
        yaml("config", "experiments", YamlTargets::configs, YamlTargets::config).slow(),
        yaml("topology", "topologies", YamlTargets::topologies, YamlTargets::topology),
        yaml(
            "faults",
            "fault plans",
            () -> List.of(Seeds.file("faults.yaml")),
            input -> accepted(FaultFile.parse(FILE, Seeds.text(input)))),
        yaml(
            "descriptor",
            "kernel descriptors",
            () ->
                List.of(
                    Seeds.resource("/dev/doorbell/kernels/descriptors/put_rate.kernel.yaml"),
                    Seeds.resource("/dev/doorbell/kernels/descriptors/operations.kernel.yaml")),
            input -> accepted(new KernelDescriptorReader().read(FILE, Seeds.text(input)))),
        yaml(
            "paper",
            "papers",
            () -> List.of(Seeds.file("paper.yaml")),
            input -> accepted(Paper.parse(FILE, Seeds.text(input)))),
        FuzzTarget.of(
            "adapter",
            "adapters: promises of HCAs",
            () ->
                List.of(
                    Seeds.resource("/dev/doorbell/core/adapter/cx7.nic.properties"),
                    Seeds.resource("/dev/doorbell/core/adapter/cx8-ooo-rw.nic.properties")),
            Mutator.bytes("\\u00", "\\\n", "= =", "placement = any-order\n", "atomics:refused\n"),
            YamlTargets::adapter),
        FuzzTarget.of(
            "expression",
            "expressions of papers and conditions of --only",
            () ->
                Mutator.bytes(
                    "6 * (3 + 4) / -2",
                    "median{size=64, path=pull}",
                    "size<=4096,path=pull|push.bf"),
            Mutator.bytes("(((((((((", "----", "{", "=", "sqrt("),
            YamlTargets::expression));
  }

  /** A target of YAML, some of whose inputs nest deeply or refer to themselves. */
  private static FuzzTarget yaml(
      String name, String what, Supplier<List<byte[]>> seeds, FuzzTarget.Reader reader) {
    return FuzzTarget.of(
        name,
        what,
        seeds,
        WORDS,
        (random, mutator) ->
            random.nextInt(10) == 0
                ? Seeds.bytes(new YamlGenerator(random).document())
                : mutator.mutate(random),
        input -> {
          try {
            return reader.read(input);
          } catch (ConfigException e) {
            return refused(e.problems());
          }
        });
  }

  /** A refusal without a problem would be a silent one. */
  static Outcome refused(List<Problem> problems) {
    if (problems.isEmpty()) {
      throw new IllegalStateException("refused without a problem");
    }
    return Outcome.REFUSED;
  }

  private static Outcome accepted(Object read) {
    return read.toString().isEmpty() ? Outcome.REFUSED : Outcome.ACCEPTED;
  }

  private static List<byte[]> configs() {
    return CONFIGS.stream()
        .map(name -> Seeds.resource(RESOURCES + "configs/" + name + ".yaml"))
        .toList();
  }

  private static List<byte[]> topologies() {
    return TOPOLOGIES.stream()
        .map(name -> Seeds.resource(RESOURCES + "topologies/" + name + ".yaml"))
        .toList();
  }

  private static Outcome config(byte[] input) throws ConfigException {
    ExperimentRuntime runtime =
        ServiceLoader.load(ExperimentRuntime.class).findFirst().orElseThrow();
    Plan plan = Plan.of(new ConfigReader(runtime.names()).read(FILE, Seeds.text(input), List.of()));
    List<Problem> problems = new ArrayList<>();
    plan.points().stream().limit(8).forEach(point -> problems.addAll(runtime.check(point)));
    return problems.isEmpty() ? Outcome.ACCEPTED : Outcome.REFUSED;
  }

  private static Outcome topology(byte[] input) throws ConfigException {
    return accepted(TopologyFile.parse(FILE, Seeds.text(input)));
  }

  private static Outcome adapter(byte[] input) {
    try {
      return accepted(Adapters.read("fuzz", Seeds.text(input)));
    } catch (AdapterException _) {
      return Outcome.REFUSED;
    }
  }

  private static Outcome expression(byte[] input) {
    String text = Seeds.text(input);
    List<Problem> problems = new ArrayList<>();
    PointCondition.parse(text, "--only", List.of("size", "path"), problems);
    try {
      Formula.value(text, new AnyNames());
      return Outcome.ACCEPTED;
    } catch (FormulaException _) {
      return problems.isEmpty() ? Outcome.ACCEPTED : Outcome.REFUSED;
    }
  }

  private static final class AnyNames implements Formula.Lookup {
    @Override
    public double call(String function, List<Double> arguments) {
      return arguments.size();
    }

    @Override
    public double select(String name, SequencedMap<String, String> settings) {
      return settings.size();
    }
  }
}
