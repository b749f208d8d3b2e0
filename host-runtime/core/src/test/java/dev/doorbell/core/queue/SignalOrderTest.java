package dev.doorbell.core.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.queue.generated.QueuePairView;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What makes signals come behind their data on each adapter. */
class SignalOrderTest {
  private static Promises promises(String adapter) {
    return Adapters.named(adapter).promises();
  }

  @ParameterizedTest
  @CsvSource({
    "cx7,              NONE,       0x0",
    "cx7-ar,           FENCE_BIT,  0x1400",
    "cx8-ooo-rw,       STRICT_KEY, 0x1000",
    "cx8-ooo-all,      STRICT_KEY, 0x1400",
    "relaxed-pcie,     STRICT_KEY, 0xc00",
    "no-atomics,       NONE,       0x0",
    "split-visibility, NONE,       0x0",
    "efa,              ACKNOWLEDGED, 0x2000",
  })
  void the_cheapest_is_chosen_and_a_view_says_what_kernels_may_choose_from(
      String adapter, SignalOrder order, String flags) {
    assertThat(SignalOrder.of(promises(adapter))).isEqualTo(order);
    assertThat(SignalOrder.flagsOf(promises(adapter))).isEqualTo(Integer.decode(flags));
  }

  @ParameterizedTest
  @CsvSource({
    "cx7,          NONE STRICT_KEY PACKED ATOMIC READ_FLUSH FENCE_BIT ACKNOWLEDGED",
    "cx7-ar,       PACKED ATOMIC READ_FLUSH FENCE_BIT ACKNOWLEDGED",
    "cx8-ooo-rw,   STRICT_KEY PACKED ATOMIC READ_FLUSH FENCE_BIT ACKNOWLEDGED",
    "relaxed-pcie, STRICT_KEY ATOMIC READ_FLUSH",
    "no-atomics,   NONE STRICT_KEY PACKED READ_FLUSH FENCE_BIT ACKNOWLEDGED",
    "efa,          ACKNOWLEDGED",
  })
  void what_does_not_order_a_signal_is_known(String adapter, String sufficient) {
    List<String> words =
        Arrays.stream(SignalOrder.values())
            .filter(order -> order.suffices(promises(adapter)))
            .map(Enum::name)
            .toList();
    assertThat(words).containsExactly(sufficient.split(" ", -1));
  }

  @Test
  void completed_is_not_visible_where_paths_are_split_or_writes_relaxed() {
    for (Adapter adapter : Adapters.all()) {
      boolean reads = List.of("split-visibility", "relaxed-pcie").contains(adapter.name());
      assertThat(SignalOrder.quietFlags(adapter.promises()))
          .as(adapter.name())
          .isEqualTo(reads ? QueuePairView.FLAG_QUIET_READ : 0);
    }
  }
}
