package dev.doorbell.experiments.scenario.kind;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.adapter.Promise;
import dev.doorbell.experiments.config.schema.Schema;
import dev.doorbell.experiments.scenario.kind.QueueSettings.AdapterName;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class AdapterNameTest {
  @Test
  void the_axis_has_the_adapters_that_differ_outside_of_the_explorer() {
    List<String> words = Arrays.stream(AdapterName.values()).map(Promise::word).toList();
    assertThat(Objects.requireNonNull(Schema.experiment().settings().get("nic")).words().keySet())
        .containsExactlyElementsOf(words);
    assertThat(Adapters.names()).containsAll(words);
    assertThat(Adapters.names())
        .filteredOn(name -> !words.contains(name))
        .allMatch(
            name -> Adapters.named(name).promises().visibility() == Promise.Visibility.AFTER_READ);
    for (AdapterName name : AdapterName.values()) {
      assertThat(name.adapter().name()).isEqualTo(Promise.word(name));
    }
  }
}
