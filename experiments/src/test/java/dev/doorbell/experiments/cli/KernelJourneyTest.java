package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.Context;
import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.cli.command.Terminal;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.run.Disk;
import dev.doorbell.experiments.run.Interruption;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The way of docs/kernels.md, from nothing to a figure, with what the build brings. */
class KernelJourneyTest {
  @TempDir private Path home;
  private final ExperimentRuntime runtime =
      ServiceLoader.load(ExperimentRuntime.class).findFirst().orElseThrow();
  private String out = "";
  private String err = "";

  private ExitCode type(String... words) {
    ByteArrayOutputStream outBytes = new ByteArrayOutputStream();
    ByteArrayOutputStream errBytes = new ByteArrayOutputStream();
    ExitCode code =
        new Tool(
                new Context(
                    new Terminal(
                        new PrintStream(outBytes, true, StandardCharsets.UTF_8),
                        new PrintStream(errBytes, true, StandardCharsets.UTF_8),
                        false),
                    () -> runtime,
                    new Disk(),
                    Clock.systemUTC(),
                    new Interruption(),
                    List.of(words)))
            .run(words);
    out = outBytes.toString(StandardCharsets.UTF_8);
    err = errBytes.toString(StandardCharsets.UTF_8);
    return code;
  }

  private void typed(ExitCode wanted, String... words) {
    assertThat(type(words)).as("%s%n%s%s", List.of(words), out, err).isEqualTo(wanted);
  }

  @ParameterizedTest
  @CsvSource({
    "put, size=64, latency",
    "ring, window=2;size=4K, goodput",
    "proxy, window=4;size=4K, goodput"
  })
  void from_a_template_to_a_verified_figure(String template, String settings, String metric)
      throws IOException {
    Path folder = home.resolve("kernels/mine");
    typed(ExitCode.OK, "kernel", "new", "mine", "--template", template, "--dir", folder.toString());
    assertThat(out).contains("next").contains("doorbell run " + folder);
    String descriptor = folder.resolve("mine.kernel.yaml").toString();
    String experiment = folder.resolve("mine.experiment.yaml").toString();

    typed(ExitCode.OK, "kernel", "check", descriptor);
    assertThat(out).contains("entry   mine(").endsWith(descriptor + "  ok\n");
    assertThat(out).as("every wait has a deadline").doesNotContain("note");
    typed(ExitCode.OK, "kernel", "disasm", folder.resolve("mine.ptx").toString());
    assertThat(out).contains("; mine.cu:").contains("polling loop");
    typed(ExitCode.OK, "validate", experiment, descriptor);
    typed(ExitCode.OK, "list", "kernels", "--kernels", folder.toString());
    assertThat(out).contains("mine ");
    typed(ExitCode.OK, "describe", "mine", "--kernels", folder.toString());
    assertThat(out).contains("measures  " + metric).contains("mine.kernel.yaml");

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
    assertThat(out).contains(" points verified").contains("0 failed").contains(metric + ".svg");
    Path run;
    try (Stream<Path> made = Files.list(runs)) {
      run = made.findFirst().orElseThrow();
    }
    assertThat(run.resolve("kernels/mine/mine.ptx"))
        .hasSameTextualContentAs(folder.resolve("mine.ptx"));
    typed(ExitCode.OK, "plot", run.toString());
    assertThat(run.resolve("figures/" + metric + ".svg")).isNotEmptyFile();

    typed(
        ExitCode.OK, "explore", descriptor, "--seeds", "2", "--iterations", "3", "--budget", "30s");
    assertThat(out).contains("CLEAN");
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
    assertThat(err)
        .contains("unknown kernel 'mine'")
        .contains("mine.kernel.yaml:11:11  DB-C012  unknown measures 'latncy'")
        .contains("did you mean 'latency'");

    Files.writeString(descriptor, good.replace("[queue_pairs, job]", "[queue_pairs, job, bytes]"));
    typed(ExitCode.CONFIG, "run", experiment, "--dry-run");
    assertThat(err).contains("mine.kernel.yaml:8:13  DB-K012  entry mine takes 2 parameters");
    typed(ExitCode.CONFIG, "kernel", "check", descriptor.toString());

    Files.writeString(descriptor, good);
    typed(ExitCode.CONFIG, "run", experiment, "--dry-run", "-s", "path=push.memic");
    assertThat(err).contains("DB-P018  kernel mine does not take the path push.memic");
    typed(ExitCode.CONFIG, "run", experiment, "--dry-run", "-s", "metrics=goodput");

    Files.delete(folder.resolve("mine.ptx"));
    typed(ExitCode.CONFIG, "validate", descriptor.toString());
    assertThat(out).contains("DB-K014").contains("doorbell kernel build");
  }
}
