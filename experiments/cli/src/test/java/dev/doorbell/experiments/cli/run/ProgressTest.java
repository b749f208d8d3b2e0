package dev.doorbell.experiments.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.Terminal;
import dev.doorbell.experiments.config.Configs;
import dev.doorbell.experiments.plan.Plan;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.run.RunIndex;
import dev.doorbell.experiments.run.Runs;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The line that shows how far a run is. */
class ProgressTest {
  @TempDir private Path folder;

  /** The line after a run's first points, where its points have long names. */
  private String line(int width) throws Exception {
    String config =
        Configs.SMALL.replace(
            "  size: [64, 4K]", "  placement: [h200nvl-cx7-far, h200-cx7-epyc]\n  size: [64, 4K]");
    RunIndex run =
        RunIndex.read(Runs.make(folder.resolve("" + width), Configs.read(config)).path());
    Plan plan = run.plan();
    List<Point> points = plan.points();
    PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), true);
    Progress progress =
        new Progress(new Terminal(nowhere, nowhere, true, width), points, _ -> 1_000_000);
    progress.recorded(points.getFirst(), run.entries().getFirst(), 1, points.size());
    return progress.line();
  }

  @Test
  void it_never_wraps_whatever_a_point_is_called() throws Exception {
    for (int width : List.of(40, 60, 80)) {
      assertThat(line(width)).hasSizeLessThan(width).contains("1/10", "ETA 00:");
    }
    assertThat(line(60)).doesNotContain("far_64");
    assertThat(line(80)).contains("[###", "pull_h200nvl-cx7-far_64");
    assertThat(line(Terminal.UNLIMITED)).as("its width is unknown").hasSizeLessThan(80);
  }
}
