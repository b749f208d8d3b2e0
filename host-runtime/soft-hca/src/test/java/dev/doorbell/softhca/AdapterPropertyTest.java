package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.softhca.AdapterSequence.Behaviour;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each adapter shows, in random sequences of requests, all that it allows and nothing else. */
class AdapterPropertyTest {
  static final int MTU = 256;

  private static final int EVERYDAY = 400;

  /** Of each adapter, some seconds; docs/adapters.md has the result of 100,000. */
  private static final int SLOW = 5_000;

  /** Sequences of one world: its numbers and keys are used up slowly. */
  private static final int PER_WORLD = 2_000;

  /** All of them, or those of {@code -Ddoorbell.adapter.names}, with commas between. */
  static List<Adapter> adapters() {
    String names = System.getProperty("doorbell.adapter.names", "");
    return names.isEmpty()
        ? Adapters.all()
        : Arrays.stream(names.split(",", -1)).map(Adapters::named).toList();
  }

  @ParameterizedTest
  @MethodSource("adapters")
  void random_requests_show_what_an_adapter_allows_and_nothing_else(Adapter adapter) {
    check(adapter, 1, EVERYDAY);
  }

  /**
   * {@code -Ddoorbell.adapter.sequences} chooses how many, {@code -Ddoorbell.adapter.seed} where to
   * begin.
   */
  @ParameterizedTest
  @MethodSource("adapters")
  @Tag("slow")
  void many_random_requests_show_what_an_adapter_allows_and_nothing_else(Adapter adapter) {
    check(
        adapter,
        Long.getLong("doorbell.adapter.seed", 1_000_000),
        Integer.getInteger("doorbell.adapter.sequences", SLOW));
  }

  private static void check(Adapter adapter, long firstSeed, int sequences) {
    Set<Behaviour> allowed = Behaviour.allowedBy(adapter.promises());
    Set<Behaviour> shown = EnumSet.noneOf(Behaviour.class);
    SoftHcaOptions options =
        SoftHcaOptions.DEFAULT
            .withEngine(new SoftHcaOptions.Engine(MTU, 64, 32, 1024))
            .withAdapter(adapter);
    for (int from = 0; from < sequences; from += PER_WORLD) {
      try (SteppedWorld world = SteppedWorld.recycling(options)) {
        ProtectionDomain[] domains = {
          world.hca(0).allocateProtectionDomain(), world.hca(1).allocateProtectionDomain()
        };
        for (int i = from; i < Math.min(sequences, from + PER_WORLD); i++) {
          Set<Behaviour> here =
              new AdapterSequence(world, domains, adapter.promises(), firstSeed + i).show();
          assertThat(allowed).as("%s, seed %d", adapter, firstSeed + i).containsAll(here);
          shown.addAll(here);
        }
      }
    }
    assertThat(shown).as(adapter.toString()).isEqualTo(allowed);
  }
}
