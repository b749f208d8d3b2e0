package dev.doorbell.doctor.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.doctor.catalogue.Code;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LogDiagnosisTest {
  @ParameterizedTest
  @MethodSource("dev.doorbell.doctor.log.LogPattern#all")
  void every_example_of_a_pattern_is_recognised_as_that_pattern(LogPattern pattern) {
    for (String line : pattern.examples()) {
      assertThat(LogPattern.matching(line)).as(line).contains(pattern);
    }
  }

  @ParameterizedTest
  @MethodSource("others")
  void a_line_without_a_problem_is_not_recognised(String line) {
    assertThat(LogPattern.matching(line)).isEmpty();
  }

  static List<String> others() throws IOException {
    try (InputStream in = LogDiagnosisTest.class.getResourceAsStream("lines.txt")) {
      String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      return text.lines().toList();
    }
  }

  @Test
  void the_list_of_patterns_is_complete() {
    assertThat(LogPattern.all()).hasSizeGreaterThanOrEqualTo(30);
    assertThat(LogPattern.all())
        .extracting(LogPattern::library)
        .containsOnly("NCCL", "NVSHMEM", "UCX");
  }

  @Test
  void patterns_have_codes_of_their_own_and_point_to_checks_that_exist() {
    assertThat(LogPattern.all()).extracting(LogPattern::code).doesNotHaveDuplicates();
    for (LogPattern pattern : LogPattern.all()) {
      assertThat(pattern.sources()).as(pattern.code()).isNotEmpty();
      assertThat(pattern.meaning()).as(pattern.code()).endsWith(".");
      for (String check : pattern.checks()) {
        assertThat(Code.find(check)).as("%s of %s", check, pattern.code()).isPresent();
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
              means   NCCL found none\
            """)
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
