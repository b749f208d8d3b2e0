package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code kernel table} over stand-ins for other libraries. */
class KernelTableTest {
  private static final String STAND_IN = "stand_in_gpunetio";

  @TempDir private Path folder;
  private final RealSession session = new RealSession();

  private ExitCode table(String... words) throws IOException {
    Path from =
        Path.of(
            "lab/src/test/resources/dev/doorbell/experiments/scenario/foreign/gpunetio",
            STAND_IN + ".kernel.yaml");
    for (String ending : List.of(".kernel.yaml", ".ptx")) {
      if (!Files.exists(folder.resolve(STAND_IN + ending))) {
        Files.copy(from.resolveSibling(STAND_IN + ending), folder.resolve(STAND_IN + ending));
      }
    }
    String[] all = new String[words.length + 7];
    List.of("kernel", "table", folder.toString(), "--runs", "2", "--seeds", "2").toArray(all);
    System.arraycopy(words, 0, all, 7, words.length);
    return session.type(all);
  }

  @Test
  void a_kernel_that_is_right_has_a_row_of_numbers() throws Exception {
    assertThat(table()).as(session.out() + session.err()).isEqualTo(ExitCode.OK);
    assertThat(session.out()).startsWith("gpunetio 9.8.7" + System.lineSeparator());
    assertThat(session.out().lines().map(String::length)).allMatch(length -> length <= 80);
    assertThat(session.out().lines().toList().getLast())
        .matches(STAND_IN + " +sender, 1x1 +2/2 +0 in 0/2 +[1-9]\\d+ +[1-9]\\d* +- +[1-9]\\S*");
  }

  @Test
  void a_kernel_that_sends_too_little_says_so_below_the_table() throws Exception {
    table();
    Path ptx = folder.resolve(STAND_IN + ".ptx");
    String text = Files.readString(ptx);
    String wrong =
        text.replaceFirst(
            "ld\\.param\\.u32 \t(%r\\d+), \\[stand_in_gpunetio_param_5\\];",
            "$0\n\tshr.u32 $1, $1, 1;");
    assertThat(wrong).isNotEqualTo(text);
    Files.writeString(ptx, wrong);
    assertThat(table("--fmt", "md")).isEqualTo(ExitCode.FAILED);
    assertThat(session.out())
        .contains("| gpunetio 9.8.7 | `" + STAND_IN + "` | sender, 1x1 | 0/2 |");
    assertThat(session.out()).contains(STAND_IN + ": run 0: ");
  }
}
