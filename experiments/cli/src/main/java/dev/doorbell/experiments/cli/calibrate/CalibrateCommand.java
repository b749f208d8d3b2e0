package dev.doorbell.experiments.cli.calibrate;

import dev.doorbell.core.Basis;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.problem.ProblemException;
import dev.doorbell.core.problem.Typed;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.TextTable;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.results.print.Screen;
import dev.doorbell.experiments.run.RunDirectory.RunFiles;
import dev.doorbell.experiments.stats.Summary;
import dev.doorbell.experiments.workbench.calibration.Calibration;
import dev.doorbell.experiments.workbench.calibration.Calibration.Measurement;
import dev.doorbell.experiments.workbench.calibration.Calibrator;
import dev.doorbell.experiments.workbench.calibration.MachineFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

@CommandLine.Command(
    header = {
      "Measures what a GPU's loads, stores, atomics, fences and copies cost.",
      "",
      "  doorbell calibrate --gpu cuda:0 -o machine.json",
      "  doorbell run pull-vs-push -s placement=machine.json",
      "  doorbell calibrate --measured machine.json           the model against those samples",
      "  doorbell calibrate --gpu vm --topology cross-rc      what the model itself would measure",
      "",
      "The file is a topology. Prices that no GPU can tell, the HCA's above all, come from",
      "--topology. The same kernels are then run in virtual time over it, and compared.",
      ""
    })
public final class CalibrateCommand extends CliCommand {
  private static final int ALL_THREADS = Integer.MAX_VALUE;
  private static final int MODELLED_SAMPLES = 5;

  @Option(names = "--gpu", paramLabel = "GPU", description = "vm, or cuda:N (default: cuda:0).")
  private String gpu = "cuda:0";

