package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Json;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.cli.kernel.KernelFiles.LinkedFiles;
import dev.doorbell.experiments.kernels.KernelFolders;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelReport;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Says what PTX needs, and everything of it that is not supported, at once.",
      "",
      "  doorbell kernel check my_put.ptx",
      "  doorbell kernel check my_put.kernel.yaml      the descriptor, and whether the PTX fits it",
      "  doorbell kernel check *.ptx --json",
      "  doorbell kernel check put.ptx --link lib.ptx     both as one module",
      "",
      "Exit code 0 when all can be loaded, 1 when PTX is refused, 3 when a descriptor is wrong.",
      ""
    })
final class KernelCheckCommand extends CliCommand {
  @Parameters(
      paramLabel = "FILE",
      arity = "1..*",
      description = "PTX files, or descriptors (NAME.kernel.yaml).")
  private List<String> files = new ArrayList<>();

  @Mixin private LinkedFiles linked = new LinkedFiles();

  @Override
  public ExitCode run(CommandContext context) throws UsageException {
    Map<String, Object> json = new LinkedHashMap<>();
    ExitCode worst = ExitCode.OK;
    for (String file : files) {
      boolean descriptor = file.endsWith(".yaml") || file.endsWith(".yml");
      List<Problem> problems = new ArrayList<>();
      KernelReport report =
          descriptor ? ofDescriptor(file, problems) : KernelWorkbench.check(file, linked.ptx(file));
      report.unsupported().forEach(line -> problems.add(KernelFiles.problem(line)));
      if (common().json()) {
        json.put(file, new Checked(report, problems));
      } else {
        print(context.out(), file, report, problems);
      }
      if (!report.unsupported().isEmpty()) {
        worst = ExitCode.FAILED;
      } else if (!problems.isEmpty() && worst == ExitCode.OK) {
        worst = ExitCode.CONFIG;
      }
    }
    if (common().json()) {
      Json.print(context, json);
    }
    return worst;
  }

  private record Checked(KernelReport report, List<Problem> problems) {}

  private static KernelReport ofDescriptor(String file, List<Problem> problems) {
    try {
      var kernel = KernelFolders.read(Path.of(file));
      KernelReport report = KernelWorkbench.check(kernel.ptxFile(), kernel.ptx());
      if (report.unsupported().isEmpty()) {
        problems.addAll(KernelWorkbench.checkAbi(kernel));
      }
      return report;
    } catch (ConfigException e) {
      problems.addAll(e.problems());
      return new KernelReport(file, "", "", List.of(), List.of(), List.of());
    }
  }

  private void print(PrintStream out, String file, KernelReport report, List<Problem> problems) {
    if (!report.isa().isEmpty() && !common().quiet()) {
      out.printf("%s   PTX ISA %s   target %s%n", report.file(), report.isa(), report.target());
      report.entries().forEach(entry -> print(out, report.file(), entry));
      for (KernelReport.Line note : report.notes()) {
        out.printf(
            "note    %s:%d  %s: %s%s%n",
            note.file(),
            note.line(),
            note.what(),
            note.text().replaceAll("\\s+", " "),
            note.source().isEmpty() ? "" : "   (" + note.source() + ")");
      }
    }
    problems.forEach(problem -> out.println(problem.text()));
    int refused = report.unsupported().size();
    if (refused > 0) {
      out.printf(
          "%d %s not supported; nothing of the file can be loaded%n",
          refused, refused == 1 ? "line is" : "lines are");
    } else if (problems.isEmpty()) {
      out.printf("%s  ok%n", file);
    } else {
      out.printf("%d %s%n", problems.size(), problems.size() == 1 ? "error" : "errors");
    }
  }

  private static void print(PrintStream out, String file, KernelReport.Entry entry) {
    String parameters =
        entry.parameters().stream()
            .map(KernelCheckCommand::parameter)
            .collect(Collectors.joining(", "));
    boolean other = !entry.file().equals(file);
    out.printf(
        "entry   %s(%s)   line %d%s%n",
        entry.name(), parameters, entry.line(), other ? " of " + entry.file() : "");
    out.printf(
        "        %d instructions, %d registers in %d slots, %d B of parameters%n",
        entry.instructions(), entry.registers(), entry.slots(), entry.parameterBytes());
    out.printf(
        "        %d B of shared memory%s, %d B of local memory%n",
        entry.sharedBytes(),
        entry.dynamicShared() ? " and what the launch gives" : "",
        entry.localBytes());
  }

  private static String parameter(KernelReport.Parameter parameter) {
    boolean structure = parameter.type().equals("b8") && parameter.bytes() > 1;
    return ".%s %s%s"
        .formatted(
            parameter.type(), parameter.name(), structure ? "[" + parameter.bytes() + "]" : "");
  }
}
