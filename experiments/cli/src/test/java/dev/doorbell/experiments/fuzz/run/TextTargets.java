package dev.doorbell.experiments.fuzz.run;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.experiments.config.ExperimentConfig;
import dev.doorbell.experiments.config.value.Sizes;
import dev.doorbell.experiments.config.value.Sweep;
import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import dev.doorbell.experiments.fuzz.Mutator;
import dev.doorbell.experiments.scenario.moe.Routing.RoutingFile;
import dev.doorbell.experiments.topology.machine.MachineReader;
import dev.doorbell.experiments.workbench.explore.Schedule;
import dev.doorbell.verbs.device.DeviceFilter;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Texts of other programs about machines, and short texts of options. */
public final class TextTargets {
  private static final String EXPLAIN = "/dev/doorbell/experiments/cli/explain/";

  /** Returns the targets. */
  public List<FuzzTarget> targets() {
    return List.of(
        FuzzTarget.of(
            "map",
            "machines as NCCL, nvidia-smi, rocm-smi, lspci and lstopo describe them",
            () ->
                Stream.of(
                        "graph.txt",
                        "lspci.txt",
                        "nccl.txt",
                        "ndv5.xml",
                        "rocm.txt",
                        "topo-m-29.txt",
                        "topo-m-320.txt",
                        "topo-mnnvl.xml")
                    .map(name -> Seeds.resource(EXPLAIN + name))
                    .toList(),
            Mutator.bytes(
                "<!DOCTYPE a [<!ENTITY b SYSTEM \"c\">]>",
                "<pci busid=\"",
                "&b;",
                "NV18",
                "PIX",
                " \\-",
                "+-[0000:",
                "-+",
                "\t"),
            input -> refusing(() -> MachineReader.read("fuzz.txt", Seeds.text(input)).toString())),
        FuzzTarget.of(
            "routing",
            "experts that a router chose",
            () -> Mutator.bytes("0 1\n2 3\n# c\n1,2\n3 0\n"),
            Mutator.bytes("-1", "4", "99999999999"),
            input ->
                refusing(
                    () ->
                        Arrays.deepToString(
                            new RoutingFile("fuzz", 2, 2, 2, 4).read(Seeds.text(input))))),
        FuzzTarget.of(
            "words",
            "short texts of options and settings",
            () ->
                Mutator.bytes(
                    "64",
                    "4K..1M",
                    "[1, 2, 4]",
                    "ci95(latency.p50)<2%",
                    "fe80::1",
                    "00:11:22:33:44:55",
                    "mlx5_0:1",
                    "1:2:3"),
            Mutator.bytes("*2", "..", "%", "::", "^", "=", "1e400", "K"),
            input -> words(Seeds.text(input))));
  }

  /** A reader that refuses by a {@link ConfigException}. */
  private interface Reading {
    String read() throws ConfigException;
  }

  private static Outcome refusing(Reading reading) {
    try {
      return reading.read().isEmpty() ? Outcome.REFUSED : Outcome.ACCEPTED;
    } catch (ConfigException e) {
      return YamlTargets.refused(e.problems());
    }
  }

  private static Outcome words(String text) {
    boolean any = Sizes.parse(text).isPresent();
    any |= !Sweep.parse(text).toString().isEmpty();
    any |= ExperimentConfig.Until.parse(text).isPresent();
    any |= Schedule.parse(text).isPresent();
    for (Runnable reader :
        List.<Runnable>of(() -> Gid.parse(text), () -> DeviceFilter.parse(text))) {
      try {
        reader.run();
        any = true;
      } catch (IllegalArgumentException e) {
        if (e.getMessage() == null || e instanceof NumberFormatException) {
          throw e;
        }
      }
    }
    return any ? Outcome.ACCEPTED : Outcome.REFUSED;
  }
}