  @Option(
      names = "--topology",
      paramLabel = "NAME|FILE",
      description = "Gives what is not measured (default: same-switch).")
  private String topology = "same-switch";

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE.json",
      description = "Write the topology there.")
  private @Nullable String output;

  @Option(
      names = "--samples",
      paramLabel = "N",
      description = "Samples of each quantity (default: 200).")
  private int samples = 200;

  @Option(
      names = "--measured",
      paramLabel = "FILE.json",
      description = "Take the samples of an earlier calibration from FILE; needs no GPU.")
  private @Nullable String earlier;

  @Option(names = "--no-model", description = "Measure alone; do not compare with the model.")
  private boolean noModel;

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    checkArguments();
    Calibration measured =
        earlier == null ? measure(context, gpu, topology, samples, ALL_THREADS) : earlier(earlier);
    String text = text(measured);
    if (output != null && measured.complete()) {
      RunFiles.write(context.disk(), Path.of(output), text.getBytes(StandardCharsets.UTF_8));
    }
    Calibration modelled = null;
    if (!noModel && measured.complete() && measured.basis() == Basis.MEASURED) {
      modelled = model(context, text, measured.largestGrid());
    }
    if (common().json()) {
      Json.print(context, json(measured, modelled));
    } else {
      tell(context, measured, modelled);
    }
    return measured.complete() ? ExitCode.OK : ExitCode.INTERRUPTED;
  }

  private void checkArguments() throws UsageException {
    if (!gpu.matches("vm|cuda:[0-9]{1,3}")) {
      throw UsageException.wrong("--gpu", "'%s' is no GPU".formatted(gpu), "vm, or cuda:0");
    }
    if (samples < 3 || samples > 100_000) {
      throw UsageException.wrong("--samples", samples + " is not from 3 to 100000");
    }
    if (output != null && !output.endsWith(".json")) {
      throw new UsageException(
          Problem.of("DB-U003", "--output", "'%s' does not end in .json".formatted(output))
              .effect("placement=FILE takes topologies by their ending"));
    }
  }

  private Calibration measure(
      CommandContext context, String what, String over, int count, int largestGrid)
      throws ProblemException {
    boolean shows = context.terminal().interactive() && !common().quiet() && !common().json();
    Consumer<String> progress =
        shows ? name -> context.err().printf("\r\033[K%s  %s", what, name) : _ -> {};
    try {
      return Calibrator.find()
          .measure(
              new Calibrator.Request(
                  what, over, count, largestGrid, context.interruption()::requested, progress));
    } catch (ConfigException e) {
      throw new UsageException(e.problems().getFirst());
    } finally {
      if (shows) {
        context.err().print("\r\033[K");
      }
    }
  }

  private static Calibration earlier(String file) throws UsageException {
    try {
      return MachineFile.measurements(file);
    } catch (ConfigException e) {
      throw new UsageException(e.problems().getFirst());
    }
  }

  private String text(Calibration measured) throws UsageException {
    try {
      return MachineFile.text(measured, topology);
    } catch (ConfigException e) {
      throw new UsageException(e.problems().getFirst());
    }
  }

  private Calibration model(CommandContext context, String text, int largestGrid)
      throws ProblemException {
    Path file = null;
    try {
      file = Files.createTempFile("machine", ".json");
      Files.writeString(file, text);
      return measure(context, "vm", file.toString(), MODELLED_SAMPLES, largestGrid);
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of("DB-K001", "a temporary file", "cannot be written: " + e.getMessage())
              .effect("there is nothing to compare with")
              .fix("make room in the temporary folder, or add --no-model"));
    } finally {
      if (file != null) {
        file.toFile().delete();
      }
    }
  }

  private void tell(CommandContext context, Calibration measured, @Nullable Calibration modelled) {
    TextTable table =
        new TextTable().left("quantity").right("median").left("unit").left("[95 % CI]").right("n");
    if (modelled != null) {
      table.right("model").right("residual");
    }
    table.left("what");
    Agreement agreement = new Agreement();
    for (Measurement measurement : measured.measurements()) {
      Summary summary = measurement.summary();
      List<String> cells =
          new ArrayList<>(
              List.of(
                  measurement.name(),
                  Screen.digits(summary.median()),
                  measurement.samples().unit(),
                  Screen.interval(summary.interval(), ""),
                  Integer.toString(summary.n())));
      if (modelled != null) {
        Optional<Double> model =
            modelled.find(measurement.name()).map(each -> each.summary().median());
        cells.add(model.map(Screen::digits).orElse("-"));
        cells.add(
            model
                .map(value -> Screen.percent(agreement.add(measurement.name(), summary, value)))
                .orElse("-"));
      }
      cells.add(measurement.what());
      table.row(cells);
    }
    context.out().print(table.text());
    if (common().quiet()) {
      return;
    }
    agreement.lines().forEach(context.out()::println);
    context.printf(
        "gpu      %s%n%s%n",
        measured.gpu(),
        earlier == null
            ? Screen.basis(measured.basis())
            : "MEASURED RESULT (samples of %s); the model is virtual time, nothing was timed here"
                .formatted(earlier));
    if (output != null && measured.complete()) {
      context.printf(
          Typed.in("written  %s   doorbell run pull-vs-push -s placement=%s%n"), output, output);
    }
  }

  private static Map<String, Object> json(Calibration measured, @Nullable Calibration modelled) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("gpu", measured.gpu());
    json.put("basis", measured.basis().word());
    json.put("complete", measured.complete());
    List<Map<String, Object>> all = new ArrayList<>();
    for (Measurement measurement : measured.measurements()) {
      Summary summary = measurement.summary();
      Map<String, Object> each = new LinkedHashMap<>();
      each.put("name", measurement.name());
      each.put("what", measurement.what());
      each.put("unit", measurement.samples().unit());
      each.put("median", summary.median());
      summary.interval().ifPresent(ci -> each.put("ci95", List.of(ci.lower(), ci.upper())));
      each.put("n", summary.n());
      if (modelled != null) {
        modelled
            .find(measurement.name())
            .ifPresent(found -> each.put("model", found.summary().median()));
      }
      all.add(each);
    }
    json.put("measurements", all);
    return json;
  }

  /** Says how many medians a model is near to, group by group, and which it is not near to. */
  static final class Agreement {
    private static final double NEAR = 0.10;

    private static final class Group {
      private final Map<String, Double> far = new LinkedHashMap<>();
      private int points;
    }

    private final Map<String, Group> groups = new LinkedHashMap<>();

    double add(String name, Summary measured, double model) {
      double residual = measured.median() == 0 ? 0 : model / measured.median() - 1;
      Group group = groups.computeIfAbsent(group(name), key -> new Group());
      group.points++;
      if (!(Math.abs(residual) <= NEAR)) {
        group.far.put(name, residual);
      }
      return residual;
    }

    private static String group(String name) {
      if (name.startsWith("stores.host")) {
        return "pushes to host memory";
      }
      if (name.startsWith("loads.host")) {
        return "pulls from host memory";
      }
      if (name.startsWith("stores.device")) {
        return "stores to device memory";
      }
      if (name.startsWith("issue.") || name.startsWith("together.")) {
        return "points of loads side by side";
      }
      return name.startsWith("loads.device") ? "loads of device memory" : "prices";
    }

    List<String> lines() {
      List<String> lines = new ArrayList<>();
      groups.forEach(
          (name, group) -> {
            int near = group.points - group.far.size();
            StringBuilder line =
                new StringBuilder(
                    "model    %d of %d %s within 10 %%".formatted(near, group.points, name));
            String before = "; not: ";
            for (Map.Entry<String, Double> each : group.far.entrySet()) {
              line.append(before).append(each.getKey()).append(' ');
              line.append(Screen.percent(each.getValue()));
              before = ", ";
            }
            lines.add(line.toString());
          });
      return lines;
    }
  }
}
