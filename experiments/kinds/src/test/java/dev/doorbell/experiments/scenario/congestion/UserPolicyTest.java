package dev.doorbell.experiments.scenario.congestion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.config.ConfigReader;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.PointBench;
import dev.doorbell.experiments.scenario.SessionRuntime;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The congestion control that docs/congestion.md shows compiles, is found and has its effect. */
class UserPolicyTest {
  private static final Path PAGE = Path.of("../docs/congestion.md");
  private static final Pattern SOURCE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

  @TempDir private Path folder;

  private static Point point(String control) throws Exception {
    String config =
        """
        experiment: e
        question: q?
        kernel: put_bandwidth
        axes: { size: [64K] }
        fixed: { traffic: incast, network: switch, switch: ecn, ranks: 4, port_gbps: 40, cc: %s,
          messages: 16, window: 8, mark: 16K, placement: same-switch }
        measure: { metrics: [flow, marked], warmup: 0, samples: 1 }
        """
            .formatted(control);
    return Plan.of(new ConfigReader(Vocabulary.anything()).read("e.yaml", config, List.of()))
        .points()
        .getFirst();
  }

  private static PointResult run(String control) throws Exception {
    SessionRuntime runtime = new SessionRuntime();
    Point point = point(control);
    assertThat(runtime.check(point)).isEmpty();
    return runtime
        .runner(runtime.choose(new Environment.Request("auto", "auto", "virtual")))
        .run(point, new PointBench());
  }

  private void name(String classes) throws IOException {
    Path services = Files.createDirectories(folder.resolve("META-INF/services"));
    Files.writeString(services.resolve("dev.doorbell.softhca.congestion.UserPolicy"), classes);
  }

  private static double marked(PointResult result) {
    return Objects.requireNonNull(result.counters().get("marked")).value();
  }

  @Test
  void the_pages_example_compiles_and_halves_its_rate_when_packets_are_marked() throws Exception {
    Matcher source = SOURCE.matcher(Files.readString(PAGE));
    assertThat(source.find()).isTrue();
    String text = source.group(1);
    assertThat(text.lines().count()).isLessThanOrEqualTo(30);
    Path file = Files.writeString(folder.resolve("Halving.java"), text);
    int code =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, "-Xlint:all", "-Werror", "-d", folder.toString(), "" + file);
    assertThat(code).isZero();
    name("Halving\n");
    PointResult free = run("none");
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
      thread.setContextClassLoader(loader);
      PointResult halved = run("user");
      assertThat(halved.verifiedBytes()).isEqualTo(free.verifiedBytes()).isPositive();
      assertThat(marked(halved)).isPositive().isLessThan(0.75 * marked(free));
      assertThat(halved.notes()).anyMatch(note -> note.contains("halving (Halving)"));
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Test
  void a_policy_that_is_not_there_is_refused_by_name() throws Exception {
    name("no.such.Policy\n");
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, before)) {
      thread.setContextClassLoader(loader);
      assertThat(new SessionRuntime().check(point("user")).toString())
          .contains("a policy that cannot be loaded", "no.such.Policy", "DOORBELL_CLASSPATH");
    } finally {
      thread.setContextClassLoader(before);
    }
  }
}
