package dev.doorbell.experiments.config.formula;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Values of formulas, and what is said of texts that are none. */
class FormulaTest {
  private static final Formula.Names NAMES =
      new Formula.Names(List.of("size", "ranks", "rank", "i"), List.of("input"));

  /** Number k of rank r is 10 r + k, of four numbers at each of three ranks. */
  private static final class Input implements Frame.Array {
    @Override
    public long whole(long rank, long index) {
      if (rank >= 3 || index >= 4) {
        throw new IndexOutOfBoundsException("input has no number " + index);
      }
      return 10 * rank + index;
    }

    @Override
    public double real(long rank, long index) {
      return whole(rank, index) + 0.5;
    }
  }

  private static Frame frame() {
    Frame frame = new Frame(NAMES, 7);
    frame.add(new Input());
    return frame.set("size", 64).set("ranks", 3).set("rank", 1).set("i", 2);
  }

  private static String why(String text) {
    return catchThrowableOfType(
            FormulaException.class, () -> Formula.parse(text, NAMES).whole(frame()))
        .why();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "size / 4 * ranks; 48",
        "2 + 3 * 4 - 1; 13",
        "(2 + 3) * 4; 20",
        "10 - 4 - 3; 3",
        "1 << 2 + 1; 8",
        "7 & 3 ^ 1 | 8; 10",
        "rank == 1 && i < 2 || !0; 1",
        "i >= 2 ? size : 4K; 64",
        "rank > 1 ? 1 : i > 1 ? 2 : 3; 2",
        "-i + ~0; -3",
        "min(size, max(ranks, 5)) - abs(0 - 2); 3",
        "input(2, i); 22",
        "sum(p, ranks, input(p, i)); 36",
        "sum(p, ranks, sum(q, p, q + 1)); 4",
        "maximum(p, ranks, input(p, 0)) - minimum(p, ranks, input(p, 0)); 20",
        "product(k, 5, k + 1); 120",
        "sum(k, 0, 1); 0",
        "1G / 1M; 1024"
      })
  void a_formula_has_the_value_that_c_gives_it(String text, long value) throws FormulaException {
    assertThat(Formula.parse(text, NAMES).whole(frame())).isEqualTo(value);
  }

  @Test
  void decimal_numbers_are_divided_without_a_rest_and_indices_stay_whole() throws FormulaException {
    assertThat(Formula.parse("i / 4 + 0.25", NAMES).real(frame())).isEqualTo(0.75);
    assertThat(Formula.parse("sum(p, ranks, input(p, i / 2))", NAMES).real(frame()))
        .isEqualTo(1.5 + 11.5 + 21.5);
  }

  @Test
  void random_numbers_depend_on_seed_rank_and_argument_alone() throws FormulaException {
    Formula random = Formula.parse("random(i)", NAMES);
    long first = random.whole(frame());
    assertThat(first).isBetween(0L, (1L << 31) - 1).isEqualTo(random.whole(frame()));
    assertThat(random.whole(frame().set("i", 3))).isNotEqualTo(first);
    assertThat(random.whole(frame().set("rank", 2))).isNotEqualTo(first);
    assertThat(random.whole(new Frame(NAMES, 8).set("rank", 1).set("i", 2))).isNotEqualTo(first);
  }

  @Test
  void what_is_no_formula_is_told_with_its_place_and_the_nearest_name() {
    assertThat(why("size *")).isEqualTo("'size *' ends too early");
    assertThat(why("size ranks")).isEqualTo("'size ranks' makes no sense from 'ranks'");
    assertThat(why("rnks + 1")).contains("'rnks' names no number").contains("'ranks'");
    assertThat(why("inptu(0, 1)")).contains("no function or buffer").contains("'input'");
    assertThat(why("input(1)")).contains("2 arguments, a rank and an index");
    assertThat(why("size / (i - 2)")).contains("has no value");
    assertThat(why("input(0, 9)")).contains("input has no number 9");
    assertThat(why("1x")).contains("is no number");
    assertThat(why("(".repeat(80) + "1")).contains("levels of brackets");
    assertThat(why("-".repeat(80) + "1")).contains("operators in a row");
  }
}
