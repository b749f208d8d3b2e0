package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.ptxvm.listing.FunctionListing;
import dev.doorbell.ptxvm.listing.UnwrittenReads;
import dev.doorbell.ptxvm.parser.PtxParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Registers that are read before anything has written them are told, and no others. */
class UnwrittenReadsTest {
  /** Findings of a body whose lines count from 1, {@code register@line}. */
  private static List<String> findings(String body) {
    String ptx =
        World.ptx(
            """
            .visible .entry k(.param .u64 cell) {
              .reg .pred %%p<4>; .reg .b32 %%r<6>; .reg .b64 %%rd<4>;
            %s}
            """
                .formatted(body));
    int before = (int) ptx.substring(0, ptx.indexOf(body)).lines().count();
    return reads(ptx).stream()
        .map(read -> "%s@%d".formatted(read.register().name(), read.instruction().line() - before))
        .toList();
  }

  private static List<UnwrittenReads.Finding> reads(String ptx) {
    PtxParser.Result parsed = PtxParser.parse("k.ptx", ptx);
    assertThat(parsed.refusals()).isEmpty();
    return FunctionListing.of(parsed.module()).stream()
        .flatMap(listing -> UnwrittenReads.of(listing).stream())
        .toList();
  }

  @Test
  void a_register_that_nothing_writes_is_told_at_its_first_read() {
    assertThat(
            findings(
                """
                mov.u32 %r1, 1;
                add.u32 %r2, %r1, %r3;
                add.u32 %r2, %r2, %r3;
                ret;
                """))
        .containsExactly("%r3@2");
  }

  @Test
  void one_that_is_written_later_alone_is_told_too() {
    assertThat(
            findings(
                """
                mov.u32 %r1, %r2;
                mov.u32 %r2, 1;
                ret;
                """))
        .containsExactly("%r2@1");
  }

