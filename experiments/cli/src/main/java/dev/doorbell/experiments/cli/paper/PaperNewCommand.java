package dev.doorbell.experiments.cli.paper;

import dev.doorbell.core.problem.Typed;
import dev.doorbell.experiments.cli.command.CliCommand;
import dev.doorbell.experiments.cli.command.CommandContext;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.results.paper.Paper;
import dev.doorbell.experiments.run.RunDirectory.RunFiles;
import dev.doorbell.experiments.run.RunException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import picocli.CommandLine;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    header = {
      "Writes a paper to start from: one run, one figure, one table, one number. It builds.",
      "",
      "  doorbell paper new papers/mine",
      ""
    })
final class PaperNewCommand extends CliCommand {
  private static final String YAML =
      """
      # What the paper rests on; docs/papers.md explains every key.
      paper: NAME
      title: NAME
      text: [paper.md, paper.tex]

      runs:
        main:
          experiment: pull-vs-push
          set: ["path=pull,push.memic", "placement=same-switch", "size=64,4K,64K"]

      figures:
        latency: {run: main, kind: line, x: size, y: latency, series: path, caption: Latency against size}

      tables:
        latency: {run: main, show: summary, metrics: [latency]}

      numbers:
        pull-64: {run: main, value: "latency{path=pull, size=64}", unit: ns}
      """;

  private static final String MARKDOWN =
      """
      # NAME

      A put of 64 bytes by pull takes {{number pull-64}}.

      {{figure latency}}

      {{table latency}}
      """;

  private static final String LATEX =
      """
      % pdflatex paper.tex, after doorbell paper build; Debian's packages for it:
      % texlive-latex-recommended texlive-pictures lmodern
      \\documentclass[twocolumn,10pt]{article}
      \\usepackage[utf8]{inputenc}
      \\usepackage[T1]{fontenc}
      \\usepackage{lmodern,graphicx,booktabs,pgfplots}
      \\usepackage[textwidth=7.01in,textheight=9in]{geometry}
      \\pgfplotsset{compat=1.18, table/search path={generated/figures}}
      \\input{generated/numbers.tex}
      \\title{NAME}
      \\author{}
      \\begin{document}
      \\maketitle

      A put of 64 bytes by pull takes \\doorbell{pull-64} (figure~\\ref{latency}, table~\\ref{all}).

      % The drawing: \\includegraphics{generated/figures/latency.pdf}
      \\begin{figure}[t]
      \\input{generated/figures/latency.tex}
      \\caption{Latency against size.}\\label{latency}
      \\end{figure}

      \\begin{table*}[t]
      \\centering\\footnotesize
      \\input{generated/tables/latency.tex}
      \\caption{The same as numbers.}\\label{all}
      \\end{table*}
      \\end{document}
      """;

  @Parameters(paramLabel = "DIR", description = "The paper's folder; its name is the paper's.")
  private Path folder = Path.of(".");

  @Override
  public ExitCode run(CommandContext context) throws UsageException, RunException {
    if (Files.exists(folder.resolve(Paper.FILE))) {
      throw UsageException.of(
          "DB-U072",
          folder.toString(),
          "there is a paper already",
          "doorbell paper build " + folder);
    }
    String name = String.valueOf(folder.toAbsolutePath().normalize().getFileName());
    SequencedMap<String, byte[]> files = new LinkedHashMap<>();
    files.put(Paper.FILE, text(YAML, name));
    files.put("paper.md", text(MARKDOWN, name));
    files.put("paper.tex", text(LATEX, name.replaceAll("([_&%$#])", "\\\\$1")));
    files.put(".gitignore", text("runs/\n", name));
    RunFiles.writeAll(context.disk(), folder, files)
        .forEach(file -> context.out().println(folder.resolve(file)));
    if (!common().quiet()) {
      context.out().println(Typed.in("next  doorbell paper build " + folder));
    }
    return ExitCode.OK;
  }

  private static byte[] text(String template, String name) {
    return template.replace("NAME", name).getBytes(StandardCharsets.UTF_8);
  }
}
