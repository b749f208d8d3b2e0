package dev.doorbell.experiments.config.formula;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import java.util.List;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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

  /** Operators around equal operands and their neighbours, in whole numbers and in decimal ones. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "2 == 2; 1",
        "2 == 3; 0",
        "2 != 2; 0",
        "2 != 3; 1",
        "2 < 2; 0",
        "1 < 2; 1",
        "2 < 1; 0",
        "2 <= 2; 1",
        "3 <= 2; 0",
        "2 <= 3; 1",
        "2 > 2; 0",
        "2 > 1; 1",
        "1 > 2; 0",
        "2 >= 2; 1",
        "1 >= 2; 0",
        "3 >= 2; 1",
        "0 || 0; 0",
        "0 || 3; 1",
        "3 || 0; 1",
        "3 || 3; 1",
        "0 && 0; 0",
        "0 && 3; 0",
        "3 && 0; 0",
        "3 && 3; 1",
        "6 | 3; 7",
        "6 ^ 3; 5",
        "6 & 3; 2",
        "~6; -7",
        "!0; 1",
        "!6; 0",
        "3 << 2; 12",
        "13 >> 2; 3",
        "7 - 3; 4",
        "7 + 3; 10",
        "7 * 3; 21",
        "6 / 3; 2",
        "7 % 4; 3",
        "min(3, 2); 2",
        "max(3, 2); 3",
        "abs(0 - 4); 4",
        "abs(4); 4",
        "-4; -4",
        "--4; 4",
        "0 ? 5 : 6; 6",
        "1 ? 5 : 6; 5",
        "sum(k, 4, k); 6",
        "sum(k, 4, 2); 8"
      })
  void operators_are_those_of_c_for_whole_and_for_decimal_numbers(String text, long value)
      throws FormulaException {
    assertThat(Formula.parse(text, NAMES).whole(frame())).isEqualTo(value);
    assertThat(Formula.parse(text, NAMES).real(frame())).isEqualTo((double) value);
    assertThat(Formula.parse(" " + text.replace(" ", "  ") + " ", NAMES).whole(frame()))
        .isEqualTo(value);
    assertThat(Formula.parse(text, NAMES)).hasToString(text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "2.5 == 2.5; 1",
        "2.5 != 2.5; 0",
        "2.5 < 2.25; 0",
        "2.25 < 2.5; 1",
        "2.5 <= 2.5; 1",
        "2.5 > 2.25; 1",
        "2.5 > 2.5; 0",
        "2.5 >= 2.5; 1",
        "2.5 - 1; 1.5",
        "2.5 * 3; 7.5",
        "5 / 2; 2.5",
        "7.5 % 2; 1.5",
        "-2.5; -2.5",
        "!2.5; 0",
        "!0.5; 0",
        "abs(0 - 2.5); 2.5",
        "min(2.5, 2.25); 2.25",
        "7.9 & 3; 3",
        "0.5 ? 1.5 : 2; 1.5",
        "input(1, 2); 12.5",
        "maximum(p, 3, p / 2); 1",
        "random(2) % 1; 0"
      })
  void decimal_numbers_keep_what_lies_behind_the_point(String text, double value)
      throws FormulaException {
    assertThat(Formula.parse(text, NAMES).real(frame())).isEqualTo(value);
  }

  /** These numbers fill buffers: another one would be another experiment under the same name. */
  @Test
  void random_numbers_are_these() throws FormulaException {
    Formula random = Formula.parse("random(i)", NAMES);
    assertThat(random.whole(frame())).isEqualTo(575_957_452L);
    assertThat(random.whole(frame().set("i", 1000))).isEqualTo(484_778_260L);
    assertThat(random.real(frame())).isEqualTo(575_957_452.0);
  }

  @Test
  void nesting_ends_at_64_levels() throws FormulaException {
    assertThat(Formula.parse("(".repeat(63) + "1" + ")".repeat(63), NAMES).whole(frame())).isOne();
    assertThat(why("(".repeat(64) + "1" + ")".repeat(64))).contains("levels of brackets");
    assertThat(Formula.parse("-".repeat(63) + "1", NAMES).whole(frame())).isEqualTo(-1);
    assertThat(why("-".repeat(64) + "1")).contains("operators in a row");
    // What has ended nests nothing.
    String many = "(1) + -1 + ".repeat(100) + "7";
    assertThat(Formula.parse(many, NAMES).whole(frame())).isEqualTo(7);
  }

  @Test
  void words_of_all_formulas_are_reserved() {
    assertThat(Formula.reserved())
        .containsExactlyInAnyOrder(
            "min", "max", "abs", "random", "sum", "product", "minimum", "maximum");
  }

  @Test
  void functions_count_their_arguments() {
    assertThat(why("min(1)")).contains("min takes 2 arguments");
    assertThat(why("abs(1, 2)")).contains("abs takes 1 argument,");
    assertThat(why("random(1, 2)")).contains("random takes 1 argument,");
    assertThat(why("input()")).contains("makes no sense");
    assertThat(why("sum(3, 4, 5)")).contains("makes no sense from");
    assertThat(why("sum(k; 4, 5)")).contains("makes no sense from '; 4, 5)'");
  }

  /** Functions count their arguments; a selection is its settings. */
  private static final Formula.Lookup LOOKUP =
      new Formula.Lookup() {
        @Override
        public double call(String function, List<Double> arguments) {
          return 100 * function.length() + arguments.stream().mapToDouble(x -> x).sum();
        }

        @Override
        public double select(String name, SequencedMap<String, String> settings) {
          return 1000 * name.length() + settings.toString().length();
        }
      };

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "f(); 100",
        "f( ); 100",
        "f(1, 2 * 3); 107",
        "ff(1); 201",
        "sum(2); 302",
        "abs(2); 302",
        "min(3, 2); 2",
        "max(3, 2); 3",
        "m; 1002",
        "m{a=b}; 1005",
        "m{ a = b , c=d-e }; 1012",
        "m.n{a=4K} / 2; 1503",
        "m < 5 ? 1 : 2; 2",
        "2 - m{a=b}; -1003",
        "1.5e0 + .5; 2"
      })
  void names_of_another_are_looked_up(String text, double value) throws FormulaException {
    assertThat(Formula.value(text, LOOKUP)).isEqualTo(value);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "1 +", "f(1", "f(1,)", "f(,1)", "m{a}", "m{a=}", "m{=b}", "m{a=b", "m{a=b,}"})
  void what_cannot_be_looked_up_is_refused(String text) {
    assertThat(catchThrowableOfType(FormulaException.class, () -> Formula.value(text, LOOKUP)))
        .isNotNull();
  }
}