  @Test
  void a_loop_is_taken_to_run() {
    assertThat(
            findings(
                """
                mov.u32 %r1, %tid.x;
                again:
                setp.eq.u32 %p1, %r1, 0;
                @%p1 bra done;
                mov.u32 %r2, %r1;
                sub.u32 %r1, %r1, 1;
                bra again;
                done:
                mov.u32 %r3, %r2;
                ret;
                """))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "@%p1 mov.u32 %r2, %r1;\n@%p1 add.u32 %r3, %r2, 1;\nret;\n",
        "@%p1 mov.u32 %r2, %r1;\n@!%p1 mov.u32 %r2, 4;\nadd.u32 %r3, %r2, 1;\nret;\n",
        "@%p1 mov.u32 %r2, %r1;\n@!%p1 ret;\nadd.u32 %r3, %r2, 1;\nret;\n",
        "@!%p1 bra over;\nmov.u32 %r2, 3;\nover:\n@%p1 add.u32 %r3, %r2, 1;\nret;\n",
        "@!%p1 bra over;\nmov.u32 %r2, 3;\nover:\n@!%p1 bra end;\nadd.u32 %r3, %r2, 1;\nend:\nret;\n",
        "@%p1 mov.u32 %r2, 3;\n@%p1 bra use;\nret;\nuse:\nadd.u32 %r3, %r2, 1;\nret;\n",
        "@%p1 mov.u32 %r2, 3;\nselp.u32 %r3, %r2, 5, %p1;\nret;\n",
        "@!%p1 mov.u32 %r2, 3;\nselp.u32 %r3, 5, %r2, %p1;\nret;\n",
        "@%p1 ld.global.v2.u32 {%r2, %r3}, [%rd1];\n@%p1 add.u32 %r4, %r2, %r3;\nret;\n"
      })
  void what_a_guard_wrote_may_be_written(String body) {
    assertThat(findings(PREDICATE + body)).isEmpty();
  }

  private static final String PREDICATE =
      "mov.u32 %r1, %tid.x;\nld.param.u64 %rd1, [cell];\nsetp.eq.u32 %p1, %r1, 0;\n";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "@%p1 bra over;\nmov.u32 %r2, 3;\nover:\nmov.u32 %r3, %r2;\nret;\n",
        "{ .param .b32 in; st.param.b32 [in], %r2; }\nret;\n"
      })
  void what_one_way_writes_or_a_call_is_given_is_not_told(String body) {
    assertThat(findings(PREDICATE + body)).isEmpty();
  }

  @Test
  void a_function_starts_with_no_register_written() {
    assertThat(
            reads(
                World.ptx(
                    """
                    .func (.param .b32 result) f(.param .b32 a) {
                      .reg .b32 %r<3>;
                      ld.param.u32 %r0, [a];
                      add.u32 %r0, %r0, %r1;
                      st.param.b32 [result], %r0;
                      ret;
                    }
                    .visible .entry k() { .reg .b32 %r<3>; mov.u32 %r1, 5; ret; }
                    """)))
        .singleElement()
        .satisfies(read -> assertThat(read.register().name()).isEqualTo("%r1"));
  }

  @Test
  void code_that_control_never_comes_to_reads_nothing() {
    assertThat(findings("bra end;\nadd.u32 %r1, %r2, %r3;\nend:\nret;\n")).isEmpty();
  }

  @Test
  void a_prmt_that_picks_no_byte_of_its_second_source_does_not_read_it() {
    String load = "ld.param.u32 %r1, [cell];\n";
    assertThat(findings(load + "prmt.b32 %r2, %r1, %r3, 0x0123;\n")).isEmpty();
    assertThat(findings(load + "prmt.b32 %r2, %r1, %r3, 0x4123;\n")).containsExactly("%r3@2");
    assertThat(findings(load + "prmt.b32 %r2, %r3, %r1, 0x0123;\n")).containsExactly("%r3@2");
    assertThat(findings(load + "prmt.b32.f4e %r2, %r1, %r3, 0x0;\n")).containsExactly("%r3@2");
  }

  @Test
  void a_prmt_whose_picks_stand_in_a_register_ignores_the_source_that_no_constant_there_picks() {
    String load = "ld.param.u32 %r1, [cell];\n";
    assertThat(findings(load + "mov.b32 %r4, 0x0123;\nprmt.b32 %r2, %r1, %r3, %r4;\n")).isEmpty();
    assertThat(findings(load + "mov.b32 %r4, 0x7654;\nprmt.b32 %r2, %r3, %r1, %r4;\n")).isEmpty();
    assertThat(findings(load + "and.b32 %r4, %r1, 0x3333;\nprmt.b32 %r2, %r1, %r3, %r4;\n"))
        .isEmpty();
    assertThat(findings(load + "mov.b32 %r4, 0x4123;\nprmt.b32 %r2, %r1, %r3, %r4;\n"))
        .containsExactly("%r3@3");
    assertThat(findings(load + "and.b32 %r4, %r1, 0x7777;\nprmt.b32 %r2, %r1, %r3, %r4;\n"))
        .containsExactly("%r3@3");
    assertThat(findings(load + "prmt.b32 %r2, %r1, %r3, %r1;\n")).containsExactly("%r3@2");
  }

  static Stream<Path> compiled() throws IOException {
    Path resources = Path.of("src/test/resources");
    try (Stream<Path> files = Files.walk(resources)) {
      return files.filter(file -> file.toString().endsWith(".ptx")).sorted().toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("compiled")
  void what_compilers_and_hands_made_for_tests_reads_nothing_unwritten(Path file)
      throws IOException {
    assertThat(reads(Files.readString(file))).isEmpty();
  }

  static List<LongFunction<String>> generators() {
    return List.of(RandomProgram::of, DivergentProgram::of, LoadingProgram::of);
  }

  @ParameterizedTest
  @MethodSource("generators")
  void random_programs_write_every_register_before_they_read_it(LongFunction<String> generator) {
    for (long seed = 1; seed <= 200; seed++) {
      String ptx = World.ptx(generator.apply(seed));
      assertThat(reads(ptx)).as("seed %d:%n%s", seed, ptx).isEmpty();
    }
  }
}
