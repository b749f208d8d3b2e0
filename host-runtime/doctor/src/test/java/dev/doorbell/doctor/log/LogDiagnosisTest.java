package dev.doorbell.doctor.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.mlx5.generated.StatusTable;
import dev.doorbell.core.mlx5.generated.VendorTable;
import dev.doorbell.doctor.catalogue.Code;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LogDiagnosisTest {
  @ParameterizedTest
  @MethodSource("dev.doorbell.doctor.log.LogPattern#all")
  void every_example_of_a_pattern_is_recognised_as_that_pattern(LogPattern pattern) {
    for (String line : pattern.examples()) {
      assertThat(LogPattern.matching(line).map(LogPattern::code)).as(line).contains(pattern.code());
    }
    for (String line : pattern.not()) {
      assertThat(LogPattern.matching(line).map(LogPattern::code))
          .as("look-alike of %s: %s", pattern.code(), line)
          .isNotEqualTo(Optional.of(pattern.code()));
    }
  }

  @ParameterizedTest
  @MethodSource("others")
  void a_line_without_a_problem_is_not_recognised(String line) {
    assertThat(LogPattern.matching(line)).isEmpty();
  }

  @Test
  void lines_of_public_reports_are_what_they_are() throws IOException {
    for (String entry : resource("pasted.txt")) {
      String[] parts = entry.split("\\|", 2);
      assertThat(LogPattern.matching(parts[1]).map(LogPattern::code))
          .as(parts[1])
          .contains(parts[0]);
    }
  }

  @Test
  void a_status_is_found_however_it_is_written_and_names_its_vendor_code() {
    assertThat(CompletionError.in("work request complete err: status 5 and vendor err 249"))
        .contains(new CompletionError(5, 249));
    assertThat(CompletionError.in("Got completion with error 5, opcode 0, len 0, vendor err 249"))
        .contains(new CompletionError(5, 0xf9));
    assertThat(
            CompletionError.in("Transport retry count exceeded (synd 0x15 vend 0x81 hw_synd 0/0)"))
        .contains(new CompletionError(12, 0x81));
    assertThat(CompletionError.in(" Failed status 12: wr_id 0 syndrom 0x81"))
        .contains(new CompletionError(12, 0x81));
    assertThat(CompletionError.in("ibgda_poll_cq: error: syndrome=21, vendor_err_synd=129"))
        .contains(new CompletionError(12, 0x81));
    assertThat(CompletionError.in("wr 1 ended: status=12 vendor_err=0xa"))
        .contains(new CompletionError(12, 0xa));
    assertThat(CompletionError.in("QP 51291 error: local length error (0x8e 0x0 0x0)"))
        .contains(new CompletionError(1, 0x8e));
    assertThat(CompletionError.in("non-zero status: 4 ibv_poll_cq failed, status: 4"))
        .contains(new CompletionError(4, -1));
    assertThat(CompletionError.in("poll status=12, all well")).isEmpty();
    assertThat(CompletionError.in("wc status: IBV_WC_SUCCESS")).isEmpty();
    assertThat(new CompletionError(12, 0x81).text())
        .startsWith("IBV_WC_RETRY_EXC_ERR(12), vendor 0x81: no acknowledgement");
  }

  @Test
  void each_row_of_the_table_of_errors_has_a_source_and_is_not_taken_for_another() {
    for (int status = 1; status < StatusTable.NUMBER; status++) {
      String line = "got completion with status=%d vendor err 0".formatted(status);
      assertThat(CompletionError.in(line)).as(line).contains(new CompletionError(status, 0));
      assertThat(StatusTable.sources(status)).as(line).matches("\\S+[:#]\\S+( \\S+[:#]\\S+)*");
      String other = "got completion with status=%d vendor err %d".formatted(status + 40, status);
      assertThat(CompletionError.in(other)).as(other).isEmpty();
    }
    int vendors = 0;
    for (int code = 0; code <= 0xff; code++) {
      String name = VendorTable.status(code);
      if (!name.isEmpty()) {
        vendors++;
        int status = CompletionError.byName(name);
        assertThat(VendorTable.sources(code)).as(name).matches("\\S+[:#]\\S+( \\S+[:#]\\S+)*");
        assertThat(new CompletionError(status, code).text()).endsWith(VendorTable.meaning(code));
        assertThat(new CompletionError(status % 22 + 1, code).text())
            .contains(
                code == VendorTable.INJECTED ? "a fault plan asked for it" : "another meaning");
      }
    }
    assertThat(vendors).isEqualTo(14 + 15);
  }

  static List<String> others() throws IOException {
    return resource("lines.txt");
  }

  private static List<String> resource(String name) throws IOException {
    try (InputStream in = LogDiagnosisTest.class.getResourceAsStream(name)) {
      String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      return text.lines().toList();
    }
  }

  @Test
  void the_list_of_patterns_is_complete() {
    assertThat(LogPattern.all()).hasSizeGreaterThanOrEqualTo(200);
    assertThat(LogPattern.all())
        .extracting(LogPattern::library)
        .contains("NCCL", "RCCL", "NVSHMEM", "UCX", "libfabric", "UCCL", "DeepEP", "nixl")
        .contains("Mooncake", "perftest", "mlx5_core", "GPU", "IOMMU", "PCIe", "verbs");
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
        .contains("DB-LOG-10  verbs  line 4\n")
        .endsWith("3 of 4 lines recognised, 2 kinds\n");
  }

  @ParameterizedTest
  @MethodSource("dev.doorbell.doctor.log.LogPattern#all")
  void a_line_of_twice_the_length_takes_a_pattern_at_most_four_times_the_steps(LogPattern pattern) {
    if (pattern.pattern() == null) {
      return;
    }
    List<String> pieces = new ArrayList<>(List.of(" ", "a", "a ", "9.", "a:"));
    pieces.addAll(List.of(pattern.looksFor().split("[^A-Za-z0-9 _:]+", -1)));
    pieces.removeIf(String::isEmpty);
    for (String piece : pieces) {
      long once = steps(pattern.pattern(), piece, 160);
      assertThat(steps(pattern.pattern(), piece, 320))
          .as("'%s' again and again", piece)
          .isLessThan(6 * (once + 10_000));
    }
  }

  /** Returns how many characters a search of a pattern reads in a line of repetitions. */
  private static long steps(Pattern pattern, String piece, int length) {
    LongAdder steps = new LongAdder();
    record Counted(String text, LongAdder steps) implements CharSequence {
      @Override
      public int length() {
        return text.length();
      }

      @Override
      public char charAt(int index) {
        steps.increment();
        return text.charAt(index);
      }

      @Override
      public CharSequence subSequence(int start, int end) {
        return new Counted(text.substring(start, end), steps);
      }
    }
    String line = piece.repeat(length / piece.length() + 1).substring(0, length);
    boolean _ = pattern.matcher(new Counted(line, steps)).find();
    return steps.sum();
  }

  @Test
  void a_line_without_end_is_shown_shortened() {
    String line = "NCCL INFO Using network Socket" + "x".repeat(10_000);
    assertThat(LogDiagnosis.of(line).text().lines().mapToInt(String::length).max())
        .matches(longest -> longest.getAsInt() < 200, "shorter than 200");
  }
}
