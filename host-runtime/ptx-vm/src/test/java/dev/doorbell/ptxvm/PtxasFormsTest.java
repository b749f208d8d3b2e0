package dev.doorbell.ptxvm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.ptxvm.launch.PtxCheck;
import dev.doorbell.ptxvm.parser.PtxParser;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Instructions of one file each, with the answers of ptxas of CUDA 13.0: {@code sm | verdict |
 * instruction}. The first column is the first target for which ptxas accepts it, or {@code no}.
 */
@SuppressWarnings("InlineFormatString") // the file around an instruction is looked at apart from it
class PtxasFormsTest {
  private static final String AROUND =
      """
      .version 9.0
      .target sm_%s
      .address_size 64
      .const .align 16 .b8 c[64];
      .func (.reg .b32 x) fr(.reg .b32 y) { mov.b32 x, y; ret; }
      .visible .entry k() {
      .reg .pred p, q; .reg .b8 b, b1, b2, b3; .reg .b16 h, h1, h2, h3, h4, h5, h6, h7;
      .reg .b32 r, r1, r2, r3, r4, r5, r6, r7, s, s1, s2; .reg .f32 f, f1, f2, f3, f4, f5, f6, f7;
      .reg .b64 d, d1, d2, d3; .reg .u64 a; .reg .f64 g, g1, g2, g3; .reg .b128 w, w1, w2;
      .local .align 16 .b8 l[64];
      T: .branchtargets L;
      L:
      %s
      ret;
      }
      """;

  private record Row(String target, String verdict, String instruction) {
    static Row of(String line) {
      String[] columns = line.split("\\|", 3);
      return new Row(columns[0], columns[1], columns[2]);
    }

    String found() {
      String text = AROUND.formatted(target.equals("no") ? "120a" : target, instruction);
      PtxCheck.Result result = PtxCheck.of(PtxParser.parse("form.ptx", text), 121);
      return !result.refusals().isEmpty() ? "refused" : result.stops().isEmpty() ? "runs" : "stops";
    }
  }

  private static List<Row> rows() {
    return World.text("ptxas-forms.txt").lines().map(Row::of).toList();
  }

  @Test
  void each_form_runs_stops_or_is_refused_as_the_table_says() {
    assertThat(rows())
        .hasSizeGreaterThan(400)
        .allSatisfy(row -> assertThat(row.found()).as(row.instruction).isEqualTo(row.verdict));
  }

  @Test
  void a_form_that_ptxas_accepts_is_never_refused() {
    assertThat(rows())
        .filteredOn(row -> !row.target.equals("no"))
        .noneMatch(row -> row.verdict.equals("refused"));
  }
}
