package dev.doorbell.experiments.cli.calibrate;

import dev.doorbell.core.problem.ConfigException;
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
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
      "  doorbell calibrate --gpu vm --topology cross-rc      what the model itself would measure",
      "",
      "The file is a topology. Prices that no GPU can tell, the HCA's above all, come from",
      "--topology. With --gpu vm the same kernels run in virtual time, over --topology.",
      ""
    })
public final class CalibrateCommand extends CliCommand {
  private static final int ALL_THREADS = Integer.MAX_VALUE;

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

  @Override
  public ExitCode run(CommandContext context) throws ProblemException {
    checkArguments();
    Calibration measured = measure(context);
    String text = text(measured);
    if (output != null && measured.complete()) {
      RunFiles.write(context.disk(), Path.of(output), text.getBytes(StandardCharsets.UTF_8));
    }
    if (common().json()) {
      Json.print(context, json(measured));
    } else {
      tell(context, measured);
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

  private Calibration measure(CommandContext context) throws ProblemException {
    boolean shows = context.terminal().interactive() && !common().quiet() && !common().json();
    Consumer<String> progress =
        shows ? name -> context.err().printf("\r\033[K%s  %s", gpu, name) : _ -> {};
    try {
      return Calibrator.measure(
          new Calibrator.Request(
              gpu, topology, samples, ALL_THREADS, context.interruption()::requested, progress));
    } catch (ConfigException e) {
      throw new UsageException(e.problems().getFirst());
    } finally {
      if (shows) {
        context.err().print("\r\033[K");
      }
    }
  }

  private String text(Calibration measured) throws UsageException {
    try {
      return MachineFile.text(measured, topology);
    } catch (ConfigException e) {
      throw new UsageException(e.problems().getFirst());
    }
  }

  private void tell(CommandContext context, Calibration measured) {
    TextTable table =
        new TextTable().left("quantity").right("median").left("unit").left("[95 % CI]").right("n");
    table.left("what");
    for (Measurement measurement : measured.measurements()) {
      Summary summary = measurement.summary();
      table.row(
          List.of(
              measurement.name(),
              Screen.digits(summary.median()),
              measurement.samples().unit(),
              Screen.interval(summary.interval(), ""),
              Integer.toString(summary.n()),
              measurement.what()));
    }
    context.out().print(table.text());
    if (common().quiet()) {
      return;
    }
    context.printf("gpu      %s%n%s%n", measured.gpu(), Screen.basis(measured.basis()));
    if (output != null && measured.complete()) {
      context.printf(
          Typed.in("written  %s   doorbell run pull-vs-push -s placement=%s%n"), output, output);
    }
  }

  private static Map<String, Object> json(Calibration measured) {
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
      all.add(each);
    }
    json.put("measurements", all);
    return json;
  }
}
