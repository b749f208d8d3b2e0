package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code doorbell kernel weight}: what ptxas says of a kernel that carries the device library. */
class KernelWeightTest {
  private static final String HOME = "doorbell.home";

  // Columns of a row's numbers.
  private static final int REGISTERS = 0;
  private static final int SPILLED = 1;
  private static final int CODE = 5;

  private final Session session = new Session();
  private String before = "";

  @BeforeEach
  void set_home() {
    before = System.getProperty(HOME, ".");
    System.setProperty(HOME, Path.of("..").toAbsolutePath().normalize().toString());
  }

  @AfterEach
  void restore_home() {
    System.setProperty(HOME, before);
  }

  @ParameterizedTest
  @CsvSource({"--arch, compute_90", "--measure, -1", "300, 8", "0, 8"})
  void what_no_compiler_takes_is_refused(String first, String second) {
    assertThat(session.type("kernel", "weight", first, second)).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-U003");
  }

  @Test
  void a_home_without_sources_is_named(@TempDir Path empty) {
    System.setProperty(HOME, empty.toString());
    assertThat(session.type("kernel", "weight")).isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(session.err()).contains("DB-K010").contains("kernels/weight");
  }

  /** The targets of docs/performance.md, for as many values as most kernels have. */
  @Tag("slow")
  @Test
  void the_short_path_costs_four_registers_and_no_spills() {
    assumeThat(onPath("nvcc") && onPath("ptxas") && onPath("readelf"))
        .as("nvcc, ptxas and readelf are on PATH; install the CUDA toolkit 13.0")
        .isTrue();
    assertThat(session.type("kernel", "weight", "32")).as(session::err).isEqualTo(ExitCode.OK);
    for (String caller : new String[] {"compute", "streaming"}) {
      Map<String, int[]> rows =
          session
              .out()
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
