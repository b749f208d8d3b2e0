package dev.doorbell.experiments.config.condition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.value.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PointConditionTest {
  private static final List<String> NAMES = List.of("size", "path", "relaxed");

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "size<=4K;true",
        "size<4096;false",
        "size>=4K;true",
        "size>4K;false",
        "size=4K;true",
        "size!=4K;false",
        "path=pull;true",
        "path=push.bf|pull;true",
        "path!=push.bf|pull;false",
        "size<=4K, path=pull;true",
        "size<=4K,path=push.bf;false",
        "relaxed=true;true"
      })
  void terms_hold_or_not(String text, boolean expected) {
    Map<String, Value> point =
        Map.of(
            "size", new Value.Whole(4096),
            "path", new Value.Text("pull"),
            "relaxed", new Value.Flag(true));
    List<Problem> problems = new ArrayList<>();

    List<PointCondition> conditions = PointCondition.parse(text, "--only", NAMES, problems);

    assertThat(problems).isEmpty();
    assertThat(conditions.stream().allMatch(condition -> condition.holds(point)))
        .isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "size", "size<", "size<x", "size<1|2", "sise<4", ",", "=4", "size<=4,,"})
  void what_is_no_condition_is_a_problem(String text) {
    List<Problem> problems = new ArrayList<>();
    PointCondition.parse(text, "--only", NAMES, problems);
    assertThat(problems).isNotEmpty();
  }
}
