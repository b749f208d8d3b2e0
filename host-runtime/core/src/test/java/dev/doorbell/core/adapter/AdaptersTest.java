package dev.doorbell.core.adapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AdaptersTest {
  private static final String FILE =
      """
      title = mine
      placement = any-order
      strict-key = no-effect
      atomics = refused
      sending = pipelined
      posted = in-order
      visibility = with-completion
      """;

  static Iterable<String> names() {
    return Adapters.names();
  }

  @ParameterizedTest
  @MethodSource("names")
  void each_promise_of_an_adapter_of_the_project_has_a_source(String name) throws Exception {
    Adapter adapter = Adapters.of(name);
    assertThat(adapter.title()).isNotBlank();
    for (Promise promise : Promise.values()) {
      assertThat(adapter.sources()).containsKey(promise.key());
    }
  }

  @Test
  void the_default_reorders_and_refuses_nothing() {
    assertThat(Adapter.DEFAULT.name()).isEqualTo("cx7");
    assertThat(Adapter.DEFAULT.promises().atomics()).isEqualTo(Promise.Atomics.AFTER_WRITES);
    assertThat(Adapter.DEFAULT.promises().sending()).isEqualTo(Promise.Sending.PIPELINED);
  }

  @Test
  void a_file_of_ones_own_is_named_by_its_path(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("thor.nic.properties"), FILE);
    Adapter adapter = Adapters.of(file.toString());
    assertThat(adapter.name()).isEqualTo("thor");
    assertThat(adapter.promises().atomics()).isEqualTo(Promise.Atomics.REFUSED);
    assertThat(adapter.promises().placement()).isEqualTo(Promise.Placement.ANY_ORDER);
  }

  @Test
  void what_is_wrong_with_a_file_is_said_with_the_nearest_right_word() {
    refused(FILE.replace("refused", "refuse"), "atomics cannot be 'refuse'", "refused");
    refused(FILE.replace("sending = pipelined", ""), "'sending' is missing", "");
    refused(FILE + "placment = x", "no promise 'placment'", "placement");
    refused(FILE + "\\u00zz = x", "adapter mine", "");
  }

  private static void refused(String text, String what, String nearest) {
    assertThatThrownBy(() -> Adapters.read("mine", text))
        .isInstanceOf(AdapterException.class)
        .hasMessageContaining(what)
        .hasMessageContaining(nearest);
  }

  @Test
  void an_unknown_name_is_refused_with_the_nearest_one() {
    assertThatThrownBy(() -> Adapters.of("cx8-ooo-al"))
        .isInstanceOf(AdapterException.class)
        .hasMessageContaining("cx8-ooo-all");
  }
}
