package dev.doorbell.experiments.latex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** The machine's pdflatex. */
public final class Latex {
  private static final long PATIENCE_SECONDS = 600;

  /** A two-column paper as conferences have it: columns of 3 1/3 inches, 7 inches together. */
  private static final String PREAMBLE =
      """
      \\documentclass[twocolumn,10pt]{article}
      \\usepackage[utf8]{inputenc}
      \\usepackage[T1]{fontenc}
      \\usepackage{lmodern,graphicx,booktabs}
      \\usepackage[textwidth=7.01in,textheight=9in]{geometry}
      """;

  private Latex() {}

  /** Ends the test as skipped where there is no LaTeX. */
  public static void assumeThere() {
    assumeThat(program())
        .as(
            "no pdflatex: apt-get install --no-install-recommends texlive-latex-recommended"
                + " lmodern")
        .isTrue();
  }

  private static boolean program() {
    boolean there =
        Arrays.stream(String.valueOf(System.getenv("PATH")).split(":", -1))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "pdflatex")));
    return there
        && Files.exists(Path.of("/usr/share/texmf/tex/latex/lm/lmodern.sty"))
        && Files.exists(Path.of("/usr/share/texlive/texmf-dist/tex/latex/booktabs/booktabs.sty"));
  }

  /** Sets what belongs into a paper of two columns, and complains of what LaTeX complains of. */
  public static void typesets(Path folder, String name, String body)
      throws IOException, InterruptedException {
    Files.writeString(
        folder.resolve(name + ".tex"),
        PREAMBLE + "\\begin{document}\n" + body + "\\end{document}\n");
    compiles(folder, name, 1);
  }

  /** Runs {@code pdflatex NAME.tex} so many times (references need two) and reads the last log. */
  public static void compiles(Path folder, String name, int passes)
      throws IOException, InterruptedException {
    for (int pass = 0; pass < passes; pass++) {
      Process process =
          new ProcessBuilder(
                  "pdflatex", "-interaction=nonstopmode", "-halt-on-error", name + ".tex")
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve(name + ".out.txt").toFile())
              .start();
      boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
      if (!ended) {
        process.destroyForcibly();
      }
      assertThat(ended && process.exitValue() == 0).as("%s", tail(folder, name)).isTrue();
    }
    assertThat(
            log(folder, name)
                .lines()
                .filter(
                    line ->
                        line.startsWith("!")
                            || line.startsWith("Overfull")
                            || line.contains("undefined")
                            || line.contains("Warning:")))
        .as(name)
        .isEmpty();
    String keep = System.getProperty("doorbell.latex.keep", "");
    if (!keep.isEmpty()) {
      Files.createDirectories(Path.of(keep));
      Files.write(Path.of(keep, name + ".pdf"), Files.readAllBytes(folder.resolve(name + ".pdf")));
    }
  }

  private static String log(Path folder, String name) throws IOException {
    return new String(
        Files.readAllBytes(folder.resolve(name + ".log")), StandardCharsets.ISO_8859_1);
  }

  private static String tail(Path folder, String name) throws IOException {
    Path out = folder.resolve(name + ".out.txt");
    String text = new String(Files.readAllBytes(out), StandardCharsets.ISO_8859_1);
    return text.substring(Math.max(0, text.length() - 2000));
  }
}
