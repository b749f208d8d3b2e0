package dev.doorbell.experiments.workbench.validation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.workbench.validation.RowConfig.Statistic;
import dev.doorbell.experiments.workbench.validation.RowConfig.Term;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RowConfigTest {
  @Test
  void a_config_is_settings_and_a_metric() throws Exception {
    assertThat(RowConfig.parse("r:1", "kernel=put_rate size=8  batch=16 | rate"))
        .isEqualTo(
            new RowConfig(
                List.of(
                    new Term(
                        1,
                        List.of("kernel=put_rate", "size=8", "batch=16"),
                        "rate",
                        Statistic.MEDIAN)),
                1,
                null));
  }

  @Test
  void terms_are_added_and_subtracted_and_the_sum_divided() throws Exception {
    RowConfig config =
        RowConfig.parse(
            "r:1",
            "kernel=a size=60 | post p99 - kernel=a size=12 | post + kernel=b | done min / 2.5");
    assertThat(config.terms()).extracting(Term::sign).containsExactly(1, -1, 1);
    assertThat(config.terms())
        .extracting(Term::statistic)
        .containsExactly(Statistic.P99, Statistic.MEDIAN, Statistic.MIN);
    assertThat(config.divisor()).isEqualTo(2.5);
  }

  @Test
  void a_row_may_have_a_reason_instead() throws Exception {
    assertThat(RowConfig.parse("r:1", "none: needs a second HCA").reason())
        .isEqualTo("needs a second HCA");
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = ';',
      value = {
        "kernel=a size=8; 'kernel=a size=8' is not a config such as",
        "kernel=a | ; is not a config such as",
        "kernel=a | post | done; is not a config such as",
        "size=8 | post; 'size=8 | post' names no kernel",
        "kernel=a sise=8 | post; unknown setting 'sise'  - did you mean 'size'",
        "kernel=a size | post; 'size' is not a setting such as",
        "kernel=a size= | post; 'size=' is not a setting such as",
        "kernel=a placement=x | post; the row's machine says on which topology",
        "kernel=a gpu=cuda:0 | post; unknown setting 'gpu'",
        "kernel=a | pst; unknown metric 'pst'  - did you mean 'post'",
        "kernel=a | post mean; 'mean' behind the metric is none of",
        "kernel=a | post / 0; divides by 0",
      })
  void what_is_wrong_is_said_with_the_row(String text, String message) {
    ConfigException failure =
        catchThrowableOfType(ConfigException.class, () -> RowConfig.parse("rows.csv:7", text));
    assertThat(failure.problems())
        .anySatisfy(problem -> assertThat(problem.what()).contains(message));
    assertThat(failure.problems()).extracting(Problem::where).allMatch("rows.csv:7"::equals);
  }
}
