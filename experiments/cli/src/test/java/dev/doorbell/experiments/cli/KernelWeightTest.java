package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code kernels/weight}: what ptxas says of a kernel that carries the device library. */
class KernelWeightTest {
  // Columns of a row's numbers.
  private static final int REGISTERS = 0;
  private static final int SPILLED = 1;
  private static final int CODE = 5;

  /** The targets of docs/performance.md, for as many values as most kernels have. */
  @Tag("slow")
  @Test
  void the_short_path_costs_four_registers_and_no_spills() throws Exception {
    assumeThat(onPath("nvcc") && onPath("ptxas") && onPath("readelf"))
        .as("nvcc, ptxas and readelf are on PATH; install the CUDA toolkit 13.0")
        .isTrue();
    Process weight =
        new ProcessBuilder("bash", "../kernels/weight", "sm_90", "32")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String printed = new String(weight.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(weight.waitFor()).isZero();
    for (String caller : new String[] {"compute", "streaming"}) {
      Map<String, int[]> rows =
          printed
              .lines()
              .filter(line -> line.startsWith(caller + " "))
              .map(line -> line.trim().split("\\s+"))
              .collect(
                  Collectors.toMap(
                      words -> words[2],
                      words -> Arrays.stream(words, 3, 9).mapToInt(Integer::parseInt).toArray()));
      assertThat(rows).containsOnlyKeys("none", "inlined", "apart", "light", "bound", "poster");
      int[] none = row(rows, "none");
      int[] bound = row(rows, "bound");
      int[] inlined = row(rows, "inlined");
      assertThat(bound[REGISTERS]).isBetween(none[REGISTERS], none[REGISTERS] + 4);
      assertThat(bound[SPILLED]).isZero();
      assertThat(row(rows, "light")[REGISTERS]).isBetween(none[REGISTERS], none[REGISTERS] + 16);
      assertThat(row(rows, "poster")[REGISTERS]).isBetween(none[REGISTERS], none[REGISTERS] + 32);
      assertThat(inlined[REGISTERS]).isGreaterThan(none[REGISTERS] + 64);
      assertThat(bound[CODE]).isLessThan(inlined[CODE] / 4);
    }
  }

  private static int[] row(Map<String, int[]> rows, String library) {
    return Objects.requireNonNull(rows.get(library));
  }

  private static boolean onPath(String tool) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, tool)));
  }
}
