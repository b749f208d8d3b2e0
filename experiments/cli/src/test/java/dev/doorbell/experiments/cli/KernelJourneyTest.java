package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The way of docs/kernels.md, from nothing to a figure, with what the build brings. */
class KernelJourneyTest {
  @TempDir private Path home;
  private final RealSession session = new RealSession();

  private void typed(ExitCode wanted, String... words) {
    assertThat(session.type(words))
        .as("%s%n%s%s", List.of(words), session.out(), session.err())
        .isEqualTo(wanted);
  }

  @ParameterizedTest
  @CsvSource({
    "put, size=64, latency, latency",
    "ring, window=2;size=4K, goodput, goodput",
    "signal, window=3;size=4K, goodput, goodput",
    "exchange, size=64;path=pull, latency, latency",
    "proxy, window=4;size=4K, goodput, goodput",
    "alltoall, ranks=3;size=64, latency, latency",
    "reduce, ranks=3;size=1K;pieces=2, latency, bandwidth",
    "dispatch, ranks=3;size=64;token_count=6;hot=50;fanout=3, latency, slowest"
  })
  void from_a_template_to_a_verified_figure(
      String template, String settings, String metric, String figure) throws IOException {
    Path folder = home.resolve("kernels/mine");
    typed(ExitCode.OK, "kernel", "new", "mine", "--template", template, "--dir", folder.toString());
    assertThat(session.out()).contains("next").contains("doorbell run " + folder);
    String descriptor = folder.resolve("mine.kernel.yaml").toString();
    String experiment = folder.resolve("mine.experiment.yaml").toString();

    typed(ExitCode.OK, "kernel", "check", descriptor);
    assertThat(session.out()).contains("entry   mine(").endsWith(descriptor + "  ok\n");
    // A lone wait ends after a number of looks; what comes then has a deadline.
    assertThat(session.out().lines().filter(line -> line.startsWith("note")))
        .as("every wait has a deadline")
        .allMatch(
            line -> line.contains("it has no deadline") && line.contains("completion.cuh:407"));
    typed(ExitCode.OK, "validate", experiment, descriptor);
    typed(ExitCode.OK, "list", "kernels", "--kernels", folder.toString());
    assertThat(session.out()).contains("mine ");
    typed(ExitCode.OK, "describe", "mine", "--kernels", folder.toString());
    assertThat(session.out()).contains("measures  " + metric).contains("mine.kernel.yaml");

    Path runs = home.resolve("runs");
    String[] changes = settings.split(";", -1);
    typed(
        ExitCode.OK,
        Stream.of(
                Stream.of("run", experiment, "--out", runs.toString()),
                Stream.of(changes).flatMap(change -> Stream.of("-s", change)),
                Stream.of("-s", "samples=2"))
            .flatMap(words -> words)
            .toArray(String[]::new));
    assertThat(session.out())
        .contains(" points verified")
        .contains("0 failed")
        .contains(figure + ".svg");
    Path run;
    try (Stream<Path> made = Files.list(runs)) {
      run = made.findFirst().orElseThrow();
    }
    assertThat(run.resolve("kernels/mine/mine.ptx"))
        .hasSameTextualContentAs(folder.resolve("mine.ptx"));
    typed(ExitCode.OK, "plot", run.toString());
    assertThat(run.resolve("figures/" + figure + ".svg")).isNotEmptyFile();
    if (template.equals("put")) {
      // By the kernel that the run has kept: here no folder has one of that name.
      typed(ExitCode.OK, "plot", run.toString(), "--kind", "timeline", "--only", "path=pull");
      assertThat(session.out()).contains("timeline-", ".pcapng");
    }

    typed(
        ExitCode.NOT_COVERED,
        Stream.concat(
                Stream.of("explore", descriptor, "--seeds", "2", "--iterations", "3"),
                template.equals("exchange") ? Stream.of("--threads", "4") : Stream.empty())
            .toArray(String[]::new));
    assertThat(session.out()).contains("no finding in ");
  }

  @Test
  void a_kernel_of_ones_own_stands_beside_doorbells_in_one_figure() throws IOException {
    Path folder = home.resolve("kernels/mine");
    typed(ExitCode.OK, "kernel", "new", "mine", "--template", "put", "--dir", folder.toString());
    Path experiment =
        Files.writeString(
            folder.resolve("both.yaml"),
            """
            experiment: both
            question: Is mine as fast?
            axes: { kernel: [put_latency, mine], size: [8, 64] }
            fixed: { path: pull }
            measure: { metrics: [latency], samples: 2 }
            outputs:
              figures:
                - { name: both, x: size, y: latency, series: kernel }
            """);
    typed(ExitCode.OK, "run", experiment.toString(), "--out", home.resolve("runs").toString());
    assertThat(session.out())
        .contains("4 of 4 points verified", "both.svg")
        .containsPattern("\nput_latency +64 B +[0-9.]+ ")
        .containsPattern("\nmine +64 B +[0-9.]+ ");
  }

  @Test
  void a_descriptor_that_is_wrong_stops_the_experiment_and_says_where() throws IOException {
    Path folder = home.resolve("mine");
    typed(ExitCode.OK, "kernel", "new", "mine", "--dir", folder.toString(), "-q");
    Path descriptor = folder.resolve("mine.kernel.yaml");
    String experiment = folder.resolve("mine.experiment.yaml").toString();
    String good = Files.readString(descriptor);

    Files.writeString(descriptor, good.replace("measures: latency", "measures: latncy"));
    typed(ExitCode.CONFIG, "run", experiment, "--dry-run");
    assertThat(session.err())
        .contains("unknown kernel 'mine'")
        .contains("mine.kernel.yaml:11:11  DB-C012  unknown measures 'latncy'")
        .contains("did you mean 'latency'");

    Files.writeString(descriptor, good.replace("[queue_pairs, job]", "[queue_pairs, job, bytes]"));
    typed(ExitCode.CONFIG, "run", experiment, "--dry-run");
    assertThat(session.err())
        .contains("mine.kernel.yaml:8:13  DB-K012  entry mine takes 2 parameters");
    typed(ExitCode.CONFIG, "kernel", "check", descriptor.toString());

    Files.writeString(descriptor, good);
    typed(ExitCode.CONFIG, "run", experiment, "--dry-run", "-s", "path=push.memic");
    assertThat(session.err()).contains("DB-P018  kernel mine does not take the path push.memic");
    typed(ExitCode.CONFIG, "run", experiment, "--dry-run", "-s", "metrics=goodput");

    Files.delete(folder.resolve("mine.ptx"));
    typed(ExitCode.CONFIG, "validate", descriptor.toString());
    assertThat(session.out()).contains("DB-K014").contains("doorbell kernel build");
  }
}
