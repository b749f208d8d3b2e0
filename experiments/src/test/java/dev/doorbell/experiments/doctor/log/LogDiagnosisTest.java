package dev.doorbell.experiments.doctor.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.doctor.Doctor;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LogDiagnosisTest {
  /** A line and the code that it must get; {@code -} for none. */
  static List<String> examples() throws IOException {
    try (InputStream in = LogDiagnosisTest.class.getResourceAsStream("lines.txt")) {
      String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      return text.lines().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("examples")
  void a_line_of_the_kind_that_people_report_is_recognised(String example) {
    String code = example.substring(0, example.indexOf(' '));
    LogDiagnosis diagnosis = LogDiagnosis.of(example.substring(code.length() + 1));
    assertThat(diagnosis.matches().stream().map(match -> match.pattern().code()))
        .isEqualTo(code.equals("-") ? List.of() : List.of(code));
  }

  @Test
  void every_pattern_has_an_example() throws IOException {
    Set<String> shown =
        examples().stream().map(line -> line.split(" ", 2)[0]).collect(Collectors.toSet());
    assertThat(shown).containsAll(LogDiagnosis.patterns().stream().map(LogPattern::code).toList());
    assertThat(LogDiagnosis.patterns()).hasSizeGreaterThanOrEqualTo(30);
  }

  @Test
  void patterns_have_codes_of_their_own_and_point_to_checks_that_exist() {
    assertThat(LogDiagnosis.patterns()).extracting(LogPattern::code).doesNotHaveDuplicates();
    for (LogPattern pattern : LogDiagnosis.patterns()) {
      assertThat(pattern.sources()).as(pattern.code()).isNotEmpty();
      assertThat(pattern.meaning()).as(pattern.code()).endsWith(".");
      for (String check : pattern.checks()) {
        assertThat(Doctor.code(check)).as("%s of %s", check, pattern.code()).isPresent();
      }
    }
  }

  @Test
  void a_log_is_summed_up_in_the_order_in_which_things_happened() {
    LogDiagnosis diagnosis =
        LogDiagnosis.of(
            """
            training starts
            a [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'
            a [1] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 1 'mlx5_1'
            a [0] NCCL WARN NET/IB : Got completion from peer b with status=12 opcode=0 len=0
            """);
    assertThat(diagnosis.text())
        .startsWith(
            """
            DB-LOG-01  NCCL  line 2 and 1 more
              | a [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'
              means   NCCL found none""")
        .contains("DB-LOG-10  NCCL  line 4\n")
        .endsWith("3 of 4 lines recognised, 2 kinds\n");
  }

  @Test
  void a_line_without_end_is_shown_shortened() {
    String line = "NCCL INFO Using network Socket" + "x".repeat(10_000);
    assertThat(LogDiagnosis.of(line).text().lines().mapToInt(String::length).max())
        .matches(longest -> longest.getAsInt() < 200, "shorter than 200");
  }
}
