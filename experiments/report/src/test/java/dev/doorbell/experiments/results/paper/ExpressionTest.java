package dev.doorbell.experiments.results.paper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import java.util.List;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExpressionTest {
  /** Functions add their arguments; a selection is the length of what was selected. */
  private static final Formula.Lookup NAMES =
      new Formula.Lookup() {
        @Override
        public double call(String function, List<Double> arguments) {
          return arguments.stream().mapToDouble(Double::doubleValue).sum();
        }

        @Override
        public double select(String name, SequencedMap<String, String> settings) {
          return settings.toString().length();
        }
      };

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "2 + 3 * (4 - 1) / 2; 6.5",
        "1 - 2 - 3; -4",
        "min(3, 2) + max(3, 2); 5",
        "points < 3 ? 1 : 2; 1",
        "-2 * -(3); 6",
        "8 / 4 / 2; 1",
        "f(1, 2 * 3, 4); 11",
        "f(); 0",
        "1.5e0 + .5; 2",
        "m{a=x-y, b=4K} / 2; 6.5",
        "points.verified; 2"
      })
  void expressions_have_the_value_that_arithmetic_gives_them(String text, double value)
      throws FormulaException {
    assertThat(Formula.value(text, NAMES)).isCloseTo(value, within(1e-12));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1 +", "(1", "1 2", "f(1", "m{a}", "m{a=1", "1..2", "* 3", "f(1,)"})
  void nonsense_is_refused(String text) {
    assertThatThrownBy(() -> Formula.value(text, NAMES)).isInstanceOf(FormulaException.class);
  }

  @Test
  void functions_check_what_they_are_given() {
    ModelNames model = new ModelNames();
    assertThatThrownBy(() -> Formula.value("little(1, 2)", model))
        .hasMessage("little takes 3 numbers, not 2");
    assertThatThrownBy(() -> Formula.value("inline_bytes(1.5)", model))
        .hasMessageContaining("whole numbers");
    assertThatThrownBy(() -> Formula.value("magic(1)", model)).hasMessageContaining("magic");
    assertThatThrownBy(() -> Formula.value("latency{size=8}", model))
        .hasMessageContaining("asks for a run");
  }
}
